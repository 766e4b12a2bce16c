// What the only neighbour of a device can compute from its messages, beside the truth, which never left the device.

import type { Matrix } from "@fedkm/core";
import { type Exchange, recoverClusters } from "@fedkm/core/privacy";

export interface Learned {
  /** The share of the device's points. */
  readonly share: number;
  readonly mean: ArrayLike<number>;
}

export interface Compared {
  /** Undefined: these messages do not give it, because the centroid did not move or points changed their cluster. */
  readonly learned: Learned | undefined;
  readonly truth: Learned;
}

/** Of every cluster of a device with these points. */
export function whatIsLearned(exchanges: readonly Exchange[], alpha: number, points: Matrix): Compared[] {
  const learned = recoverClusters(exchanges, alpha);
  const centroids = exchanges[exchanges.length - 1].sent;
  const { cols } = centroids;
  const counts = learned.map(() => 0);
  const sums = learned.map(() => new Float64Array(cols));
  for (let r = 0; r < points.rows; r++) {
    const cluster = nearestCentroid(points, r, centroids);
    counts[cluster]++;
    for (let x = 0; x < cols; x++) sums[cluster][x] += points.data[r * cols + x];
  }
  return learned.map((found, c) => ({
    learned: found,
    truth: { share: counts[c] / points.rows, mean: sums[c].map((sum) => sum / counts[c]) },
  }));
}

/** Not the kernel's: it would double the page for a few dozen points. */
export function nearestCentroid({ data, cols }: Matrix, row: number, centroids: Matrix): number {
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let c = 0; c < centroids.rows; c++) {
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (data[row * cols + x] - centroids.data[c * cols + x]) ** 2;
    if (sum < least) [best, least] = [c, sum];
  }
  return best;
}
