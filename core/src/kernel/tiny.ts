// The engine for tiny devices. It keeps nothing: a call copies points and centroids to fixed places in the memory of its
// module (assembly/tiny), so a hundred thousand devices cost an object of a few words each.

import type { Numbers, Points } from "../data/matrix.ts";
import { TINY_BYTES } from "./bytes.ts";
import { jsKernel } from "./js.ts";
import {
  gatherStatistics,
  type LloydResult,
  type PreparedPoints,
  type SeededStarts,
  type Statistics,
} from "./kernel.ts";
import { instantiate } from "./module.ts";
import { TINY_NUMBERS } from "./pick.ts";

/** What the module exports (assembly/build.mjs). */
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
interface TinyMachine extends TinyExports {
  readonly f64: Float64Array;
  readonly u32: Uint32Array;
}

/** Addresses of assembly/tiny/enter.ts in float64 numbers. */
const ROWS = 1024 / 8;
const CENTROIDS = 9216 / 8;
const PARTS = 16384 / 8;
const LOSS = 24960 / 8;
/** The same in 32-bit words. */
const LABELS = 14848 / 4;
const STREAM = 24992 / 4;

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

/**
 * Whose points and how many clusters are in the machine's memory: calls for one device often follow each other. A number
 * and not the device, whose points would be kept alive.
 */
let present = 0;
let presentK = 0;
/** Instead of a number of clusters: labels that are not those of the centroids at hand. */
const OTHERS = -1;
let presentLargest = 0;
let made = 0;

export class TinyPoints implements PreparedPoints {
  readonly id = ++made;
  readonly machine: TinyMachine;
  // The fields of the matrix, not the matrix: where there are very many devices, one look-up less in slow memory.
  readonly data: Numbers;
  readonly rows: number;
  readonly cols: number;

  constructor(machine: TinyMachine, { data, rows, cols }: Points) {
    this.machine = machine;
    this.data = data;
    this.rows = rows;
    this.cols = cols;
  }

  get largest(): number {
    this.enter();
    return presentLargest;
  }

  statistics(centroids: Float64Array, /* OUT */ into: Statistics, withLoss = true) {
    if (centroids.length > TINY_NUMBERS) return this.reference().statistics(centroids, into, withLoss);
    this.load(centroids);
    const { machine } = this;
    const loss = machine.assign(this.rows, this.cols, presentK);
    gatherStatistics(machine.f64, PARTS, into);
    into.loss = withLoss ? loss : Number.NaN;
  }

  lloyd(/* IN OUT */ centroids: Float64Array, most: number, tol: number): LloydResult | undefined {
    if (centroids.length > TINY_NUMBERS) return undefined;
    this.load(centroids);
    return this.ended(this.machine.lloyd(this.rows, this.cols, presentK, atMost(most), tol), centroids);
  }

  best(
    /* OUT */ centroids: Float64Array,
    { hash, trials, starts }: SeededStarts,
    most: number,
    tol: number,
  ): LloydResult | undefined {
    if (centroids.length > TINY_NUMBERS) return undefined;
    const { machine, rows, cols } = this;
    this.enter();
    for (let i = 0; i < 4; i++) machine.u32[STREAM + i] = hash[i];
    const k = centroids.length / cols;
    const passes = machine.best(rows, cols, k, trials, atMost(starts), atMost(most), tol);
    presentK = OTHERS;
    return this.ended(passes, centroids);
  }

  labels(centroids: Float64Array, /* OUT */ into: Uint32Array) {
    if (centroids.length > TINY_NUMBERS) return this.reference().labels(centroids, into);
    const { machine, rows, cols } = this;
    if (!this.isCurrent(centroids)) {
      this.load(centroids);
      machine.assign(rows, cols, presentK);
    }
    into.set(machine.u32.subarray(LABELS, LABELS + rows));
  }

  squaredDistances(centroid: Float64Array, /* OUT */ into: Float64Array): void {
    this.reference().squaredDistances(centroid, into);
  }

  release(): void {}

  /** Points into the machine's memory, unless they are there. */
  private enter(): void {
    if (present === this.id) return;
    const { machine } = this;
    machine.f64.set(this.data, ROWS);
    presentLargest = machine.enter(this.rows, this.cols);
    present = this.id;
    presentK = 0;
  }

  /** The same, and centroids. */
  private load(centroids: Float64Array): void {
    this.enter();
    const { machine } = this;
    // A plain loop: for a handful of numbers it is faster than `set`.
    for (let i = 0; i < centroids.length; i++) machine.f64[CENTROIDS + i] = centroids[i];
    const k = centroids.length / this.cols;
    if (presentK === k) return;
    if (presentK !== 0) machine.forget(this.rows);
    presentK = k;
  }

  private ended(passes: number, /* OUT */ centroids: Float64Array): LloydResult {
    const { f64 } = this.machine;
    for (let i = 0; i < centroids.length; i++) centroids[i] = f64[CENTROIDS + i];
    return { passes, loss: f64[LOSS] };
  }

  /** Whether the labels in the machine's memory are those of these centroids. */
  private isCurrent(centroids: Float64Array): boolean {
    if (present !== this.id || centroids.length !== presentK * this.cols) return false;
    const { f64 } = this.machine;
    for (let i = 0; i < centroids.length; i++) if (f64[CENTROIDS + i] !== centroids[i]) return false;
    return true;
  }

  private reference(): PreparedPoints {
    return jsKernel.prepare(this);
  }
}

/** A number that the machine counts to. */
function atMost(count: number): number {
  return Math.min(count, 2 ** 31 - 1);
}
