// A sketch: a device's own k-means in a form that travels through the whole network, and the seed that many sketches
// give. Whoever knows the same sketches finds the same seed, to the last bit.

import { kmeans, type Matrix } from "@fedkm/core";
import { SEED_STARTS, SHARE_TOLERANCE, SKETCH_TOLERANCE } from "../wire/limits.ts";
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
export function deviceSketch(
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
export function sketchCentroids({ shares, centroids }: Pick<DeviceSketch, "shares" | "centroids">): Matrix {
  const d = centroids.length / shares.length;
  const given = Array.from(shares.keys()).filter((c) => shares[c] > 0);
  const data = Float64Array.from(given.flatMap((c) => Array.from(centroids.subarray(c * d, (c + 1) * d))));
  return { data, rows: given.length, cols: d };
}

/** Whether a sketch that the network knows says of the rows what a new one would, which is made of this k-means. */
export function isNearlyAsGood(
  known: DeviceSketch,
  found: Pick<DeviceSketch, "shares">,
  own: { readonly inertia: number; inertiaAt(centroids: Matrix): number },
): boolean {
  const isShareAlike = known.shares.every((share, c) => Math.abs(share - found.shares[c]) <= 255 * SHARE_TOLERANCE);
  const centroids = sketchCentroids(known);
  return isShareAlike && centroids.rows > 0 && own.inertiaAt(centroids) <= (1 + SKETCH_TOLERANCE) * own.inertia;
}

/** The search for the seed of some sketches, one start of k-means after the other. */
export interface Seeding {
  /** One more start. Returns whether it was the last. */
  step(): boolean;
  /** The best so far; undefined where the sketches have fewer than k centroids. */
  seed(): Matrix | undefined;
}

/** `resolution`: for each feature, what the seed is rounded to; see docs/protocol.md#the-opening. */
export function seeding(sketches: readonly DeviceSketch[], k: number, resolution: Float64Array): Seeding {
  const sorted = [...sketches].sort((a, b) => a.origin - b.origin);
  const parts = sorted.map(sketchCentroids);
  const d = resolution.length;
  const data = Float64Array.from(parts.flatMap((part) => Array.from(part.data)));
  const points = { data, rows: data.length / d, cols: d };
  const weights = sorted.flatMap(({ shares }) => Array.from(shares).filter((share) => share > 0));
  let best: { centroids: Matrix; inertia: number } | undefined;
  let left = points.rows < k ? 0 : SEED_STARTS;
  return {
    step() {
      if (left === 0) return true;
      left--;
      const found = kmeans(points, { k, weights, restarts: 1, seed: left });
      if (best === undefined || found.inertia < best.inertia) best = found;
      return left === 0;
    },
    seed: () => best && rounded(best.centroids, resolution),
  };
}

/** In an order that does not depend on the starts, so that equal seeds have equal bytes. */
function rounded({ data, rows, cols }: Matrix, resolution: Float64Array): Matrix {
  const at = (i: number) => Math.round(data[i] / resolution[i % cols]) * resolution[i % cols] + 0;
  const found = Array.from({ length: rows }, (_, c) => Array.from({ length: cols }, (_, f) => at(c * cols + f)));
  found.sort(
    (a, b) => a[a.findIndex((value, f) => value !== b[f])] - b[a.findIndex((value, f) => value !== b[f])] || 0,
  );
  return { data: Float64Array.from(found.flat()), rows, cols };
}
