// A question that fails because a server is away is asked again, as a whole: nothing is counted twice or by half.

import { setTimeout as wait } from "node:timers/promises";

/** Seconds before each further try, about a minute in all: as long as a server takes to start again. */
const DELAYS = [0.2, 0.5, 1, 2, 4, 8, 15, 30];

export async function retried<T>(
  ask: () => Promise<T>,
  isPassing: (error: unknown) => boolean,
  signal: AbortSignal | undefined,
  onRetry: (error: unknown) => void,
): Promise<T> {
  for (const seconds of DELAYS) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      if (!isPassing(error)) throw error;
      onRetry(error);
      await wait(1000 * seconds, undefined, signal && { signal });
    }
  }
  return await ask();
}
