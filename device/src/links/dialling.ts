// Dialling a peer: one address after the other, directly or through a relay, and few peers at once, because handshakes of a
// burst would run out of time together; and what a peer answers when a stream of some protocol is opened.

import { type Clock, reasonOf } from "../environment.ts";
import { peerRelay } from "../keys/peer.ts";
import { otherFrameProtocols, versionOf } from "../wire/frames.ts";
import { ANSWER_MILLISECONDS, HANDSHAKE_MILLISECONDS, MOST_DIALS, SILENT_DIAL_MILLISECONDS } from "../wire/limits.ts";
import { OtherVersionError } from "./linkKeeper.ts";

/** A stream of libp2p is one. */
interface AskedStream {
  readonly protocol: string;
  abort(error: Error): void;
}

/** A connection of libp2p is one. */
export interface AskingConnection<Stream> {
  newStream(
    protocol: string | string[],
    options: { signal: AbortSignal; runOnLimitedConnection: true },
  ): Promise<Stream>;
}

/** Rejects if the peer does not answer in time. */
export async function speaksProtocol(
  connection: AskingConnection<AskedStream>,
  protocol: string,
  milliseconds: number,
): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(milliseconds);
    const stream = await connection.newStream(protocol, { signal, runOnLimitedConnection: true });
    stream.abort(new Error("only asked"));
    return true;
  } catch (error) {
    if (isUnsupportedByLibp2p(error)) return false;
    throw error;
  }
}

export function isUnsupportedByLibp2p(error: unknown): boolean {
  return error instanceof Error && error.name === "UnsupportedProtocolError";
}

/** A stream of this protocol. Of a peer that does not speak it, it is found out which version it speaks. */
export async function openStream<Stream extends AskedStream>(
  connection: AskingConnection<Stream>,
  protocol: string,
  signal: AbortSignal,
): Promise<Stream> {
  const options = { signal, runOnLimitedConnection: true } as const;
  try {
    return await connection.newStream(protocol, options);
  } catch (error) {
    if (!isUnsupportedByLibp2p(error)) throw error;
    const stream = await connection.newStream(otherFrameProtocols(protocol), options);
    stream.abort(new Error("another version"));
    throw new OtherVersionError(versionOf(stream.protocol));
  }
}

interface DialAttempt<T> {
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
    const relay = peerRelay(address);
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
      : isUnsupportedByLibp2p(error)
        ? "that device does not relay any more"
        : reason;
  return `it cannot be reached through the relay ${relay}: ${meaning}`;
}

export function dialQueue(clock: Clock) {
  /** Those that cost something: begun just now, or in their handshake. */
  let busy = 0;
  const waiting: (() => void)[] = [];
  const onAnswer = new Map<string, () => void>();

  const turn = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(begin), 1);
        reject(new Error("its turn did not come: many neighbours are dialled at once"));
      };
      waiting.push(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  /** Whoever has waited longest takes the place. */
  const leave = () => {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  };

  return {
    /** Dials when it is this one's turn. Rejects when the signal says so, or when the address or the handshake is too slow. */
    async dial<T>(peer: string, signal: AbortSignal, dial: (signal: AbortSignal) => Promise<T>): Promise<T> {
      if (busy < MOST_DIALS) busy += 1;
      else await turn(signal);
      const end = once(leave);
      const tooSlow = new AbortController();
      const within = (milliseconds: number) =>
        clock.after(milliseconds, () => tooSlow.abort(new Error("nobody answered")));
      let cancelPatience = within(ANSWER_MILLISECONDS);
      // An address that says nothing costs nothing, and there may be hundreds of them.
      const cancelSilence = clock.after(SILENT_DIAL_MILLISECONDS, end);
      onAnswer.set(peer, () => {
        cancelSilence();
        cancelPatience();
        cancelPatience = within(HANDSHAKE_MILLISECONDS);
      });
      try {
        return await dial(AbortSignal.any([signal, tooSlow.signal]));
      } finally {
        onAnswer.delete(peer);
        cancelSilence();
        cancelPatience();
        end();
      }
    },
    /** Somebody has answered at the address at which this peer is dialled, and the handshake begins. */
    answered: (peer: string) => onAnswer.get(peer)?.(),
  };
}

function once(run: () => void): () => void {
  let hasRun = false;
  return () => {
    if (!hasRun) run();
    hasRun = true;
  };
}
