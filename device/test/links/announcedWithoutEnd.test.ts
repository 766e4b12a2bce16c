// A neighbour that announces addresses without end: nothing of it is kept, and the stream ends at the limit.

import { expect, test } from "vitest";
import { receiveAddresses } from "../../src/links/announcedAddresses.ts";
import { LARGEST_ADDRESSES_BYTES } from "../../src/wire/limits.ts";

type Stream = Parameters<typeof receiveAddresses>[0];

/** Sends these pieces and then the end; says what was heard, and after how many bytes the stream was ended. */
function announced(pieces: Iterable<Uint8Array>) {
  const listeners = new Map<string, (event: never) => void>();
  let [sent, abortedAt] = [0, undefined as number | undefined];
  const stream = {
    addEventListener: (name: string, listener: (event: never) => void) => listeners.set(name, listener),
    abort: () => {
      abortedAt ??= sent;
    },
    close: async () => {},
  } as never as Stream;
  const heard: (readonly string[])[] = [];
  receiveAddresses(stream, (addresses) => heard.push(addresses));
  for (const data of pieces) {
    if (abortedAt !== undefined) break;
    sent += data.length;
    listeners.get("message")?.({ data } as never);
  }
  if (abortedAt === undefined) listeners.get("remoteCloseWrite")?.({} as never);
  return { heard, abortedAt, sent };
}

const text = (line: string) => new TextEncoder().encode(line);
/** Addresses of exactly so many bytes. */
function addressesOf(bytes: number): Uint8Array {
  const first = "/dns4/";
  return text(`${first}${"a".repeat(bytes - first.length - "/tcp/1".length)}/tcp/1`);
}

test.each([-1, 0])("a text of the limit and %d bytes is taken whole", (more) => {
  const { abortedAt } = announced([addressesOf(LARGEST_ADDRESSES_BYTES + more)]);
  expect(abortedAt).toBeUndefined();
});

test("a text of one byte more ends the stream, in one piece or in many, and nothing of it is heard", () => {
  const whole = addressesOf(LARGEST_ADDRESSES_BYTES + 1);
  expect(announced([whole])).toMatchObject({ heard: [], abortedAt: whole.length });
  const bytes = Array.from(whole, (byte) => Uint8Array.of(byte));
  expect(announced(bytes)).toMatchObject({ heard: [], abortedAt: LARGEST_ADDRESSES_BYTES + 1 });
});

test("a text without end is ended at the limit", () => {
  function* endless() {
    for (let n = 0; n < 1e5; n++) yield text("/ip4/10.0.0.1/tcp/1\n");
  }
  expect(announced(endless()).sent).toBeLessThan(LARGEST_ADDRESSES_BYTES + 100);
});

test("two addresses are heard", () => {
  const lines = ["/ip4/10.0.0.1/tcp/1", "/ip4/10.0.0.2/tcp/1"];
  expect(announced([text(`${lines[0]}\n`), text(lines[1])]).heard).toEqual([lines]);
});
