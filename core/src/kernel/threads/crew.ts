// The asking side of a crew: opens a job, does its own share, waits for the workers that joined.

import type { Exports } from "../exports.ts";
import { LAYOUT, PASSES, type Pass } from "./layout.ts";
import { work } from "./pool.ts";

export interface Crew {
  readonly control: SharedArrayBuffer;
  /** Workers that were started; their threads have the numbers 1 to `workers`. */
  readonly workers: number;
  /** Those that still live. */
  living: number;
  /** A worker was lost inside a job: it may still write, so the shared memory must not be used any more. */
  isLost: boolean;
  /** From this cost on (see COST in passes.ts) a pass is worth waking the workers for. */
  worthwhile: number;
  /** Seconds without any worker finishing, after which a job is given up. A chunk takes milliseconds. */
  patience: number;
}

/** Looks per second where sleeping is not allowed, roughly. */
const LOOKS_PER_SECOND = 5e7;

/** A pass over a range of rows. */
interface Job {
  readonly pass: Pass;
  readonly from: number;
  readonly to: number;
  /** Brings the rows into memory meanwhile and says how many are there. */
  readonly feed?: (arrived: (rows: number) => void) => void;
}

/**
 * Runs a job. Threads claim chunk after chunk, so a worker that wakes late or is disturbed does less, and one that died
 * in its sleep is not missed.
 */
export function share(crew: Crew, exports: Exports, { pass, from, to, feed }: Job): void {
  const words = new Int32Array(crew.control, 0, LAYOUT.words);
  words[LAYOUT.pass] = PASSES.indexOf(pass);
  words[LAYOUT.from] = from;
  words[LAYOUT.to] = to;
  Atomics.store(words, LAYOUT.cursor, from);
  Atomics.store(words, LAYOUT.limit, feed === undefined ? to : from);
  Atomics.store(words, LAYOUT.gate, LAYOUT.open);
  Atomics.add(words, LAYOUT.epoch, 1);
  Atomics.notify(words, LAYOUT.epoch);
  try {
    feed?.((arrived) => Atomics.store(words, LAYOUT.limit, arrived));
    Atomics.store(words, LAYOUT.limit, to);
    work(exports, crew.control, LAYOUT, 0);
  } finally {
    Atomics.store(words, LAYOUT.limit, to);
    Atomics.and(words, LAYOUT.gate, ~LAYOUT.open);
    crew.isLost = !haveLeft(words, crew.patience) || Atomics.load(words, LAYOUT.failed) === 1;
  }
  if (crew.isLost) throw new Error("a worker thread was lost");
}

/** Waits until no worker is inside the closed gate; false if patience ends before. */
function haveLeft(words: Int32Array<SharedArrayBuffer>, patience: number): boolean {
  const most = patience * LOOKS_PER_SECOND;
  let asleep = 0;
  for (let looks = 0; ; looks++) {
    const inside = Atomics.load(words, LAYOUT.gate);
    if (inside === 0) return true;
    if (looks < LAYOUT.looks) continue;
    if (!mayWait()) {
      if (looks > most) return false;
    } else if (Atomics.wait(words, LAYOUT.gate, inside, 1000) === "timed-out" && ++asleep >= patience) return false;
  }
}

let canWait: boolean | undefined;

/** The main thread of a browser must not sleep. */
function mayWait(): boolean {
  if (canWait === undefined) {
    try {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1);
      canWait = true;
    } catch {
      canWait = false;
    }
  }
  return canWait;
}
