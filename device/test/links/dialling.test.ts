// A burst of dials: how many are under way, who is next, and when one is given up.

import { expect, test } from "vitest";
import { dialQueue } from "../../src/links/dialling.ts";
import {
  ANSWER_MILLISECONDS,
  HANDSHAKE_MILLISECONDS,
  MOST_DIALS,
  SILENT_DIAL_MILLISECONDS,
} from "../../src/wire/limits.ts";
import { manualClock } from "./manualClock.ts";

/** Dials that end when the test says so. */
function scene() {
  const clock = manualClock();
  const dialling = dialQueue(clock);
  const begun: string[] = [];
  const results: string[] = [];
  const ends = new Map<string, () => void>();
  const dial = (peer: string, signal = new AbortController().signal) =>
    dialling
      .dial(
        peer,
        signal,
        (patience) =>
          new Promise<void>((resolve, reject) => {
            begun.push(peer);
            ends.set(peer, resolve);
            patience.addEventListener("abort", () => reject(patience.reason));
          }),
      )
      .then(
        () => results.push(`${peer} connected`),
        (error: Error) => results.push(`${peer}: ${error.message}`),
      );
  const end = (peer: string) => ends.get(peer)?.();
  return { clock, dialling, begun, results, dial, end };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const names = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `peer-${n + from}`);

test("a burst of dials waits for its turn in the order in which it came", async () => {
  const { begun, results, dial, end, dialling } = scene();
  for (const peer of names(MOST_DIALS + 2)) dial(peer);
  for (const peer of begun) dialling.answered(peer);
  await settled();
  expect(begun).toEqual(names(MOST_DIALS));
  end("peer-3");
  await settled();
  expect(begun).toEqual(names(MOST_DIALS + 1));
  end("peer-0");
  await settled();
  expect(begun).toEqual(names(MOST_DIALS + 2));
  expect(results).toEqual(["peer-3 connected", "peer-0 connected"]);
});

test("a place that is passed on is not given away twice", async () => {
  const { begun, dial, end, dialling } = scene();
  for (const peer of names(MOST_DIALS + 1)) dial(peer);
  for (const peer of begun) dialling.answered(peer);
  end("peer-0");
  // Before the one that waited has noticed.
  dial("late");
  await settled();
  expect(begun).toEqual(names(MOST_DIALS + 1));
});

test("addresses that say nothing hold nobody up: hundreds of them are dialled within seconds", async () => {
  const { clock, begun, dial } = scene();
  for (const peer of names(10 * MOST_DIALS)) dial(peer);
  for (let turn = 0; turn < 10; turn++) {
    await settled();
    clock.advance(SILENT_DIAL_MILLISECONDS);
  }
  await settled();
  expect(begun).toHaveLength(10 * MOST_DIALS);
});

test("the patience with an address begins with its turn, and with a handshake when somebody has answered", async () => {
  const { clock, results, dial, dialling, begun } = scene();
  for (const peer of names(MOST_DIALS)) dial(peer);
  for (const peer of names(MOST_DIALS)) dialling.answered(peer);
  dial("waiting");
  clock.advance(HANDSHAKE_MILLISECONDS - 1);
  await settled();
  expect(results).toEqual([]);
  clock.advance(1);
  await settled();
  expect(results).toEqual(names(MOST_DIALS).map((peer) => `${peer}: nobody answered`));
  expect(begun.at(-1)).toBe("waiting");
  clock.advance(ANSWER_MILLISECONDS);
  await settled();
  expect(results.at(-1)).toBe("waiting: nobody answered");
});

test("who is given up while it waits says that its turn did not come, and takes no place", async () => {
  const { begun, results, dial, end, dialling } = scene();
  for (const peer of names(MOST_DIALS)) dial(peer);
  for (const peer of begun) dialling.answered(peer);
  const attempt = new AbortController();
  dial("unlinked", attempt.signal);
  dial("next");
  attempt.abort();
  await settled();
  expect(results).toEqual(["unlinked: its turn did not come: many neighbours are dialled at once"]);
  end("peer-0");
  await settled();
  expect(begun).toEqual([...names(MOST_DIALS), "next"]);
});
