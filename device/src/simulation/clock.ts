// A clock whose time passes only from event to event: hours of a network in seconds, in the same order every time.

import type { Clock } from "../environment.ts";

interface TimedRun {
  readonly at: number;
  /** Events of one moment run in the order in which they were set. */
  readonly order: number;
  run: (() => void) | undefined;
}

export interface SimulatedClock extends Clock {
  /** Runs the next event, unless it lies after `until`; returns whether there was one. */
  step(until: number): boolean;
}

/** A clock in memory, which runs as fast as its alarms are worked off. */
export function simulatedClock(): SimulatedClock {
  const heap: TimedRun[] = [];
  let now = 0;
  let order = 0;
  return {
    now: () => now,
    after(milliseconds, run) {
      const event: TimedRun = { at: now + Math.max(0, milliseconds), order: order++, run };
      push(heap, event);
      return () => {
        event.run = undefined;
      };
    },
    step(until) {
      while (heap.length > 0 && heap[0].at <= until) {
        const { at, run } = pop(heap);
        if (run === undefined) continue;
        now = at;
        run();
        return true;
      }
      now = Math.max(now, until);
      return false;
    },
  };
}

function isBefore(a: TimedRun, b: TimedRun): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order);
}

function push(heap: TimedRun[], event: TimedRun): void {
  let at = heap.length;
  heap.push(event);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (!isBefore(event, heap[parent])) break;
    heap[at] = heap[parent];
    at = parent;
  }
  heap[at] = event;
}

/** The earliest event of a heap that is not empty. */
function pop(heap: TimedRun[]): TimedRun {
  const first = heap[0];
  const last = heap[heap.length - 1];
  heap.length--;
  if (heap.length === 0) return first;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1], heap[child])) child++;
    if (!isBefore(heap[child], last)) break;
    heap[at] = heap[child];
    at = child;
  }
  heap[at] = last;
  return first;
}
