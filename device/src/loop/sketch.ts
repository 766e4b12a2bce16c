// A sketch: a device's own k-means in a form that travels through the whole network.

import type { Matrix } from "@fedkm/core";
import { SHARE_TOLERANCE, SKETCH_TOLERANCE } from "../wire/limits.ts";
import type { DeviceSketch } from "../wire/studyFrames.ts";

/** As plain data. */
export interface SavedSketch {
  readonly origin: number;
  readonly version: number;
  readonly shares: readonly number[];
  readonly centroids: readonly number[];
}

export function savedSketch({ origin, version, shares, centroids }: DeviceSketch): SavedSketch {
  return { origin, version, shares: Array.from(shares), centroids: Array.from(centroids) };
}

export function restoredSketch({ origin, version, shares, centroids }: SavedSketch): DeviceSketch {
  return { origin, version, shares: Uint8Array.from(shares), centroids: Float64Array.from(centroids) };
}

/** The sketch of a k-means. A cluster of fewer than `minimum` rows is left out. */
export function openingSketch(
  centroids: Matrix,
  counts: ArrayLike<number>,
  minimum: number,
): Omit<DeviceSketch, "origin" | "version"> {
  const { rows: k, cols } = centroids;
  const total = Array.from(counts).reduce((sum, count) => sum + count, 0);
  const shares = Uint8Array.from({ length: k }, (_, c) =>
    counts[c] >= Math.max(1, minimum) ? Math.ceil((255 * counts[c]) / total) : 0,
  );
  return { shares, centroids: centroids.data.map((value, i) => (shares[Math.floor(i / cols)] > 0 ? value : 0)) };
}

/** The centroids that a sketch gives. */
export function openingSketchCentroids({ shares, centroids }: Pick<DeviceSketch, "shares" | "centroids">): Matrix {
  const d = centroids.length / shares.length;
  const given = Array.from(shares.keys()).filter((c) => shares[c] > 0);
  const data = Float64Array.from(given.flatMap((c) => Array.from(centroids.subarray(c * d, (c + 1) * d))));
  return { data, rows: given.length, cols: d };
}

/** Whether a sketch that the network knows says of the rows what a new one would, which is made of this k-means. */
export function isOpeningSketchAsGood(
  known: DeviceSketch,
  found: Pick<DeviceSketch, "shares">,
  own: { readonly inertia: number; inertiaAt(centroids: Matrix): number },
): boolean {
  const isShareAlike = known.shares.every((share, c) => Math.abs(share - found.shares[c]) <= 255 * SHARE_TOLERANCE);
  const centroids = openingSketchCentroids(known);
  return isShareAlike && centroids.rows > 0 && own.inertiaAt(centroids) <= (1 + SKETCH_TOLERANCE) * own.inertia;
}
