// Standardising: columns on one scale, and means of what is there, from sums that devices add up and never from pooled rows.

import type { Matrix } from "@fedkm/core";
import { federatedQuantiles, QUANTILE_ERROR } from "./quantiles.ts";

/** How values of a column change before they are scaled. */
export type Transform =
  /** The natural logarithm, of values above 0. */
  | { readonly kind: "log" }
  /** The share of rows below a value: `shares` at the rising `knots`, on straight lines between, and flat outside. */
  | { readonly kind: "rank"; readonly knots: readonly number[]; readonly shares: readonly number[] };

/** NaN for the logarithm of what is not above 0. */
function transformed(transform: Transform | null | undefined, value: number): number {
  if (!transform) return value;
  if (transform.kind === "log") return value > 0 ? Math.log(value) : Number.NaN;
  return onLine(transform.knots, transform.shares, value);
}

/** Back to the units of the files. */
function untransformed(transform: Transform | null | undefined, value: number): number {
  if (!transform) return value;
  return transform.kind === "log" ? Math.exp(value) : onLine(transform.shares, transform.knots, value);
}

function onLine(from: readonly number[], to: readonly number[], value: number): number {
  const last = from.length - 1;
  if (Number.isNaN(value)) return value;
  if (value <= from[0]) return to[0];
  if (value >= from[last]) return to[last];
  let [low, high] = [0, last];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (from[middle] <= value) low = middle;
    else high = middle;
  }
  return to[low] + ((value - from[low]) / (from[high] - from[low])) * (to[high] - to[low]);
}

/** Ranks are off by at most what lies between two knots; next to a heap of equal values by up to half of the heap. */
const KNOTS = 64;

/** Ranks over all devices. Rows with one value have one rank: the middle of those that they take. */
export function rankTransform(datasets: readonly Matrix[], column: number): Transform {
  const all = Array.from({ length: KNOTS + 1 }, (_, i) => i / KNOTS);
  const values = federatedQuantiles(datasets, column, all);
  const close = 2 * QUANTILE_ERROR * (values[KNOTS] - values[0]);
  const knots: number[] = [];
  const ties: number[][] = [];
  values.forEach((value, i) => {
    if (i > 0 && value - knots[knots.length - 1] <= close) ties[ties.length - 1].push(all[i]);
    else {
      knots.push(value);
      ties.push([all[i]]);
    }
  });
  return { kind: "rank", knots, shares: ties.map((own) => (own[0] + own[own.length - 1]) / 2) };
}

/** x becomes (x - offset) / scale, column by column. */
export interface Scaling {
  readonly offset: readonly number[];
  readonly scale: readonly number[];
  /** What is done to x before, if anything is. */
  readonly transforms?: readonly (Transform | null)[];
}

/** Per column what a device sends about its rows: how many values, and a sum over them. */
interface Sums {
  readonly counts: Float64Array;
  readonly sums: Float64Array;
}

/** A device's sums of every value that is there. */
function sumsOf({ data, cols }: Matrix): Sums {
  const counts = new Float64Array(cols);
  const sums = new Float64Array(cols);
  for (let at = 0; at < data.length; at += cols) {
    for (let c = 0; c < cols; c++) {
      const value = data[at + c];
      if (Number.isNaN(value)) continue;
      counts[c]++;
      sums[c] += value;
    }
  }
  return { counts, sums };
}

/** A device's sums of the squares of every value that is there, around given centres. */
function squaresOf({ data, cols }: Matrix, centres: Float64Array, { counts }: Sums): Sums {
  const sums = new Float64Array(cols);
  for (let at = 0; at < data.length; at += cols) {
    for (let c = 0; c < cols; c++) {
      const difference = data[at + c] - centres[c];
      if (!Number.isNaN(difference)) sums[c] += difference * difference;
    }
  }
  return { counts, sums };
}

/** All that meets on the network: sums of sums. */
function added(parts: readonly Sums[], cols: number): number[] {
  return Array.from({ length: cols }, (_, c) => {
    const count = parts.reduce((sum, { counts }) => sum + counts[c], 0);
    const sum = parts.reduce((total, { sums }) => total + sums[c], 0);
    return count === 0 ? 0 : sum / count;
  });
}

/** The mean of every column over all devices, missing values apart. */
export function scalingMeans(datasets: readonly Matrix[]): number[] {
  return added(datasets.map(sumsOf), datasets[0].cols);
}

/** Means and variances of every column over all devices, in two rounds of sums. */
export function scalingMoments(datasets: readonly Matrix[]): { means: number[]; variances: number[] } {
  const { cols } = datasets[0];
  const parts = datasets.map(sumsOf);
  const means = added(parts, cols);
  // Squares around the common mean: sums of raw squares would cancel where a mean is large.
  const centres = Float64Array.from(means);
  const squares = datasets.map((points, i) => squaresOf(points, centres, parts[i]));
  return { means, variances: added(squares, cols) };
}

/** Mean 0 and standard deviation 1 over all devices; a constant column is only moved. */
export function standardScaling(datasets: readonly Matrix[]): Scaling {
  const { means, variances } = scalingMoments(datasets);
  return { offset: means, scale: variances.map((variance) => (variance > 0 ? Math.sqrt(variance) : 1)) };
}

/** In place: a second copy of the rows would double the memory. */
export function applyScaling(points: Matrix, { offset, scale, transforms }: Scaling): void {
  if (transforms !== undefined) applyTransforms(points, transforms);
  const { data, rows, cols } = points;
  for (let r = 0, at = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++, at++) data[at] = (data[at] - offset[c]) / scale[c];
  }
}

/** In place. */
export function applyTransforms({ data, cols }: Matrix, transforms: readonly (Transform | null)[]): void {
  for (const [c, transform] of transforms.entries()) {
    if (transform !== null) for (let at = c; at < data.length; at += cols) data[at] = transformed(transform, data[at]);
  }
}

/** A scaled value of a column in the user's units. */
export function unscaled({ offset, scale, transforms }: Scaling, column: number, value: number): number {
  return untransformed(transforms?.[column], value * scale[column] + offset[column]);
}

/** Scaled points, such as centroids, in the user's units. */
export function undoScaling({ data, rows, cols }: Matrix, scaling: Scaling): Matrix {
  return { data: data.map((value, at) => unscaled(scaling, at % cols, value)), rows, cols };
}
