// What the only neighbour of a device can compute from its messages, beside the truth, which never left the device.

import { type Matrix, predict } from "@fedkm/core";
import { type Exchange, recoverClusters } from "@fedkm/core/inversion";

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
  predict(centroids, points).forEach((cluster, r) => {
    counts[cluster]++;
    for (let x = 0; x < cols; x++) sums[cluster][x] += points.data[r * cols + x];
  });
  return learned.map((found, c) => ({
    learned: found,
    truth: { share: counts[c] / points.rows, mean: sums[c].map((sum) => sum / counts[c]) },
  }));
}
