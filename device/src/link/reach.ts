// How a peer is reached: at one of its addresses after the other, directly or through a relay that is connected.

import { relayOf } from "../keys/peer.ts";
import { reasonOf } from "../reason.ts";
import { isUnsupported } from "./speaks.ts";

export interface DialAttempt<T> {
  readonly addresses: readonly string[];
  /** Ends the whole attempt. */
  readonly signal: AbortSignal;
  /** Gives up by itself at an address that does not answer. */
  dial(address: string, signal: AbortSignal): Promise<T>;
  /** Whether a neighbour is connected, and not itself through a relay. */
  isDirect(peer: string): boolean;
  onFailure(address: string): void;
}

/** Dials one address after the other; libp2p itself would spend all its patience on the first that says nothing. */
export async function dialInTurn<T>({ addresses, signal, dial, isDirect, onFailure }: DialAttempt<T>): Promise<T> {
  let failure: unknown;
  let relayFailure: Error | undefined;
  for (const address of addresses) {
    const relay = relayOf(address);
    try {
      if (relay !== undefined && !isDirect(relay)) throw new Error("that device is not connected, or not linked here");
      return await dial(address, signal);
    } catch (error) {
      failure = error;
      if (relay !== undefined) relayFailure = new Error(relayFault(relay, error), { cause: error });
      onFailure(address);
      if (signal.aborted) break;
    }
  }
  // That a private address of another network does not answer says less.
  throw relayFailure ?? failure;
}

/** What the answer of a relay means for a person. */
function relayFault(relay: string, error: unknown): string {
  const reason = reasonOf(error);
  const meaning = reason.includes("NO_RESERVATION")
    ? "it is not connected there"
    : reason.includes("PERMISSION_DENIED")
      ? "the relay has not linked it"
      : isUnsupported(error)
        ? "that device does not relay any more"
        : reason;
  return `it cannot be reached through the relay ${relay}: ${meaning}`;
}
