// What becomes of clusters without points: they keep their centroid, or begin again at the points that are served worst.

import type { Matrix } from "../data/matrix.ts";
import { squaredDistance } from "../kernel/js.ts";
import { emptyStatistics, type PreparedPoints } from "../kernel/kernel.ts";

/** keep: the centroid stays where it is. farthest: it moves to the point that is farthest from all other centroids. */
export type EmptyClusters = "keep" | "farthest";

export const emptyRules = ["keep", "farthest"] as const;

/** Points of one device, and how much each counts. */
interface CountedPoints {
  readonly points: Matrix;
  readonly weights?: Float64Array | undefined;
  readonly prepared: PreparedPoints;
}

/**
 * The centroids with every empty one at a point, one after the other: the point whose weighted squared distance to its
 * nearest centroid is largest, those that were moved before included, and the first of equals. The same array where
 * none is empty, or where every point sits on a centroid.
 */
export function moveEmpty({ points, weights, prepared }: CountedPoints, centroids: Float64Array): Float64Array {
  const { data, rows, cols } = points;
  const statistics = emptyStatistics(centroids.length / cols, cols);
  prepared.statistics(centroids, statistics, false);
  const empty = Array.from(statistics.counts.keys()).filter((c) => statistics.counts[c] === 0);
  if (empty.length === 0) return centroids;
  const labels = new Uint32Array(rows);
  prepared.labels(centroids, labels);
  const costs = Float64Array.from(labels, (label, r) => {
    const weight = weights === undefined ? 1 : weights[r];
    return weight * squaredDistance(data, r * cols, centroids, label * cols, cols);
  });
  let moved = centroids;
  for (const c of empty) {
    let farthest = 0;
    for (let r = 1; r < rows; r++) if (costs[r] > costs[farthest]) farthest = r;
    if (!(costs[farthest] > 0)) break;
    if (moved === centroids) moved = centroids.slice();
    const centre = data.subarray(farthest * cols, (farthest + 1) * cols);
    moved.set(centre, c * cols);
    for (let r = 0; r < rows; r++) {
      const weight = weights === undefined ? 1 : weights[r];
      costs[r] = Math.min(costs[r], weight * squaredDistance(data, r * cols, centre, 0, cols));
    }
  }
  return moved;
}
