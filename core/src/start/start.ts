// Where the devices begin: given centroids, one federated seed, finished local k-means, or raw seeds.

import { checkMatrixOf, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { datasetColumns, type Matrix, stack } from "../data/matrix.ts";
import { numberedStreams, randomStream } from "../data/random.ts";
import { addTraffic, sendTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { clusterMeans, emptyStatistics } from "../kernel/kernel.ts";
import { plusPlus } from "../kernel/seeding.ts";
import { type GuardState, roundGuarded } from "../privacy/guarded.ts";
import {
  type CentroidSets,
  type Coupling,
  couplingVariation,
  emptyCentroidSets,
  emptyMatches,
  packSets,
  setAt,
} from "../update/coupling.ts";
import {
  type Devices,
  emptySketch,
  type FederatedStart,
  farthestRows,
  federatedStart,
  type PointSketch,
  supportedSketch,
} from "./federated.ts";
import { bestOf, type EmptyClusters, SHORT_RUN, startEmptyClusters, VERY_MANY_ROWS } from "./kmeans.ts";

/**
 * auto: for each component the one of federated and local that starts at the lower objective. federated: one seed for
 * all of a component, from a sketch of everyone's points, flooded once. local: each device's own k-means, best of
 * `restarts`. kmeans++: its raw seeds (greedy, or one draw each), which are rows: for simulation only, a real device
 * must not send them.
 */
export type Init = readonly Matrix[] | "auto" | "federated" | "local" | "kmeans++" | "classic kmeans++";

const inits = ["auto", "federated", "local", "kmeans++", "classic kmeans++"];

export type ClusterCounts = number | readonly number[];

interface StartOptions {
  readonly k: ClusterCounts;
  readonly init: Init;
  /** Of a given start. */
  readonly empty: EmptyClusters;
  readonly restarts: number;
  readonly minimum: number;
  readonly seed: number;
  /** What "auto" judges by: the parts of the objective. */
  readonly alpha: number;
  readonly coupling: Coupling;
  readonly pointScales: Float64Array;
}

/** The first centroids of every device, and what it took until the neighbours knew them. */
export interface Start {
  readonly sets: CentroidSets;
  readonly traffic: Traffic;
}

export function start(devices: Devices | GuardedDevices, options: StartOptions): Start {
  const { datasets, graph } = devices;
  const { k, init } = options;
  const cols = datasetColumns(datasets);
  if (!Array.isArray(init)) checkOneOf("init", init, inits);
  const clusters = Uint32Array.from(datasets, (_, i) => (typeof k === "number" ? k : k[i]));
  const numbers = clusters.map((own) => own * cols);
  const sent = sendTraffic(graph, numbers);
  if (Array.isArray(init)) {
    return { sets: packSets(givenCentroids(devices, init, clusters, options), cols), traffic: sent };
  }
  if ("exact" in devices) return guardedStart(devices, options, clusters, sent);
  if (init === "federated" || init === "auto") {
    if (typeof k !== "number") {
      const rule = `"local", "kmeans++", "classic kmeans++" or a matrix for each device (k differs)`;
      throw new RangeError(`init must be ${rule}, got "${init}"`);
    }
    const common = federatedStart(devices, { ...options, k });
    if (init === "federated") return common;
    const own = ownSets(devices, clusters, { ...options, init: "local" }, passesToCompare, common.sets);
    return lowerOf(common, { sets: own, traffic: sent }, devices, { ...options, k });
  }
  return { sets: ownSets(devices, clusters, options), traffic: sent };
}

/** What each device that has enough points begins with; the others begin as adoptFromNearest says. */
function ownSets(
  devices: Devices,
  clusters: Uint32Array,
  options: StartOptions,
  passesOver: (rows: number) => number = () => defaults.maxIter,
  otherwise?: CentroidSets,
): CentroidSets {
  const { datasets } = devices;
  const sets = emptyCentroidSets(clusters, datasetColumns(datasets));
  datasets.forEach(({ rows }, i) => {
    if (rows < clusters[i]) return;
    sets.data.set(ownCentroids(devices, i, clusters[i], options, passesOver(rows)), sets.starts[i] * sets.cols);
  });
  if (datasets.every(({ rows }, i) => rows >= clusters[i])) return sets;
  const own = datasets.map(({ rows }, i) => (rows < clusters[i] ? undefined : setAt(sets, i)));
  const found = adoptFromNearest(own, devices, clusters, otherwise);
  return packSets(found, sets.cols);
}

/** Very many rows have settled on a sample before, and which of two starts is lower shows long before the last one moves. */
function passesToCompare(rows: number): number {
  return rows >= VERY_MANY_ROWS ? SHORT_RUN : defaults.maxIter;
}

type JudgedOptions = StartOptions & { readonly k: number };

/**
 * A common seed is right where devices have the same clusters, and where alpha binds them; own clusters are where they
 * differ and alpha is weak. The objective knows: the devices sum their parts of it for both starts.
 */
function lowerOf(common: FederatedStart, own: Start, devices: Devices, options: JudgedOptions): Start {
  const together = lossesOf(common.sets, devices, options);
  const alone = lossesOf(own.sets, devices, options);
  const matches = emptyMatches(options.k);
  const { data, starts, cols } = common.sets;
  for (const members of common.components) {
    const sum = (losses: Float64Array) => members.reduce((total, i) => total + losses[i], 0);
    // Where all have the same centroids no link costs anything.
    const { alpha, coupling } = options;
    const variation = couplingVariation(own.sets, devices.links, coupling, matches, "squared", members);
    if (!(sum(alone) + alpha * variation < sum(together))) continue;
    for (const i of members) data.set(setAt(own.sets, i).data, starts[i] * cols);
  }
  return {
    sets: common.sets,
    traffic: addTraffic(common.traffic, own.traffic, sumTraffic(devices.graph, 2, common.forest)),
  };
}

function lossesOf(
  { data, starts, cols }: CentroidSets,
  { points }: Devices,
  { k, pointScales }: JudgedOptions,
): Float64Array {
  const losses = new Float64Array(points.length);
  const statistics = emptyStatistics(k, cols);
  const own = new Float64Array(k * cols);
  for (let i = 0; i < points.length; i++) {
    for (let x = 0, at = starts[i] * cols; x < own.length; x++, at++) own[x] = data[at];
    points[i].statistics(own, statistics);
    losses[i] = pointScales[i] * statistics.loss;
  }
  return losses;
}

function givenCentroids(
  { datasets, weights, points }: Devices,
  init: readonly Matrix[],
  clusters: Uint32Array,
  { empty }: StartOptions,
): Matrix[] {
  const cols = datasetColumns(datasets);
  if (init.length !== clusters.length) {
    throw new RangeError(`init must have ${clusters.length} matrices (one for each of datasets), got ${init.length}`);
  }
  return init.map((centroids, i) => {
    checkMatrixOf(`init[${i}]`, centroids, clusters[i], cols, "k and the columns of datasets");
    const own = { points: datasets[i], weights: weights?.[i], prepared: points[i] };
    const data = empty === "keep" || datasets[i].rows === 0 ? centroids.data : startEmptyClusters(own, centroids.data);
    return { ...centroids, data: data.slice() };
  });
}

function ownCentroids(
  { datasets, weights, points: prepared }: Devices,
  device: number,
  k: number,
  { init, restarts, seed }: StartOptions,
  maxIter: number,
): Float64Array {
  const points = datasets[device];
  const run = { points, weights: weights?.[device], prepared: prepared[device], k, maxIter, tol: 0 };
  if (init === "kmeans++" || init === "classic kmeans++") {
    const trials = init === "kmeans++" ? undefined : 1;
    return plusPlus(run, randomStream(seed, "init", device), trials);
  }
  return bestOf(run, restarts, numberedStreams(seed, "init", device)).centroids.data;
}

/**
 * A device with fewer points than k begins with the centroids of the nearest device that has enough, and the same k;
 * where there is none, with those of the last argument.
 */
function adoptFromNearest(
  own: readonly (Matrix | undefined)[],
  { datasets, graph }: Devices,
  clusters: Uint32Array,
  otherwise?: CentroidSets,
): Matrix[] {
  const found = [...own];
  let frontier = found.flatMap((centroids, i) => (centroids === undefined ? [] : [i]));
  while (frontier.length > 0) {
    const next: number[] = [];
    for (const device of frontier) {
      for (const other of graph.neighbours[device]) {
        const nearest = found[device] as Matrix;
        if (found[other] !== undefined || clusters[other] !== nearest.rows) continue;
        found[other] = nearest;
        next.push(other);
      }
    }
    frontier = next;
  }
  return found.map((centroids, i) => {
    if (centroids !== undefined) return centroids;
    if (otherwise !== undefined) return setAt(otherwise, i);
    const rule = `at least k = ${clusters[i]} points, a given init or a path to a device with that many points`;
    throw new RangeError(`device ${i} must have ${rule}, got ${datasets[i].rows} points and no such path`);
  });
}

// Where the devices of a guarded run begin: every device's own k-means enters by labels that may be published only.

type GuardedDevices = Devices & GuardState;

/** For "federated" or "local". Devices without rows begin where others are. */
function guardedStart(devices: GuardedDevices, options: StartOptions, clusters: Uint32Array, sent: Traffic): Start {
  const { datasets, graph } = devices;
  const cols = datasetColumns(datasets);
  const own = datasets.map(({ rows }, i) => (rows > 0 ? ownClusters(devices, i, clusters[i], options) : undefined));
  const sketches = own.map((found) => (found === undefined ? emptySketch(cols) : supportedSketch(found, 1)));
  if (options.init === "federated") return federatedStart(devices, { ...options, k: options.k as number }, sketches);
  const filled = own.map((found, i) => found && withNeighbours(found, sketches, graph.neighbours[i]));
  return { sets: packSets(adoptFromNearest(filled, devices, clusters), cols), traffic: sent };
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
  const cores = points[device].publishCores(found.data);
  const data = clusterMeans(cores, new Float64Array(found.data.length));
  roundGuarded(resolution, data);
  return { centroids: { data, rows: k, cols: own.cols }, counts: cores.counts };
}

/**
 * A cluster without published rows has no place of its own: its k-means mean is that of few rows. It begins at the
 * neighbours' centroid that is farthest from all that the device has or, without neighbours, where its largest is.
 */
function withNeighbours(own: PointSketch, sketches: readonly PointSketch[], neighbours: ArrayLike<number>): Matrix {
  const { centroids, counts } = own;
  const { rows, cols } = centroids;
  const data = centroids.data.slice();
  const others = stack(Array.from(neighbours, (j) => sketches[j].centroids));
  const empty = Array.from(counts.keys()).filter((c) => counts[c] === 0);
  const farthest = farthestRows(others, supportedSketch(own, 1).centroids, empty.length);
  const largest = counts.indexOf(Math.max(...counts));
  empty.forEach((c, at) => {
    const [from, row] = at < farthest.length ? [others.data, farthest[at]] : [data, largest];
    data.set(from.slice(row * cols, (row + 1) * cols), c * cols);
  });
  return { data, rows, cols };
}
