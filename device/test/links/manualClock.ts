// A clock that a test moves by hand.

import type { Clock } from "../../src/environment.ts";

export interface ManualClock extends Clock {
  /** Runs everything due until then, in order of time. */
  advance(milliseconds: number): void;
  /** When the timers that are set will fire. */
  due(): number[];
}

export function manualClock(): ManualClock {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(milliseconds, run) {
      const timer = { at: now + Math.max(0, milliseconds), run };
      timers.push(timer);
      return () => {
        timers = timers.filter((other) => other !== timer);
      };
    },
    advance(milliseconds) {
      const end = now + milliseconds;
      for (;;) {
        const [next] = timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) break;
        timers = timers.filter((other) => other !== next);
        now = next.at;
        next.run();
      }
      now = end;
    },
    due: () => timers.map(({ at }) => at).sort((a, b) => a - b),
  };
}
