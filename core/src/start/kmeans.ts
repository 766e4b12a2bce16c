// k-means on one device: greedy k-means++ seeds, Lloyd's iteration, restarts. Lloyd is a device update without neighbours.

import { checkAtLeastZero, checkInteger, checkMatrixOf, checkOneOf, checkSeed, checkSize } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, type Points, squaredDistance, takeRows } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { numberedStreams, type Random, randomRows, type Streams } from "../data/random.ts";
import { checkedRowWeights, weightedRows } from "../data/rowWeights.ts";
import { checkKernel, checkReadyPoints, emptyStatistics, type Kernel } from "../kernel/kernel.ts";
import {
  centroidSetsOfModel,
  labelledModel,
  type ModelRecord,
  nearestCentroids,
  type Predictor,
} from "../kernel/model.ts";
import { greedyTrials, plusPlus, type SeedingProblem, type SeedingRoom } from "../kernel/seeding.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { runUpdate } from "../update/update.ts";
import { updateSettings } from "../update/updateOptions.ts";
import { emptyUpdate, type UpdateState } from "../update/updateState.ts";
import { moveClusters } from "./splitMerge.ts";

/** Options of `kmeans`. Only k is needed. */
export interface KMeansOptions {
  /** Clusters. */
  k: number;
  /** How much each point counts. Whole weights give what repeated points give, to the bit, unless `empty` is "farthest". Default 1. */
  weights?: ArrayLike<number> | undefined;
  /** Starting centroids, or a model to go on from, instead of drawn ones and restarts. */
  init?: Predictor | undefined;
  /** What becomes of clusters without points. Default "keep". */
  empty?: EmptyClusters | undefined;
  /** Independent starts, of which the best counts. Default 10. Of 500 clusters and more only one, in which clusters then move to where they gain most. */
  restarts?: number | undefined;
  /** Default 300. */
  maxIter?: number | undefined;
  /** An iteration that lowers the inertia by no more than tol * max(1, inertia) is the last. Default 0: until nothing moves. */
  tol?: number | undefined;
  /** Default 0. */
  seed?: number | undefined;
  /** What computes distances. Default: WebAssembly, or JavaScript with the same bits where that is not to be had. */
  kernel?: Kernel | undefined;
}

const kmeansOptionNames: OptionNames<KMeansOptions> = {
  k: true,
  weights: true,
  init: true,
  empty: true,
  restarts: true,
  maxIter: true,
  tol: true,
  seed: true,
  kernel: true,
};

/** What `kmeans` found. */
export interface KMeansModel extends ModelRecord {
  readonly centroids: Matrix;
  readonly labels: Uint32Array;
  /** Weighted sum of squared distances to the nearest centroid. */
  readonly inertia: number;
  readonly iterations: number;
  /** False if maxIter came first. */
  readonly converged: boolean;
}

/**
 * k-means of the points of one device: the best of several starts of Lloyd's iteration.
 * @example kmeans(matrix([[0], [2], [9]]), { k: 2 }).inertia // 2
 */
export function kmeans(points: Points, options: KMeansOptions): KMeansModel {
  checkSize("points", points);
  checkOptions(options, kmeansOptionNames, "k");
  // Which point is farthest is a matter of its weight too, and of that repeated points know nothing.
  if (options.weights === undefined || options.empty === "farthest") return kmeansOn(points, options, false);
  const given = checkedRowWeights(options.weights, points.rows, "weights", "the rows of points");
  const { datasets, weights } = weightedRows([points], [given]);
  const found = kmeansOn(datasets[0], { ...options, weights: weights?.[0] }, false);
  return labelledModel({ ...found, labels: nearestCentroids(found.centroids, points) });
}

/** The same on points that were checked, or else are when they are ready. */
export function kmeansOn(points: Points, options: KMeansOptions, isChecked = true): KMeansModel {
  const { k, empty = "keep", tol = 0, kernel = fastKernel } = options;
  const init = options.init === undefined ? undefined : oneSetOf(options.init);
  const { restarts = defaults.restarts, maxIter = defaults.maxIter, seed = defaults.seed } = options;
  if (points.cols === 0) throw new RangeError("points must have at least 1 column, got 0");
  if (init === undefined) checkInteger("k", k, 1, points.rows, "the rows of points");
  else checkInteger("k", k, 1);
  if (init !== undefined) checkMatrixOf("init", init, k, points.cols, "k and the columns of points");
  checkInteger("restarts", restarts, 1);
  checkInteger("maxIter", maxIter, 1);
  checkAtLeastZero("tol", tol);
  checkSeed(seed);
  checkKernel(kernel);
  checkOneOf("empty", empty, emptyRules);
  const weights = options.weights && checkedRowWeights(options.weights, points.rows, "weights", "the rows of points");
  const prepared = kernel.prepare(points, weights);
  if (!isChecked) checkReadyPoints("points", points, prepared);
  const run = { points, weights, prepared, k, maxIter, tol };
  const found =
    init === undefined
      ? bestOf(run, restarts, numberedStreams(seed, "kmeans"))
      : lloyd(run, empty === "keep" ? init.data : startEmptyClusters(run, init.data));
  const best = empty === "keep" ? found : withoutEmpty(run, found);
  const labels = new Uint32Array(points.rows);
  prepared.labels(best.centroids.data, labels);
  prepared.release();
  const { centroids, inertia, iterations, converged } = best;
  const record = { version: 1, options: { k, alpha: 0, seed } } as const;
  return labelledModel({ ...record, centroids, labels, inertia, iterations, converged });
}

/** Of a model of one device, or of a network of one. */
function oneSetOf(model: Predictor): Matrix {
  const sets = centroidSetsOfModel(model);
  if (sets.length > 1) {
    throw new RangeError(`init must be centroids or the model of one device, got one of ${sets.length} devices`);
  }
  return sets[0];
}

/** Goes on from the farthest points as long as a run ends with clusters that lost theirs. Each move lowers the inertia. */
function withoutEmpty(run: KMeansRun, found: Clustering): Clustering {
  let { iterations, ...best } = found;
  while (iterations < run.maxIter) {
    const start = startEmptyClusters(run, best.centroids.data);
    if (start === best.centroids.data) break;
    const next = lloyd({ ...run, maxIter: run.maxIter - iterations }, start);
    iterations += next.iterations;
    best = next;
  }
  return { ...best, iterations };
}

interface KMeansRun extends SeedingProblem {
  readonly maxIter: number;
  readonly tol: number;
}

type Clustering = Omit<KMeansModel, "labels" | keyof ModelRecord>;

/** From so many rows on, restarts are made cheaper: a sample is seeded as well, and the end of a run says little more. */
export const MANY_ROWS = 10_000;
/** Iterations after which a run on many rows is near its end. */
export const SHORT_RUN = 20;
/** From so many rows on, a sample says which start is best, and all rows are for that one alone. */
export const VERY_MANY_ROWS = 100_000;

/**
 * From so many clusters on one start is made, on a sample of so many rows for each cluster, and at most so often clusters
 * move to where they gain more, until the cost falls by no more than this share. Further starts would cost as much as
 * scikit-learn's only one, and gain less.
 */
const MANY_CLUSTERS = { from: 500, perCluster: 16, moves: 8, enough: 1e-3 };
/** Iterations between moves. */
const SETTLING_RUN = 8;

/** Rows of a sample, for each cluster and at least: to draw seeds from, and to run the starts on. */
const SAMPLED = { perCluster: 64, least: 4096 };
const JUDGING = { perCluster: 512, least: 16_384 };

/**
 * The best of several starts, the first among equals. On many rows the starts are seeded on a sample and judged after a
 * short run, and only the best goes on to its end. On very many rows they are run to their ends on a sample.
 */
export function bestOf(run: KMeansRun, restarts: number, streams: Streams): Clustering {
  const atOnce = bestAtOnce(run, restarts, streams);
  if (atOnce !== undefined) return atOnce;
  if (run.k >= MANY_CLUSTERS.from) {
    const size = MANY_CLUSTERS.perCluster * run.k;
    const random = streams.of(0);
    const onSample = (sample: KMeansRun) => withMoves(sample, random);
    const start = run.points.rows < 2 * size ? onSample(run) : onSampleOf(run, size, random, onSample);
    return lloyd(run, start);
  }
  const judging = sampleSize(JUDGING, run.k);
  if (restarts > 1 && run.points.rows >= Math.max(VERY_MANY_ROWS, 4 * judging)) {
    const onSample = (sample: KMeansRun) => bestOf({ ...sample, maxIter: defaults.maxIter }, restarts, streams);
    return lloyd(run, onSampleOf(run, judging, streams.of(restarts), onSample).centroids.data);
  }
  const isShort = restarts > 1 && run.points.rows >= MANY_ROWS && run.maxIter > SHORT_RUN;
  const judged = isShort ? { ...run, maxIter: SHORT_RUN } : run;
  const room: LloydRoom = {};
  let best: Clustering | undefined;
  for (let restart = 0; restart < restarts; restart++) {
    const found = lloyd(judged, seeds(run, streams.of(restart), room), room);
    if (best === undefined || found.inertia < best.inertia) best = found;
  }
  const chosen = best as Clustering;
  if (!isShort || chosen.converged) return chosen;
  const ended = lloyd({ ...run, maxIter: run.maxIter - chosen.iterations }, chosen.centroids.data);
  return { ...ended, iterations: chosen.iterations + ended.iterations };
}

/** Centroids of one start, moved to where they gain more for as long as that pays. */
function withMoves(run: KMeansRun, random: Random): Float64Array {
  const { points, weights, prepared } = run;
  const room: LloydRoom = {};
  const labels = new Uint32Array(points.rows);
  const settled = (from: Float64Array) => lloyd({ ...run, maxIter: SETTLING_RUN }, from, room);
  // One draw for each seed: the moves mend what a better choice among several would have avoided.
  let best = settled(plusPlus(run, random, 1));
  for (let move = 0; move < MANY_CLUSTERS.moves; move++) {
    const centroids = best.centroids.data.slice();
    prepared.labels(centroids, labels);
    if (moveClusters({ points, weights, labels, centroids }) === 0) break;
    const next = settled(centroids);
    const isEnough = next.inertia >= best.inertia * (1 - MANY_CLUSTERS.enough);
    if (next.inertia < best.inertia) best = next;
    if (isEnough) break;
  }
  return best.centroids.data;
}

/** The same where the kernel draws and runs all starts in one call. */
function bestAtOnce(run: KMeansRun, starts: number, { hash }: Streams): Clustering | undefined {
  const { prepared, points, k, maxIter, tol } = run;
  if (hash === undefined || prepared.best === undefined) return undefined;
  const centroids = new Float64Array(k * points.cols);
  const found = prepared.best(centroids, { hash, trials: greedyTrials(k), starts }, maxIter, tol);
  return found && clustering(run, centroids, found.loss, found.passes);
}

function seeds(run: KMeansRun, random: Random, room: SeedingRoom): Float64Array {
  const size = sampleSize(SAMPLED, run.k);
  if (run.points.rows < Math.max(MANY_ROWS, 2 * size)) return plusPlus(run, random, undefined, room);
  return onSampleOf(run, size, random, (sample) => plusPlus(sample, random));
}

function sampleSize({ perCluster, least }: typeof SAMPLED, k: number): number {
  return Math.max(least, perCluster * k);
}

/** Work on a row from each of as many equal parts: spread over all rows, and none twice. */
function onSampleOf<T>(run: KMeansRun, size: number, random: Random, work: (sample: KMeansRun) => T): T {
  const { points, weights } = run;
  const chosen = randomRows(points.rows, size, random);
  const sample = takeRows(points, chosen);
  const own = weights && Float64Array.from(chosen, (r) => weights[r]);
  const prepared = fastKernel.prepare(sample, own);
  const found = work({ ...run, points: sample, weights: own, prepared });
  prepared.release();
  return found;
}

/** The best few different ends of several starts, the best first. */
export function distinctKmeansOptima(run: KMeansRun, restarts: number, streams: Streams, most: number): Clustering[] {
  const room: LloydRoom = {};
  const found = Array.from({ length: restarts }, (_, restart) => {
    return lloyd(run, seeds(run, streams.of(restart), room), room);
  });
  found.sort((a, b) => a.inertia - b.inertia);
  // Equal optima in another order differ by rounding only.
  return found.filter(({ inertia }, at) => at === 0 || inertia > found[at - 1].inertia * (1 + 1e-9)).slice(0, most);
}

/** What starts share; made by the first that needs it. */
interface LloydRoom extends SeedingRoom {
  update?: UpdateState;
}

function lloyd(run: KMeansRun, start: Float64Array, room: LloydRoom = {}): Clustering {
  const { points, prepared, k, maxIter, tol } = run;
  const centroids = start.slice();
  const atOnce = prepared.lloyd?.(centroids, maxIter, tol);
  if (atOnce !== undefined) return clustering(run, centroids, atOnce.loss, atOnce.passes);
  room.update ??= emptyUpdate(k, points.cols, updateSettings({ alpha: 0, passes: maxIter, tol }));
  const { update } = room;
  update.centroids.set(start);
  update.isAssigned = false;
  runUpdate(update, prepared);
  centroids.set(update.centroids);
  return clustering(run, centroids, update.statistics.loss, update.passes);
}

function clustering({ k, points, maxIter }: KMeansRun, data: Float64Array, inertia: number, passes: number) {
  return { centroids: { data, rows: k, cols: points.cols }, inertia, iterations: passes, converged: passes < maxIter };
}

// Clusters without points keep their centroid, or begin again at the points that are farthest from all centroids.

/** keep: the centroid stays where it is. farthest: it moves to the point that is farthest from all other centroids. */
export type EmptyClusters = "keep" | "farthest";

export const emptyRules = ["keep", "farthest"] as const;

/**
 * The centroids with every empty one at a point, one after the other: the point whose weighted squared distance to its
 * nearest centroid is largest, those that were moved before included, and the first of equals. The same array where
 * none is empty, or where every point sits on a centroid.
 */
export function startEmptyClusters(
  { points, weights, prepared }: Omit<SeedingProblem, "k">,
  centroids: Float64Array,
): Float64Array {
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
    const point = Float64Array.from(data.subarray(farthest * cols, (farthest + 1) * cols));
    moved.set(point, c * cols);
    for (let r = 0; r < rows; r++) {
      const weight = weights === undefined ? 1 : weights[r];
      costs[r] = Math.min(costs[r], weight * squaredDistance(data, r * cols, point, 0, cols));
    }
  }
  return moved;
}
