// The engine for tiny devices. It keeps nothing: a call copies points and centroids to fixed places in the kernel's
// memory (assembly/tiny.ts), so a hundred thousand devices cost an object of a few words each.

import type { Matrix } from "../matrix.ts";
import { gatherStatistics } from "./grid.ts";
import { jsKernel } from "./js.ts";
import type { LloydResult, PreparedPoints, Statistics } from "./kernel.ts";
import type { Machine } from "./module.ts";
import { TINY_NUMBERS } from "./pick.ts";

/** Addresses of assembly/tiny.ts in float64 numbers, that of the labels in 32-bit words. */
const ROWS = 1024 / 8;
const CENTROIDS = 9216 / 8;
const LABELS = 25600 / 4;
const PARTS = 29696 / 8;
const LOSS = 62656 / 8;

/**
 * Whose points and how many clusters are in the kernel's memory: calls for one device often follow each other. A number
 * and not the device, whose points would be kept alive.
 */
let present = 0;
let presentK = 0;
let made = 0;

export class TinyPoints implements PreparedPoints {
  readonly id = ++made;
  readonly machine: Machine;
  // The fields of the matrix, not the matrix: where there are very many devices, one look-up less in slow memory.
  readonly data: Float64Array;
  readonly rows: number;
  readonly cols: number;

  constructor(machine: Machine, { data, rows, cols }: Matrix) {
    this.machine = machine;
    this.data = data;
    this.rows = rows;
    this.cols = cols;
  }

  statistics(centroids: Float64Array, /* OUT */ into: Statistics, withLoss = true): void {
    if (centroids.length > TINY_NUMBERS) {
      this.reference().statistics(centroids, into, withLoss);
      return;
    }
    const f64 = this.load(centroids);
    const loss = this.machine.tinyAssign(this.rows, this.cols, presentK);
    gatherStatistics(f64, PARTS, into);
    into.loss = withLoss ? loss : Number.NaN;
  }

  lloyd(/* IN OUT */ centroids: Float64Array, most: number, tol: number): LloydResult | undefined {
    if (centroids.length > TINY_NUMBERS) return undefined;
    const f64 = this.load(centroids);
    const passes = this.machine.tinyLloyd(this.rows, this.cols, presentK, Math.min(most, 2 ** 31 - 1), tol);
    for (let i = 0; i < centroids.length; i++) centroids[i] = f64[CENTROIDS + i];
    return { passes, loss: f64[LOSS] };
  }

  labels(centroids: Float64Array, /* OUT */ into: Uint32Array): void {
    if (centroids.length > TINY_NUMBERS) {
      this.reference().labels(centroids, into);
      return;
    }
    const { rows, cols } = this;
    if (!this.isCurrent(centroids)) {
      this.load(centroids);
      this.machine.tinyAssign(rows, cols, presentK);
    }
    const labels = this.machine.i32();
    for (let r = 0; r < rows; r++) into[r] = labels[LABELS + r];
  }

  squaredDistances(centre: Float64Array, /* OUT */ into: Float64Array): void {
    this.reference().squaredDistances(centre, into);
  }

  /** There is nothing to give back. */
  release(): void {}

  /** Points, unless they are there, and centroids into the kernel's memory, which is returned. */
  private load(centroids: Float64Array): Float64Array {
    const { data, rows, cols } = this;
    const f64 = this.machine.f64();
    // A plain loop: for a handful of numbers it is faster than `set`.
    for (let i = 0; i < centroids.length; i++) f64[CENTROIDS + i] = centroids[i];
    const k = centroids.length / cols;
    if (present === this.id && presentK === k) return f64;
    f64.set(data, ROWS);
    this.machine.tinyLoad(rows, cols, k);
    present = this.id;
    presentK = k;
    return f64;
  }

  /** Whether the labels in the kernel's memory are those of these centroids. */
  private isCurrent(centroids: Float64Array): boolean {
    if (present !== this.id || centroids.length !== presentK * this.cols) return false;
    const f64 = this.machine.f64();
    for (let i = 0; i < centroids.length; i++) if (f64[CENTROIDS + i] !== centroids[i]) return false;
    return true;
  }

  private reference(): PreparedPoints {
    return jsKernel.prepare(this);
  }
}
