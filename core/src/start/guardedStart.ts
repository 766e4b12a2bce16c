// Where the devices of a guarded run begin: every device's own k-means enters by labels that may be published only.

import { defaults } from "../data/defaults.ts";
import { columnRanges, columnsOf, type Matrix, squaredDistance, takeRows } from "../data/matrix.ts";
import { numberedStreams } from "../data/random.ts";
import type { Graph, PackedLinks } from "../graph/graph.ts";
import { sendTraffic } from "../graph/traffic.ts";
import type { Kernel, PreparedPoints } from "../kernel/kernel.ts";
import { type GuardedPoints, type GuardState, guardPoints, RESOLUTION_SHARE, roundTo } from "../privacy/guarded.ts";
import { packSets } from "../update/coupling.ts";
import { type Devices, federatedStart } from "./federated.ts";
import { bestOf } from "./kmeans.ts";
import type { PointSketch } from "./sketch.ts";
import { adoptFromNearest, type ClusterCounts, clustersOf, type Start, type StartOptions, start } from "./start.ts";

export interface GuardedDevices extends Devices, GuardState {
  readonly points: readonly GuardedPoints[];
  /** The same rows, of which nothing is held back: for what is not sent. */
  readonly exact: readonly PreparedPoints[];
}

/** A device with fewer than `minimum` rows for each cluster has too few to hide in: it follows its neighbours without any. */
export function guardDevices(
  datasets: readonly Matrix[],
  graph: Graph,
  links: PackedLinks,
  { k, minimum, kernel }: { readonly k: ClusterCounts; readonly minimum: number; readonly kernel: Kernel },
): GuardedDevices {
  const clusters = clustersOf(k, datasets.length);
  const counted = datasets.map((own, i) => {
    return own.rows >= clusters[i] * minimum ? own : { data: new Float64Array(0), rows: 0, cols: own.cols };
  });
  const exact = counted.map((own) => kernel.prepare(own));
  return {
    datasets: counted,
    graph,
    links,
    minimum,
    exact,
    points: counted.map((own, i) => guardPoints(own, exact[i], minimum)),
    resolution: columnRanges(datasets).map((range) => range * RESOLUTION_SHARE),
  };
}

/** As `start`, for a given init, "federated" or "local". Devices without rows begin where others are. */
export function guardedStart(devices: GuardedDevices, options: StartOptions): Start {
  const { init, k } = options;
  if (Array.isArray(init)) return start(devices, options);
  const { datasets, graph } = devices;
  const cols = columnsOf(datasets);
  const clusters = clustersOf(k, datasets.length);
  const own = datasets.map(({ rows }, i) => (rows > 0 ? ownClusters(devices, i, clusters[i], options) : undefined));
  const sketches = own.map((found) => sketchOf(found, cols));
  if (init === "federated") return federatedStart(devices, { ...options, k: k as number }, sketches);
  const filled = own.map((found, i) => found && withNeighbours(found, sketches, graph.neighbours[i]));
  return {
    sets: packSets(adoptFromNearest(filled, devices, clusters), cols),
    traffic: sendTraffic(
      graph,
      clusters.map((one) => one * cols),
    ),
  };
}

/** The cores of a device's own k-means, which count as published from here on: their means, on the grid. */
function ownClusters(
  { datasets, points, exact, resolution }: GuardedDevices,
  device: number,
  k: number,
  { restarts, seed }: StartOptions,
): PointSketch {
  const own = datasets[device];
  const run = { points: own, prepared: exact[device], k, maxIter: defaults.maxIter, tol: 0 };
  const found = bestOf(run, restarts, numberedStreams(seed, "init", device)).centroids;
  const { counts, sums } = points[device].publishCores(found.data);
  const data = sums.map((sum, i) =>
    counts[Math.floor(i / own.cols)] > 0 ? sum / counts[Math.floor(i / own.cols)] : 0,
  );
  roundTo(resolution, data);
  return { centroids: { data, rows: k, cols: own.cols }, counts };
}

/** The clusters that have rows. */
function sketchOf(found: PointSketch | undefined, cols: number): PointSketch {
  if (found === undefined) {
    return { centroids: { data: new Float64Array(0), rows: 0, cols }, counts: new Float64Array(0) };
  }
  const kept = Array.from(found.counts.keys()).filter((c) => found.counts[c] > 0);
  return { centroids: takeRows(found.centroids, kept), counts: Float64Array.from(kept, (c) => found.counts[c]) };
}

/**
 * A cluster without published rows has no place of its own: its k-means mean is that of few rows. It begins at the
 * neighbours' centroid that is farthest from all that the device has or, without neighbours, where its largest is.
 */
function withNeighbours(
  { centroids, counts }: PointSketch,
  sketches: readonly PointSketch[],
  neighbours: ArrayLike<number>,
): Matrix {
  const { rows: k, cols } = centroids;
  const data = centroids.data.slice();
  const others = Array.from(neighbours, (j) => sketches[j].centroids).filter(({ rows }) => rows > 0);
  const known = Array.from({ length: k }, (_, c) => c).filter((c) => counts[c] > 0);
  for (let c = 0; c < k; c++) {
    if (counts[c] > 0) continue;
    const farthest = farthestOf(others, { data, cols }, known);
    const largest = counts.indexOf(Math.max(...counts)) * cols;
    data.set(farthest ?? data.slice(largest, largest + cols), c * cols);
    known.push(c);
  }
  return { data, rows: k, cols };
}

function farthestOf(
  others: readonly Matrix[],
  { data, cols }: Pick<Matrix, "data" | "cols">,
  known: readonly number[],
): Float64Array | undefined {
  let farthest: Float64Array | undefined;
  let most = 0;
  for (const other of others) {
    for (let c = 0; c < other.rows; c++) {
      const distances = known.map((own) => squaredDistance(other.data, c * cols, data, own * cols, cols));
      const nearest = Math.min(...distances);
      if (nearest <= most) continue;
      most = nearest;
      farthest = other.data.slice(c * cols, (c + 1) * cols);
    }
  }
  return farthest;
}
