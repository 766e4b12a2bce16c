// What lies where in the block of shared memory through which the threads of a crew work together.

import { CHUNK } from "../passes.ts";

/** Threads of a crew at most, the one that asks included. */
export const MOST_THREADS = 64;

/** The passes a job may be: functions that the kernel exports. */
export const PASSES = ["small", "plain", "screen", "loss", "distances", "encode"] as const;

export type Pass = (typeof PASSES)[number];

/**
 * Numbers of 32-bit words, unless said otherwise. Words that several threads write lie on cache lines of their own.
 * Workers get this as data: the text of their program cannot see a constant of this file.
 */
export const LAYOUT = {
  /** Counts the jobs. Workers sleep on it. */
  epoch: 0,
  /** OPEN while a job may be joined, plus the number of workers inside. The asking thread sleeps on it. */
  gate: 16,
  /** The first row that nobody has claimed. */
  cursor: 32,
  /** Rows below this one lie in memory already. */
  limit: 48,
  /** 1: workers leave for good. */
  stop: 64,
  /** 1: a worker has thrown. */
  failed: 65,
  /** The job: a pass (index in PASSES), its range of rows, and the address of a centre if it needs one. */
  pass: 66,
  from: 67,
  to: 68,
  centre: 69,
  /** Per thread two addresses: of its State and of its scratch. */
  addresses: 80,
  words: 80 + 2 * MOST_THREADS,
  /** Float64 numbers: step and radius of `encode`, then what the pass returned for every chunk. */
  step: 128,
  radius: 129,
  results: 130,
  open: 1 << 16,
  chunk: CHUNK,
  /** Times to look before going to sleep, about 20 microseconds: the next job, or the end of one, is often that near. */
  looks: 10_000,
  passes: PASSES,
} as const;

/** A row takes at least 10 bytes of the 4 GiB of a WebAssembly memory. Pages that are never written cost nothing. */
const MOST_CHUNKS = Math.ceil(2 ** 32 / 10 / LAYOUT.chunk);

export function createControl(): SharedArrayBuffer {
  return new SharedArrayBuffer(8 * (LAYOUT.results + MOST_CHUNKS));
}
