// Where a device can be reached, as it says to a peer once a connection stands: a few addresses, one a line.

import { peerReachFault, peerRelay } from "../keys/peer.ts";
import { ATTEMPT_MILLISECONDS, LARGEST_ADDRESSES_BYTES, MOST_MET_ADDRESSES } from "../wire/limits.ts";
import type { AskingConnection } from "./dialling.ts";

/** What the streams are called on which it is said. */
export const ADDRESSES_PROTOCOL = "/fedkm/where/2";

/** Streams of libp2p are both. */
interface SpeakingStream {
  send(bytes: Uint8Array): unknown;
  close(): Promise<void>;
}
interface HeardStream {
  addEventListener(
    type: "message",
    listener: (event: { readonly data: { readonly byteLength: number; subarray(): Uint8Array } }) => void,
  ): void;
  addEventListener(type: "remoteCloseWrite", listener: () => void): void;
  abort(error: Error): void;
  close(): Promise<void>;
}

/** A peer that does not know the protocol does no harm. */
export async function sendAddresses(
  connection: AskingConnection<SpeakingStream>,
  addresses: readonly string[],
): Promise<void> {
  const text = formatAnnouncedAddresses(addresses);
  if (text === undefined) return;
  try {
    const signal = AbortSignal.timeout(ATTEMPT_MILLISECONDS);
    const stream = await connection.newStream(ADDRESSES_PROTOCOL, { signal, runOnLimitedConnection: true });
    stream.send(text);
    await stream.close();
  } catch {
    // The next connection says it.
  }
}

export function receiveAddresses(stream: HeardStream, onAddresses: (addresses: readonly string[]) => void): void {
  let heard = new Uint8Array(0);
  stream.addEventListener("message", ({ data }) => {
    if (heard.length + data.byteLength > LARGEST_ADDRESSES_BYTES) stream.abort(new Error("too long"));
    else heard = Uint8Array.of(...heard, ...data.subarray());
  });
  stream.addEventListener("remoteCloseWrite", () => {
    const addresses = parseAnnouncedAddresses(heard);
    if (addresses !== undefined) onAddresses(addresses);
    void stream.close().catch(() => {});
  });
}

/**
 * Undefined: there is nothing to say. An address of this machine itself means another machine everywhere else. Relays come
 * first, so that none is cut off: whoever reads it tries direct ways before them all the same.
 */
export function formatAnnouncedAddresses(addresses: readonly string[]): Uint8Array | undefined {
  const known = reachableAddresses(addresses).filter((address) => !isLoopback(address));
  const said = [...known.filter(peerRelay), ...known.filter((address) => peerRelay(address) === undefined)];
  return said.length > 0 ? new TextEncoder().encode(said.slice(0, MOST_MET_ADDRESSES).join("\n")) : undefined;
}

/** Undefined: it is no such text. */
export function parseAnnouncedAddresses(bytes: Uint8Array): string[] | undefined {
  const addresses = new TextDecoder().decode(bytes).split("\n");
  const isWhole =
    addresses.length <= MOST_MET_ADDRESSES && addresses.every((text) => peerReachFault(text) === undefined);
  return isWhole ? addresses : undefined;
}

/** Those at which another machine reaches this one: this machine's own only if there are no others. */
export function reachableAddresses(addresses: readonly string[]): string[] {
  const known = addresses.filter((address) => peerReachFault(address) === undefined && !isLinkLocal(address));
  const isElsewhere = known.some((address) => peerRelay(address) === undefined && !isLoopback(address));
  return isElsewhere ? known.filter((address) => !isLoopback(address)) : known;
}

function isLoopback(address: string): boolean {
  return /^\/ip4\/127\.|^\/ip6\/::1\//.test(address);
}

/** It says nothing without the name of an interface, which is another one on every machine. */
function isLinkLocal(address: string): boolean {
  return /^\/ip6\/fe[89ab][0-9a-f]:/i.test(address);
}
