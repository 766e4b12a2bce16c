// How many neighbours are dialled at once: handshakes of a burst wait for each other instead of running out of time together.

import type { Clock } from "../environment.ts";
import { ANSWER_MILLISECONDS, HANDSHAKE_MILLISECONDS, MOST_DIALS, SILENT_DIAL_MILLISECONDS } from "../wire/limits.ts";

export interface DialQueue {
  /** Dials when it is this one's turn. Rejects when the signal says so, or when the address or the handshake is too slow. */
  dial<T>(peer: string, signal: AbortSignal, dial: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Somebody has answered at the address at which this peer is dialled, and the handshake begins. */
  answered(peer: string): void;
}

export function dialQueue(clock: Clock): DialQueue {
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
    async dial(peer, signal, dial) {
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
    answered: (peer) => onAnswer.get(peer)?.(),
  };
}

function once(run: () => void): () => void {
  let hasRun = false;
  return () => {
    if (!hasRun) run();
    hasRun = true;
  };
}
