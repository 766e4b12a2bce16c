// How long events wait, measured only while the program is busy: measuring wakes it up a hundred times a second.

import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { cpuUsage } from "node:process";
import type { Clock } from "../environment.ts";

// A number that costs more to read than anything else a quiet device does: it is read again only after a while.

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

// One beat for everything that is looked at regularly: timers that end together wake the program up once.

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

/** How often the event loop is asked for its delay. What it measures includes this time. */
export const DELAY_RESOLUTION_MILLISECONDS = 10;

/** Below this share of its time at work, nothing has to wait long enough to be worth measuring. */
const BUSY = 0.05;

export interface Delays {
  /** Nanoseconds that this percentage of events waited at most, with the resolution; 0 while nothing is measured. */
  percentile(percentage: number): number;
  /** Begins anew, and decides from how busy the program was since the last time whether to measure. */
  reset(): void;
  disable(): void;
}

export function busyDelays(shareAtWork: () => number = sinceLast()): Delays {
  const delays = monitorEventLoopDelay({ resolution: DELAY_RESOLUTION_MILLISECONDS });
  // A start is work.
  delays.enable();
  return {
    percentile: (percentage) => (delays.count > 0 ? delays.percentile(percentage) : 0),
    reset() {
      delays.reset();
      if (shareAtWork() > BUSY) delays.enable();
      else delays.disable();
    },
    disable: () => delays.disable(),
  };
}

/** The share of its time that the program was at work since the last call. */
function sinceLast(): () => number {
  let last = { at: performance.now(), microseconds: spent() };
  return () => {
    const now = { at: performance.now(), microseconds: spent() };
    const share = (now.microseconds - last.microseconds) / 1000 / Math.max(1, now.at - last.at);
    last = now;
    return share;
  };
}

/** On the processor, not in the event loop: on a machine that others keep busy the loop seems to work while it waits. */
function spent(): number {
  const { user, system } = cpuUsage();
  return user + system;
}
