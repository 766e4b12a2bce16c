// k-FED (Dennis, Li and Smith 2021): careful local clustering, one flood of the centroids, farthest-first, and k-means on
// the centroids in one of three forms.

import { checkInteger, checkMatrix, checkOneOf, checkShape } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { dot, type Matrix, removeProjection, repeatRows, stack, takeRows } from "../data/matrix.ts";
import { normalStream, numberedStreams, type Random, randomStream } from "../data/random.ts";
import type { Graph } from "../graph/graph.ts";
import { collectorTraffic, floodTraffic } from "../graph/traffic.ts";
import { jsKernel } from "../kernel/js.ts";
import { emptyStatistics, kernelStatistics, twoNearest } from "../kernel/kernel.ts";
import { nearestCentroids } from "../kernel/model.ts";
import { farthestRows, leastSketchCount, type PointSketch, supportedSketch } from "../start/federated.ts";
import { bestOf, type KMeansModel, kmeansOn } from "../start/kmeans.ts";
import {
  collectFlood,
  type FloodSettings,
  floodSettings,
  floodSettingsOfDevice,
  meansToFlood,
  solveFlood,
} from "./flooding.ts";
import { type CommonOptions, judgingOptions, type MethodModel, methodModel } from "./method.ts";

/** Options of `methods.kfed`. */
export interface KfedOptions extends CommonOptions {
  /** Centroids of every device, from 1 to k. Default k. */
  localCentroids?: number | undefined;
  /** No centroid of fewer points is flooded, and no device looks for more centroids than it could flood. Default 1. */
  minimum?: number | undefined;
  /** How the flooded centroids are joined, see `kfedJoins`. Default "lloyd". */
  join?: (typeof kfedJoins)[number] | undefined;
}

/**
 * From the farthest-first centroids on. mean: one mean step, as the paper prints it. lloyd: k-means to its end, as in the
 * authors' code. weighted: the same, where every centroid counts as many as its points, whose number is flooded too.
 */
const kfedJoins = ["mean", "lloyd", "weighted"] as const;

/** What `methods.kfed` found. */
export interface KfedModel extends MethodModel {
  /** The centroid of every point: that of its local centroid, which need not be the one nearest to the point. */
  labels(): readonly Uint32Array[];
}

type OwnClusters = Pick<KMeansModel, "centroids" | "labels">;

export function kfed(datasets: readonly Matrix[], graph: Graph, options: KfedOptions): KfedModel {
  const settings = floodSettings("kfed", datasets, graph, options);
  const { localCentroids, minimum, join } = kfedOptions(options);
  const least = datasets.map((_, i) => leastSketchCount(graph, i, minimum));
  const own = datasets.map((points, i) => clusterOwn(points, localCentroids, least[i], settings));
  const flooded = own.map(({ centroids, labels }, i) => {
    const counts = new Float64Array(centroids.rows);
    for (const label of labels) counts[label]++;
    return supportedSketch({ centroids, counts }, least[i]);
  });
  const centroids = solveFlood(graph, (devices) => {
    const parts = devices.map((i) => flooded[i]);
    const flood = collectFlood(parts, devices[0], `a cluster of at least minimum = ${minimum} points`);
    const { centroids: all } = flood;
    // The lowest device that flooded anything begins: a choice that all can make alike.
    const { centroids: begun } = parts.find(({ counts }) => counts.length > 0) as PointSketch;
    // The first centroids, then over and over the one farthest from all chosen, until there are k.
    const chosen = stack([begun, takeRows(all, farthestRows(all, begun, settings.k - begun.rows))]);
    return repeatRows(joined(flood, chosen, join), settings.k);
  });
  const numbers = flooded.map(({ centroids, counts }) => {
    return centroids.data.length + (join === "weighted" ? counts.length : 0);
  });
  const traffic = floodTraffic(graph, numbers);
  const collector = collectorTraffic(numbers, settings.k * settings.cols);
  const labels = own.map((clusters, i) => relabel(clusters, centroids[i]));
  return methodModel(datasets, graph, settings.judged, { centroids, traffic, collector, labels });
}

kfed.takes = {
  ...judgingOptions,
  join: kfedJoins,
  localCentroids: ["number"],
  minimum: ["number"],
  restarts: ["number"],
};

/**
 * The labels of a device that missed the flood, by the centroids that came out of it: nobody else has to act.
 * @example lateKfedLabels(matrix([[0], [1], [9]]), matrix([[8], [0]]), { k: 2 }) // [1, 1, 0]
 */
export function lateKfedLabels(points: Matrix, centroids: Matrix, options: KfedOptions): Uint32Array {
  checkMatrix("points", points);
  checkMatrix("centroids", centroids);
  const settings = floodSettingsOfDevice("kfed", centroids.cols, options);
  checkShape("centroids", centroids, settings.k, centroids.cols, "k");
  if (points.rows > 0) checkShape("points", points, points.rows, centroids.cols, "the columns of centroids");
  const { localCentroids, minimum } = kfedOptions(options);
  return relabel(clusterOwn(points, localCentroids, minimum, settings), centroids);
}

function kfedOptions({ k, localCentroids = k, minimum = defaults.minimum, join = "lloyd" }: KfedOptions) {
  checkInteger("localCentroids", localCentroids, 1, k, "k");
  checkInteger("minimum", minimum, 1);
  checkOneOf("join", join, kfedJoins);
  return { localCentroids, minimum, join };
}

function relabel({ centroids, labels }: OwnClusters, shared: Matrix): Uint32Array {
  const groups = nearestCentroids(shared, centroids);
  return labels.map((label) => groups[label]);
}

/**
 * The local step of Awasthi and Sheffet: k-means where the points are seen along their main directions, then Lloyd on
 * the points themselves. The draws are the same on every device: a late one needs no number.
 */
function clusterOwn(points: Matrix, wanted: number, minimum: number, settings: FloodSettings): OwnClusters {
  const { cols, kernel, restarts, seed } = settings;
  if (points.rows === 0) return { centroids: { data: new Float64Array(0), rows: 0, cols }, labels: new Uint32Array(0) };
  const k = Math.max(1, Math.min(wanted, Math.floor(points.rows / minimum)));
  const seen = alongMainDirections(points, k, randomStream(seed, "kfed", "directions"));
  const run = { points: seen, prepared: kernel.prepare(seen), k, maxIter: defaults.maxIter, tol: 0 };
  const { centroids } = bestOf(run, restarts, numberedStreams(seed, "kfed", "own"));
  run.prepared.release();
  const init = coreMeans(points, seen, centroids);
  return kmeansOn(points, { k: init.rows, init, kernel });
}

/**
 * The mean of every cluster's core: the points at least three times nearer to its centroid than to any other. A cluster
 * without a core takes the mean of all its points, one without points is left out.
 */
function coreMeans({ data, rows, cols }: Matrix, seen: Matrix, centroids: Matrix): Matrix {
  const k = centroids.rows;
  const cores = emptyStatistics(k, cols);
  const cells = emptyStatistics(k, cols);
  for (let r = 0; r < rows; r++) {
    const { label, nearest, next } = twoNearest(seen.data, r * seen.cols, centroids);
    for (const { counts, sums } of 9 * nearest <= next ? [cells, cores] : [cells]) {
      counts[label]++;
      for (let x = 0; x < cols; x++) sums[label * cols + x] += data[r * cols + x];
    }
  }
  const means = cells.sums.map((sum, at) => {
    const c = Math.floor(at / cols);
    return cores.counts[c] > 0 ? cores.sums[at] / cores.counts[c] : sum / cells.counts[c];
  });
  return supportedSketch({ centroids: { data: means, rows: k, cols }, counts: cells.counts }, 1).centroids;
}

/** Most steps of the power iteration: what is not apart by then is of nearly equal size, and either will do. */
const MOST_STEPS = 50;

/** The points in coordinates along their top right singular vectors, by power iteration on a block of directions. */
function alongMainDirections(points: Matrix, count: number, random: Random): Matrix {
  const { data, rows, cols } = points;
  if (cols <= count) return points;
  const normal = normalStream(random);
  const directions = Array.from({ length: count }, () => Float64Array.from({ length: cols }, normal));
  const seen = new Float64Array(rows * count);
  let energies = new Float64Array(count);
  for (let step = 0; step < MOST_STEPS; step++) {
    orthonormalise(directions, normal);
    const before = energies;
    energies = new Float64Array(count);
    const images = directions.map(() => new Float64Array(cols));
    for (let r = 0; r < rows; r++) {
      const row = data.subarray(r * cols, (r + 1) * cols);
      directions.forEach((direction, c) => {
        const along = dot(row, direction);
        seen[r * count + c] = along;
        energies[c] += along * along;
        for (let x = 0; x < cols; x++) images[c][x] += along * row[x];
      });
    }
    const total = energies.reduce((sum, energy) => sum + energy, 0);
    // Relative to each direction: points far from the origin have one that dwarfs those which part the clusters.
    if (energies.every((energy, c) => Math.abs(energy - before[c]) <= 1e-6 * Math.max(energy, 1e-20 * total))) break;
    directions.forEach((direction, c) => {
      direction.set(images[c].map((x) => (energies[c] > 0 ? x / energies[c] : 0)));
    });
  }
  return { data: seen, rows, cols: count };
}

/** Gram and Schmidt; a direction that the earlier ones leave nothing of begins anew at random. */
function orthonormalise(/* IN OUT */ directions: readonly Float64Array[], normal: Random): void {
  directions.forEach((direction, c) => {
    for (;;) {
      const before = Math.sqrt(dot(direction, direction));
      // Twice is enough: one pass leaves rounding that the second removes.
      const earlier = directions.slice(0, c);
      for (const other of [...earlier, ...earlier]) removeProjection(other, direction);
      const length = Math.sqrt(dot(direction, direction));
      if (length > 1e-12 * before) {
        for (let x = 0; x < direction.length; x++) direction[x] /= length;
        return;
      }
      for (let x = 0; x < direction.length; x++) direction[x] = normal();
    }
  });
}

/** Every centroid to its nearest chosen one, and the mean of each group; of those chosen twice, the second has none. */
function joined({ centroids, counts }: PointSketch, chosen: Matrix, join: (typeof kfedJoins)[number]): Matrix {
  const weights = join === "weighted" ? counts : undefined;
  // Not the caller's kernel: devices may run different ones, and rounding must not part them.
  const statistics = kernelStatistics(jsKernel.prepare(centroids, weights), chosen);
  const { centroids: means } = meansToFlood(statistics, chosen.cols);
  if (join === "mean") return means;
  return kmeansOn(centroids, { k: means.rows, init: means, weights, kernel: jsKernel }).centroids;
}
