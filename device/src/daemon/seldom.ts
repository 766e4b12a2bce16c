// A number that costs more to read than anything else a quiet device does: it is read again only after a while.

import type { Clock } from "../environment.ts";

/** Memory changes slowly, and reading it took a third of the time of an idle device when it was read every second. */
export const MEMORY_MILLISECONDS = 10_000;

/** The same number until `milliseconds` have passed since it was read. */
export function cached(clock: Clock, milliseconds: number, read: () => number): () => number {
  let value = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.now() - readAt < milliseconds) return value;
    value = read();
    readAt = clock.now();
    return value;
  };
}
