// The second release of private rows: how many are nearest to each of given centroids, and how far they lie from it.

import type { Matrix } from "../data/matrix.ts";
import { predict } from "../kernel/model.ts";
import { type RandomBytes, varianceAtLeast } from "./discreteGaussian.ts";
import { withNoise } from "./noise.ts";
import type { Summary } from "./summary.ts";

/** Offsets from the centroids are cut to a reach, and written in so many steps of it. */
export const STEPS = 2 ** 20;
/** Of the longest side of the box. */
const REACH_SHARE = 0.15;
/** Of rho for the counts; the rest is for the sums, which decide where centroids go. */
const COUNT_SHARE = 0.25;

export function reachIn(low: Float64Array, high: Float64Array): number {
  return REACH_SHARE * low.reduce((most, from, c) => Math.max(most, high[c] - from), 0);
}

/** For each centroid the rows nearest to it, and the sum of their offsets in steps of the reach. */
export function sumResiduals(points: Matrix, centroids: Matrix, reach: number): { counts: bigint[]; sums: bigint[] } {
  const { data, rows, cols } = points;
  const labels = rows === 0 ? new Uint32Array(0) : predict(centroids, points);
  const counts = new Array<bigint>(centroids.rows).fill(0n);
  const sums = new Array<bigint>(centroids.data.length).fill(0n);
  const offset = new Float64Array(cols);
  for (let r = 0; r < rows; r++) {
    const at = labels[r] * cols;
    let square = 0;
    for (let c = 0; c < cols; c++) {
      offset[c] = data[r * cols + c] - centroids.data[at + c];
      square += offset[c] * offset[c];
    }
    const cut = Math.min(1, reach / Math.sqrt(square)) * (STEPS / reach);
    counts[labels[r]]++;
    for (let c = 0; c < cols; c++) sums[at + c] += BigInt(Math.round(square === 0 ? 0 : cut * offset[c]));
  }
  return { counts, sums };
}

/** The variances of the noise that `rho` needs, for counts and for sums in steps. */
export function residualVariances(rho: number, cols: number): { readonly counts: number; readonly sums: number } {
  // Rounding to steps can lengthen an offset by half of a step in each column.
  const longest = STEPS + Math.sqrt(cols) / 2;
  return { counts: 1 / (2 * COUNT_SHARE * rho), sums: longest ** 2 / (2 * (1 - COUNT_SHARE) * rho) };
}

export function releaseResiduals(points: Matrix, centroids: Matrix, reach: number, rho: number, bytes: RandomBytes) {
  const { counts, sums } = sumResiduals(points, centroids, reach);
  const variances = residualVariances(rho, points.cols);
  return {
    counts: withNoise(counts, varianceAtLeast(variances.counts), bytes),
    sums: withNoise(sums, varianceAtLeast(variances.sums), bytes),
  };
}

/** The means that were released, one for each centroid, and what they stand for; `within` is of the summary before. */
export function residualSummary(
  { counts, sums }: { readonly counts: readonly (bigint | number)[]; readonly sums: readonly (bigint | number)[] },
  centroids: Matrix,
  reach: number,
  within: number,
): Summary {
  const { cols } = centroids;
  // A count that noise has made small or negative still has a place in the sum.
  const weights = Float64Array.from(counts, (count) => Math.max(1, Number(count)));
  const data = centroids.data.slice();
  for (let c = 0; c < weights.length; c++) {
    const offsets = Array.from({ length: cols }, (_, i) => (Number(sums[c * cols + i]) / weights[c]) * (reach / STEPS));
    const length = Math.hypot(...offsets);
    for (let i = 0; i < cols; i++) data[c * cols + i] += offsets[i] * Math.min(1, reach / Math.max(length, 1e-300));
  }
  return { points: { ...centroids, data }, weights, within };
}
