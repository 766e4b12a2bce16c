// What keeps an idle daemon quiet: one tick for everything that is looked at regularly, numbers that are cached because
// they cost much to read, and delays that are measured only while the program is busy.

import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Clock } from "../environment.ts";

/** Memory changes slowly, and reading it took a third of the time of an idle device when it was read every second. */
export const MEMORY_MILLISECONDS = 10_000;

/** The same number until `milliseconds` have passed since it was read. */
export function quietReading(clock: Clock, milliseconds: number, read: () => number): () => number {
  let value = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.now() - readAt < milliseconds) return value;
    value = read();
    readAt = clock.now();
    return value;
  };
}

/** The same clock, with timers that end at the next whole multiple of `tick` milliseconds: those wake the program up once. */
export function quietClock(clock: Clock, tick: number): Clock {
  return {
    now: () => clock.now(),
    after(milliseconds, run) {
      const now = clock.now();
      // To the nearest, or what is set in the middle of one tick for the next would come one too late.
      return clock.after(Math.max(1, Math.round((now + milliseconds) / tick)) * tick - now, run);
    },
  };
}

/** How often the event loop is asked for its delay. What it measures includes this time. */
export const DELAY_RESOLUTION_MILLISECONDS = 10;

/** Below this share of its time at work, nothing has to wait long enough to be worth measuring. */
const BUSY = 0.05;

export type Delays = ReturnType<typeof daemonDelays>;

/** How long events wait. To measure it wakes the program up a hundred times a second. */
export function daemonDelays(share: () => number) {
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MILLISECONDS });
  // A start is work.
  delays.enable();
  return {
    /** Nanoseconds that this percentage of events waited at most, with the resolution; 0 while nothing is measured. */
    percentile: (percentage: number) => (delays.count > 0 ? delays.percentile(percentage) : 0),
    /** Begins anew, and decides from how busy the program was since the last time whether to measure. */
    reset() {
      delays.reset();
      if (share() > BUSY) delays.enable();
      else delays.disable();
    },
    disable: () => delays.disable(),
  };
}

/**
 * The share of its time that the program was at work since the last call. `cpuMicroseconds` is time on the processor and
 * not in the event loop: on a machine that others keep busy the loop seems to work while it waits.
 */
export function daemonBusyShare(cpuMicroseconds: () => number): () => number {
  let last = { at: performance.now(), microseconds: cpuMicroseconds() };
  return () => {
    const now = { at: performance.now(), microseconds: cpuMicroseconds() };
    const share = (now.microseconds - last.microseconds) / 1000 / Math.max(1, now.at - last.at);
    last = now;
    return share;
  };
}
