// What each worker needs for itself in the kernel's memory while it assigns rows: a State, scratch, sums of its own.

import type { Block } from "../arena.ts";
import { listBytes, scoreBytes } from "../clusters.ts";
import type { Machine } from "../module.ts";
import { FIELD, STATE_BYTES } from "../placedPoints.ts";

/** Stretches begin on cache lines of their own: two, because processors fetch lines in pairs. */
const LINE = 128;

/** One stretch of memory for every worker, kept from job to job. */
export interface Desks {
  /** Makes every stretch at least so large; false when memory is full. */
  reserve(bytes: number): boolean;
  /** Address of a worker's stretch; workers count from 1. */
  at(worker: number): number;
}

export function createDesks(machine: Machine, workers: number): Desks {
  let block: Block | undefined;
  let first = 0;
  let stride = 0;
  return {
    reserve(bytes) {
      if (bytes <= stride) return true;
      if (block !== undefined) machine.free(block);
      stride = roundUp(bytes);
      block = machine.allocate(workers * stride + LINE);
      if (block === undefined) stride = 0;
      else first = roundUp(block.at);
      return block !== undefined;
    },
    at: (worker) => first + (worker - 1) * stride,
  };
}

/** Where things lie on a desk, from its address on. */
interface Places {
  readonly scores: number;
  readonly active: number;
  readonly packed: number;
  readonly sums: number;
  readonly end: number;
}

/** Readies all desks for a pass over the device at `state`; false when memory is full. */
export function layDesks(machine: Machine, desks: Desks, workers: number, state: number): boolean {
  const places = placesFor(machine, state);
  if (!desks.reserve(places.end)) return false;
  const words = machine.i32();
  for (let worker = 1; worker <= workers; worker++) {
    const desk = desks.at(worker);
    const own = desk / 4;
    words.copyWithin(own, state / 4, (state + STATE_BYTES) / 4);
    words[own + FIELD.scores] = desk + places.scores;
    words[own + FIELD.active] = desk + places.active;
    words[own + FIELD.packed] = desk + places.packed;
    words[own + FIELD.sums] = desk + places.sums;
    words[own + FIELD.looked] = 0;
    words[own + FIELD.verified] = 0;
    machine.f64().fill(0, (desk + places.sums) / 8, (desk + places.end) / 8);
  }
  return true;
}

/** Adds what the workers have left on their desks to the device: parts of sums are exact, so any order will do. */
export function clearDesks(machine: Machine, desks: Desks, workers: number, state: number): void {
  const { sums, end } = placesFor(machine, state);
  const words = machine.i32();
  const f64 = machine.f64();
  const into = (words[state / 4 + FIELD.sums] >>> 0) / 8;
  for (let worker = 1; worker <= workers; worker++) {
    const desk = desks.at(worker);
    const from = (desk + sums) / 8;
    for (let i = 0; i < (end - sums) / 8; i++) f64[into + i] += f64[from + i];
    words[state / 4 + FIELD.looked] += words[desk / 4 + FIELD.looked];
    words[state / 4 + FIELD.verified] += words[desk / 4 + FIELD.verified];
  }
}

function placesFor(machine: Machine, state: number): Places {
  const words = machine.i32().subarray(state / 4, (state + STATE_BYTES) / 4);
  const scores = roundUp(STATE_BYTES);
  const active = scores + roundUp(scoreBytes(words[FIELD.k]));
  const packed = active + roundUp(listBytes(words[FIELD.k]));
  const sums = packed + roundUp(32 * words[FIELD.pairs]);
  return { scores, active, packed, sums, end: sums + 16 * words[FIELD.k] * (words[FIELD.cols] + 1) };
}

function roundUp(bytes: number): number {
  return Math.ceil(bytes / LINE) * LINE;
}
