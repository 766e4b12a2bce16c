// The compiled module for tiny devices: an instance with a page of memory of its own, made on first use.

import { instantiate } from "./module.ts";
import { TINY_BYTES } from "./tiny-bytes.ts";

/** What assembly/tiny/index.ts exports. */
interface TinyExports {
  /** Returns a bound of the largest magnitude; infinite or NaN if there is such a number. */
  enter(rows: number, cols: number): number;
  /** Takes all rows out of their clusters: for another number of them. */
  forget(rows: number): void;
  assign(rows: number, cols: number, k: number): number;
  lloyd(rows: number, cols: number, k: number, most: number, tol: number): number;
  best(rows: number, cols: number, k: number, trials: number, starts: number, most: number, tol: number): number;
}

/** The memory never grows, so its views stay. */
export interface TinyMachine extends TinyExports {
  readonly f64: Float64Array;
  readonly u32: Uint32Array;
}

/** Addresses of assembly/tiny/places.ts in float64 numbers. */
export const ROWS = 1024 / 8;
export const CENTROIDS = 9216 / 8;
export const PARTS = 16384 / 8;
export const LOSS = 24960 / 8;
/** The same in 32-bit words. */
export const LABELS = 14848 / 4;
export const STREAM = 24992 / 4;

let machine: TinyMachine | undefined | null = null;

/** The machine, or undefined where WebAssembly or its SIMD instructions are missing. */
export function theTinyMachine(): TinyMachine | undefined {
  if (machine === null) machine = createMachine();
  return machine;
}

function createMachine(): TinyMachine | undefined {
  const made = instantiate<TinyExports>(TINY_BYTES, 1);
  if (made === undefined) return undefined;
  const { buffer } = made.memory;
  // Field by field: what a spread makes is slower to call.
  const { enter, forget, assign, lloyd, best } = made.exports;
  return { enter, forget, assign, lloyd, best, f64: new Float64Array(buffer), u32: new Uint32Array(buffer) };
}
