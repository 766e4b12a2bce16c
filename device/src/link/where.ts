// Where a device listens, as it says to a peer once a connection stands: a few addresses, one a line.

import { dialFault } from "../peer.ts";
import { MOST_MET_ADDRESSES } from "./limits.ts";

/** Undefined: there is nothing to say. An address of this machine itself means another machine everywhere else. */
export function formatWhere(addresses: readonly string[]): Uint8Array | undefined {
  const said = reachable(addresses).filter((address) => !isLoopback(address));
  return said.length > 0 ? new TextEncoder().encode(said.slice(0, MOST_MET_ADDRESSES).join("\n")) : undefined;
}

/** Undefined: it is no such text. */
export function parseWhere(bytes: Uint8Array): string[] | undefined {
  const addresses = new TextDecoder().decode(bytes).split("\n");
  const isWhole = addresses.length <= MOST_MET_ADDRESSES && addresses.every((text) => dialFault(text) === undefined);
  return isWhole ? addresses : undefined;
}

/** Those that another machine can dial: this machine's own only if there are no others. */
export function reachable(addresses: readonly string[]): string[] {
  const dialled = addresses.filter((address) => dialFault(address) === undefined && !isLinkLocal(address));
  const elsewhere = dialled.filter((address) => !isLoopback(address));
  return elsewhere.length > 0 ? elsewhere : dialled;
}

function isLoopback(address: string): boolean {
  return /^\/ip4\/127\.|^\/ip6\/::1\//.test(address);
}

/** It says nothing without the name of an interface, which is another one on every machine. */
function isLinkLocal(address: string): boolean {
  return /^\/ip6\/fe[89ab][0-9a-f]:/i.test(address);
}
