// How far neighbours have pulled a device's centroids from the means of its own points, and the cap on it (`robust`).

import type { Statistics } from "../kernel/kernel.ts";
import type { UpdateState } from "./updateState.ts";

/** A centroid stays within this many standard errors of the mean of its own points. */
export const MOST_ERRORS = 5;

/** Many points have a small standard error, and honest devices may differ by more: this share of a deviation is free. */
const FREE_DEVIATIONS = 0.5;

/** Points beyond one for each cluster. The deviation of fewer is too uncertain to hold a centroid by. */
const LEAST_FREEDOM = 10;

/** How far a centroid of so many points may be from their mean, in standard errors of that mean. */
export function largestDrift(points: number): number {
  return Math.max(MOST_ERRORS, FREE_DEVIATIONS * Math.sqrt(points));
}

/**
 * The deviation of the points from the means of their clusters, as one number for all clusters: counts, sums and the loss
 * hold it, wherever the points are, and of a cluster with few points it is known as well as of others.
 */
export function deviationOf({ counts, sums, loss }: Statistics, centroids: Float64Array, cols: number): number {
  let within = loss;
  for (let c = 0; c < counts.length; c++) {
    if (counts[c] === 0) continue;
    for (let i = c * cols; i < (c + 1) * cols; i++) within -= counts[c] * (sums[i] / counts[c] - centroids[i]) ** 2;
  }
  const freedom = freedomOf(counts);
  return freedom > 0 ? Math.sqrt(Math.max(0, within) / freedom) : 0;
}

/** Points beyond one for each cluster that has any. */
function freedomOf(counts: Float64Array): number {
  let freedom = 0;
  for (const count of counts) if (count > 0) freedom += count - 1;
  return freedom;
}

/** How far centroid c is from the mean of its points. */
function distanceToMean({ counts, sums }: Statistics, centroids: Float64Array, c: number, cols: number): number {
  let square = 0;
  for (let i = c * cols; i < (c + 1) * cols; i++) square += (centroids[i] - sums[i] / counts[c]) ** 2;
  return Math.sqrt(square);
}

/** How far each centroid is from the mean of its points, in standard errors; 0 where that cannot be said. */
export function driftOf({ k, cols, centroids, statistics }: UpdateState): Float64Array {
  const { counts } = statistics;
  const deviation = deviationOf(statistics, centroids, cols);
  return Float64Array.from({ length: k }, (_, c) => {
    if (counts[c] === 0 || deviation === 0 || freedomOf(counts) < LEAST_FREEDOM) return 0;
    return (distanceToMean(statistics, centroids, c, cols) * Math.sqrt(counts[c])) / deviation;
  });
}

/** After (M): takes centroids back to the cap. The statistics are those of the centroids `before` (M). */
export function capDrift({ k, cols, centroids, statistics }: UpdateState, before: Float64Array): void {
  const { counts, sums } = statistics;
  if (freedomOf(counts) < LEAST_FREEDOM) return;
  const deviation = deviationOf(statistics, before, cols);
  for (let c = 0; c < k; c++) {
    if (counts[c] === 0 || deviation === 0) continue;
    const most = (largestDrift(counts[c]) * deviation) / Math.sqrt(counts[c]);
    const distance = distanceToMean(statistics, centroids, c, cols);
    if (distance <= most) continue;
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const mean = sums[i] / counts[c];
      centroids[i] = mean + (most / distance) * (centroids[i] - mean);
    }
  }
}
