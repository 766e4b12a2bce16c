// One beat for everything that is looked at regularly: timers that end together wake the program up once.

import type { Clock } from "../environment.ts";

/** The same clock, with timers that end at the next whole multiple of `beat` milliseconds. */
export function onTick(clock: Clock, beat: number): Clock {
  return {
    now: () => clock.now(),
    after(milliseconds, run) {
      const now = clock.now();
      // To the nearest, or what is set in the middle of one beat for the next would come one too late.
      return clock.after(Math.max(1, Math.round((now + milliseconds) / beat)) * beat - now, run);
    },
  };
}
