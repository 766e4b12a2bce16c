// The k-means of a device's own rows: where they are divided best, whatever neighbours say.

import { graph, kmeans, type Matrix } from "@fedkm/core";
import { fitSources } from "@fedkm/core/sources";
import { type RemoteRows, remoteStatistics } from "../study/remoteRows.ts";
import type { DeviceSketch } from "../wire/studyFrames.ts";
import type { LocalData } from "./localData.ts";
import { openingSketchCentroids } from "./sketch.ts";

export interface LocalKmeans {
  readonly centroids: Matrix;
  readonly inertia: number;
  /** Rows of each cluster. */
  readonly counts: ArrayLike<number>;
  /** The inertia at other centroids; of rows that are remoteRows only at those of the sketch that was known. */
  inertiaAt(centroids: Matrix): number;
}

/** The better one of the best so far and one more start. */
export function betterLocalKmeans(
  counted: LocalData,
  k: number,
  seed: number,
  best: LocalKmeans | undefined,
): LocalKmeans {
  const { points, weights } = counted;
  const { centroids, inertia, labels } = kmeans(points, { k, weights, restarts: 1, seed });
  if (best !== undefined && best.inertia <= inertia) return best;
  return { centroids, inertia, counts: counted.countsOf(labels), inertiaAt: (other) => counted.inertiaAt(other) };
}

/** All starts on a sample, and then few passes over all rows. */
export async function localKmeansOfRemoteRows(
  remoteRows: RemoteRows,
  k: number,
  seed: number,
  known: DeviceSketch | undefined,
): Promise<LocalKmeans> {
  const { source, signal } = remoteRows;
  const found = await fitSources([source], graph(1, []), { k, alpha: 0, seed, signal });
  const sketched = known && openingSketchCentroids(known);
  const isSketched = sketched !== undefined && sketched.rows > 0;
  const loss = isSketched ? (await remoteStatistics(remoteRows, sketched)).loss : Number.POSITIVE_INFINITY;
  const [centroids] = found.centroids;
  const [{ counts }] = found.statistics;
  return { centroids, inertia: found.inertia, counts, inertiaAt: () => loss };
}
