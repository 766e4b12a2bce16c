// The federated seed: everyone floods a sketch of its points once, everyone solves the same weighted k-means on all the
// sketches, and where that has several good answers, everyone's own losses decide. Sketches of devices with fewer rows
// than k are merged on their way up a tree, so that many small devices flood no more than a few large ones.

import { defaults } from "../data/defaults.ts";
import {
  datasetColumns,
  type Matrix,
  type Numbers,
  type Points,
  repeatRows,
  squaredDistance,
  stack,
  takeRows,
} from "../data/matrix.ts";
import { numberedStreams, type Random, randomStream } from "../data/random.ts";
import { breadthFirst, type Forest, forestMembers, type Graph, type PackedLinks } from "../graph/graph.ts";
import { addTraffic, floodTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { jsKernel } from "../kernel/js.ts";
import { emptyStatistics, type PreparedPoints } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { type CentroidSets, emptyCentroidSets } from "../update/coupling.ts";
import { bestOf, distinctKmeansOptima, MANY_ROWS, SHORT_RUN, VERY_MANY_ROWS } from "./kmeans.ts";

/** What a device says of its rows for a common seed: centroids that stand for enough of them, and for how many each. */
export interface PointSketch {
  readonly centroids: Matrix;
  readonly counts: Float64Array;
}

interface SketchOptions {
  readonly k: number;
  readonly restarts: number;
  /** No centroid of fewer points leaves a device. */
  readonly minimum: number;
  readonly seed: number;
}

/** A sketch has a centroid for about this many points (or `minimum`), but at least k and at most SKETCH times k of them. */
const POINTS_PER_CENTROID = 4;
const SKETCH = 4;

/** Fine sketches need no best of ten. */
const SKETCH_RESTARTS = 3;

/** Iterations over all points from where those of a sample ended. */
const AFTER_SAMPLE = 3;

/** More than TOO_MANY times k centroids are merged to MERGED times k: not at every hop, so that little blurs on a long way. */
const MERGED = 16;
const TOO_MANY = 32;

interface SketchedRows {
  readonly points: Points;
  readonly weights?: Float64Array | undefined;
  readonly prepared: PreparedPoints;
  readonly cols: number;
}

/** The sketch of a device's rows. Fewer rows than k have a centroid each, or one for each `minimum` of them. */
export function sketchPoints(
  { points, weights, prepared, cols }: SketchedRows,
  device: number,
  { k, restarts, minimum, seed }: SketchOptions,
): PointSketch {
  const each = Math.max(POINTS_PER_CENTROID, minimum);
  const wanted = Math.min(SKETCH * k, Math.max(k, Math.floor(points.rows / each)));
  const size = Math.min(wanted, Math.floor(points.rows / minimum));
  if (size === 0) return emptySketch(cols);
  const run = { points, weights, prepared, k: size, maxIter: passesOver(points.rows), tol: 0 };
  const starts = size <= k ? restarts : Math.min(restarts, SKETCH_RESTARTS);
  const { centroids } = bestOf(run, starts, numberedStreams(seed, "sketch", device));
  return supported(centroids, prepared, minimum);
}

/** Many points are sketched well by clusters that have not quite settled; very many have settled on a sample before. */
function passesOver(rows: number): number {
  if (rows >= VERY_MANY_ROWS) return AFTER_SAMPLE;
  return rows >= MANY_ROWS ? SHORT_RUN : defaults.maxIter;
}

/** The sketches of many devices, one behind the other: that of device i is the rows from starts[i] up to starts[i + 1]. */
interface PackedSketches {
  readonly all: PointSketch;
  readonly starts: Uint32Array;
}

/** A million sketches of their own would be ten million objects. */
function packSketches(size: number, cols: number, sketchOf: (device: number) => PointSketch): PackedSketches {
  const starts = new Uint32Array(size + 1);
  let data = new Float64Array(0);
  let counts = new Float64Array(0);
  for (let i = 0; i < size; i++) {
    const { centroids, counts: own } = sketchOf(i);
    starts[i + 1] = starts[i] + own.length;
    if (starts[i + 1] > counts.length) {
      // The others are taken to be as long as those so far, and a little more: every such array sets off a collection.
      const room = Math.ceil(1.1 * starts[i + 1] * (size / (i + 1)));
      data = grown(data, room * cols);
      counts = grown(counts, room);
    }
    data.set(centroids.data, starts[i] * cols);
    counts.set(own, starts[i]);
  }
  const rows = starts[size];
  return {
    all: { centroids: { data: data.subarray(0, rows * cols), rows, cols }, counts: counts.subarray(0, rows) },
    starts,
  };
}

function grown(numbers: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const copy = new Float64Array(length);
  copy.set(numbers);
  return copy;
}

function sketchAt({ all: { centroids, counts }, starts }: PackedSketches, device: number): PointSketch {
  const [from, to] = [starts[device], starts[device + 1]];
  const { data, cols } = centroids;
  return {
    centroids: { data: data.subarray(from * cols, to * cols), rows: to - from, cols },
    counts: counts.subarray(from, to),
  };
}

/** How many numbers the sketch of each device has. */
function numbersOf({ all, starts }: PackedSketches): Uint32Array {
  return starts.subarray(1).map((end, i) => (end - starts[i]) * (all.centroids.cols + 1));
}

export function joinSketches(parts: readonly PointSketch[]): PointSketch {
  const centroids = stack(parts.map((part) => part.centroids));
  const counts = new Float64Array(centroids.rows);
  let at = 0;
  for (const part of parts) {
    counts.set(part.counts, at);
    at += part.counts.length;
  }
  return { centroids, counts };
}

/** The same where they are few; else the weighted means of near ones, which stand for as many points together. */
export function mergeSketches(parts: readonly PointSketch[], k: number, of: () => Random): PointSketch {
  const joined = joinSketches(parts);
  const { centroids: points, counts: weights } = joined;
  if (points.rows <= TOO_MANY * k) return joined;
  const prepared = jsKernel.prepare(points, weights);
  const run = { points, weights, prepared, k: MERGED * k, maxIter: SHORT_RUN, tol: 0 };
  return supported(bestOf(run, 1, { of }).centroids, prepared, 1);
}

/** The points that a centroid must stand for to be sent. A device without neighbours sends nothing: it need not hide any. */
export function leastSketchCount({ neighbours }: Graph, device: number, minimum: number): number {
  return neighbours[device].length === 0 ? 1 : minimum;
}

/** Only the centroids that stand for enough points. */
export function supportedSketch({ centroids, counts }: PointSketch, least: number): PointSketch {
  if (counts.every((count) => count >= least)) return { centroids, counts };
  const kept = Array.from(counts.keys()).filter((c) => counts[c] >= least);
  return { centroids: takeRows(centroids, kept), counts: Float64Array.from(kept, (c) => counts[c]) };
}

export function emptySketch(cols: number): PointSketch {
  return { centroids: { data: new Float64Array(0), rows: 0, cols }, counts: new Float64Array(0) };
}

/** At most so many rows, one after the other: the one farthest from `known` and all before it, as long as one is apart. */
export function farthestRows(points: Points, known: Matrix, count: number): number[] {
  const { data, rows, cols } = points;
  const squares = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const approach = (from: Numbers, at: number) => {
    for (let r = 0; r < rows; r++) squares[r] = Math.min(squares[r], squaredDistance(data, r * cols, from, at, cols));
  };
  for (let c = 0; c < known.rows; c++) approach(known.data, c * cols);
  const found: number[] = [];
  while (found.length < count) {
    const farthest = squares.reduce((best, square, r) => (square > squares[best] ? r : best), 0);
    if (!(squares[farthest] > 0)) break;
    found.push(farthest);
    approach(data, farthest * cols);
  }
  return found;
}

/** Where sketches are counted, one after the other. */
let room = emptyStatistics(0, 0);

/** Only centroids with enough points: one without any still sits on a seed, which is a row. */
function supported(centroids: Matrix, points: PreparedPoints, minimum: number): PointSketch {
  if (room.sums.length !== centroids.data.length || room.counts.length !== centroids.rows) {
    room = emptyStatistics(centroids.rows, centroids.cols);
  }
  points.statistics(centroids.data, room, false);
  return supportedSketch({ centroids, counts: room.counts.slice() }, minimum > 1 ? minimum : Number.MIN_VALUE);
}

/** The devices of a network: their points, as given and prepared, and their links. */
export interface Devices {
  readonly datasets: readonly Points[];
  /** How much each row counts. Default 1. */
  readonly weights?: readonly Float64Array[] | undefined;
  readonly points: readonly PreparedPoints[];
  readonly graph: Graph;
  readonly links: PackedLinks;
}

/** Different answers on the sketches that are judged on the points; more were never needed. */
const JUDGED = 4;

/** The weighted problem is small, so many starts are cheap; on a very large one ten must do. */
const startsFor = (rows: number) => Math.max(10, Math.min(50, Math.floor(100_000 / rows)));

/** Where all begin, and the network as it was found on the way. */
export interface FederatedStart {
  readonly sets: CentroidSets;
  readonly traffic: Traffic;
  readonly forest: Forest;
  readonly components: readonly (readonly number[])[];
}

/**
 * One seed for each connected component. Sketches that are given are flooded as they are, and then no losses are summed
 * either: the seed is the best on the sketches.
 */
export function federatedStart(
  { datasets, weights, points: prepared, graph: network, links }: Devices,
  options: SketchOptions,
  given?: readonly PointSketch[],
): FederatedStart {
  const cols = datasetColumns(datasets);
  const drawn = (i: number) => {
    const minimum = leastSketchCount(network, i, options.minimum);
    const rows = { points: datasets[i], weights: weights?.[i], prepared: prepared[i], cols };
    return sketchPoints(rows, i, { ...options, minimum });
  };
  const own = packSketches(network.size, cols, given === undefined ? drawn : (i) => given[i]);
  const isSmall = datasets.map(({ rows }) => rows < options.k);
  const forest = breadthFirst(network, links);
  const { sketches, traffic: gathered } = gather(own, isSmall, forest, options);
  const most = given === undefined ? JUDGED : 1;
  const components = forestMembers(forest);
  const seeds = components.map((devices, c) => componentSeed(prepared, sketches, devices, c, options, most));
  const flooded = addTraffic(gathered, floodTraffic(network, numbersOf(sketches), links, forest));
  // Losses are summed up a tree: a parent learns the sum of a subtree. Several components judge at the same time.
  const judged = seeds.reduce((most, { losses }) => Math.max(most, losses), 0);
  return {
    sets: seedsOfDevices(components, seeds, network.size),
    traffic: judged > 0 ? addTraffic(flooded, sumTraffic(network, judged, forest)) : flooded,
    forest,
    components,
  };
}

function seedsOfDevices(
  components: readonly (readonly number[])[],
  seeds: readonly { readonly centroids: Matrix }[],
  size: number,
): CentroidSets {
  const { rows, cols } = seeds[0].centroids;
  const sets = emptyCentroidSets(new Uint32Array(size).fill(rows), cols);
  components.forEach((devices, c) => {
    for (const i of devices) sets.data.set(seeds[c].centroids.data, i * rows * cols);
  });
  return sets;
}

/**
 * A small device sends its sketch to its parent in a breadth-first tree and to nobody else, together with what its own
 * children sent it, merged; the first device on the way that is not small floods that beside its own sketch, or else the
 * root does. Returns what every device floods.
 */
function gather(
  packed: PackedSketches,
  isSmall: readonly boolean[],
  { order, parents }: Forest,
  { k, seed }: SketchOptions,
) {
  if (!isSmall.includes(true)) return { sketches: packed, traffic: { messages: 0, bytes: 0 } };
  const own = isSmall.map((_, i) => sketchAt(packed, i));
  const sketches = [...own];
  const below = own.map((): PointSketch[] => []);
  let traffic: Traffic = { messages: 0, bytes: 0 };
  for (const device of order.toReversed()) {
    if (below[device].length > 0) {
      const merged = mergeSketches(below[device], k, () => randomStream(seed, "merge", device));
      sketches[device] = joinSketches([own[device], merged]);
    }
    if (device === parents[device] || !isSmall[device] || sketches[device].counts.length === 0) continue;
    below[parents[device]].push(sketches[device]);
    traffic = addTraffic(traffic, {
      messages: 1,
      bytes: 8 * (sketches[device].centroids.data.length + sketches[device].counts.length),
    });
    sketches[device] = joinSketches([]);
  }
  return { sketches: packSketches(own.length, packed.all.centroids.cols, (i) => sketches[i]), traffic };
}

/** The seed of a component, and how many losses its devices summed to choose it. */
function componentSeed(
  prepared: readonly PreparedPoints[],
  sketches: PackedSketches,
  devices: readonly number[],
  component: number,
  options: SketchOptions,
  most: number,
) {
  const { k, minimum, seed } = options;
  const isWhole = devices.length === prepared.length;
  const joined = isWhole ? sketches.all : joinSketches(devices.map((i) => sketchAt(sketches, i)));
  const { centroids: points, counts: weights } = joined;
  if (points.rows === 0) {
    throw new RangeError(
      `no device in the component of device ${devices[0]} has minimum = ${minimum} points; lower minimum or give init`,
    );
  }
  // Fewer distinct clusters than k: some are named twice.
  if (points.rows < k) return { centroids: repeatRows(points, k), losses: 0 };
  const run = { points, weights, prepared: fastKernel.prepare(points, weights), k, maxIter: 100, tol: 0 };
  const streams = numberedStreams(seed, "federated", component);
  const optima = distinctKmeansOptima(run, startsFor(points.rows), streams, most).map(({ centroids }) => centroids);
  run.prepared.release();
  if (optima.length === 1) return { centroids: optima[0], losses: 0 };
  const statistics = emptyStatistics(k, points.cols);
  const losses = optima.map(({ data }) =>
    devices.reduce((sum, i) => {
      prepared[i].statistics(data, statistics);
      return sum + statistics.loss;
    }, 0),
  );
  return { centroids: optima[losses.indexOf(Math.min(...losses))], losses: optima.length };
}
