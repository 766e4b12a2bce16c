// Algorithm 1 where rows stay in their sources: a run on samples, then few passes over all rows to a fixed point of all.

import { checkArray, checkGraph, checkInteger } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { largestDifference, largestMagnitude, type Matrix, type Points, squaredDistance } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { type FitModel, fitOn } from "../fit/fit.ts";
import { type FitOptions, fitOptionNames } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { type Kernel, kernelStatistics, type PreparedPoints, type Statistics } from "../kernel/kernel.ts";
import { labelledModel, type ModelRecord } from "../kernel/model.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { rowsNearBorders, type Source, sourceStatistics } from "./source.ts";

/** Options of `fitSources`: those of `fit` that make sense for rows that stay where they are. */
export interface SourcesOptions extends Omit<FitOptions, "kernel" | "privacy" | "empty"> {
  /** Rows of a device's sample, at most; where every row counts the same, of the largest device. Default 50,000. */
  sample?: number | undefined;
  /** Passes over all rows, at most. Default 30. */
  mostPasses?: number | undefined;
}

const { kernel: _, privacy: __, empty: ___, ...takenOptions } = fitOptionNames;

const sourcesOptionNames: OptionNames<SourcesOptions> = { ...takenOptions, sample: true, mostPasses: true };

/** One pass over all sources. */
export interface PassSummary {
  /** Passes so far, those for rows near borders included. */
  readonly pass: number;
  /** F, on all rows. */
  readonly objective: number;
  readonly totalVariation: number;
  /** How far (M), repeated with the labels of this pass, would move a coordinate. */
  readonly largestMove: number;
}

/** What `fitSources` found. */
export interface SourcesModel
  extends ModelRecord,
    Pick<FitModel, "centroids" | "objective" | "inertia" | "converged" | "penalty"> {
  readonly passes: number;
  readonly history: readonly PassSummary[];
  /** (E1) of all rows at the centroids, for every device. */
  readonly statistics: readonly Statistics[];
}

/**
 * As `fit`, for rows that stay where they are.
 * @example (await fitSources([memorySource(matrix([[0], [2]]))], path(1), { k: 1, alpha: 0 })).inertia // 2
 */
export async function fitSources(
  sources: readonly Source[],
  graph: Graph,
  options: SourcesOptions,
): Promise<SourcesModel> {
  const passes = fitPasses(sources, graph, options);
  for (;;) {
    const step = await passes.next();
    if (step.done) return step.value;
  }
}

/**
 * The same, a pass over all rows at a time.
 * @example
 * const passes = fitPasses([memorySource(matrix([[0], [2]]))], path(1), { k: 1, alpha: 0 });
 * for await (const pass of passes) console.log(pass);
 */
export async function* fitPasses(
  sources: readonly Source[],
  graph: Graph,
  options: SourcesOptions,
): AsyncGenerator<PassSummary, SourcesModel, void> {
  const { sample: sampleRows = 50_000, mostPasses = 30, ...fitting } = options;
  checkArray("sources", sources, "sources, one for each device");
  checkGraph(graph);
  checkOptions(options, sourcesOptionNames, "k and alpha");
  checkInteger("sample", sampleRows, 1);
  checkInteger("mostPasses", mostPasses, 1);
  const sizes = sampleSizes(sources, sampleRows, fitting);
  const samples = await Promise.all(sources.map((source, i) => source.sample(sizes[i], fitting.signal)));
  const devices = sources.map((source, i): SourceDevice => {
    const scale = source.rows / Math.max(1, samples[i].rows);
    return { source, sample: samples[i], prepared: fastKernel.prepare(samples[i]), scale };
  });
  try {
    const { centroids, penalty } = fitOn(samples, graph, fitting);
    // A sample knows how far devices differ by chance only if it is all rows; else the first pass says it.
    const isWhole = devices.every(({ source, sample }) => sample.rows === source.rows);
    const scaled = isWhole && penalty !== undefined ? { ...fitting, penalty } : fitting;
    return yield* passesFrom(centroids, devices, graph, { ...scaled, mostPasses });
  } finally {
    for (const { prepared } of devices) prepared.release();
  }
}

/** A source and a sample of it, each row of which stands for `scale` rows. */
interface SourceDevice {
  readonly source: Source;
  readonly sample: Matrix;
  readonly prepared: PreparedPoints;
  readonly scale: number;
}

/** Rows whose changes are added to a pass. */
type Moving = Omit<SourceDevice, "source"> & { readonly pass: PassResult };

/** Longer than 60 lines: one loop, whose steps share what the last pass has found. */
async function* passesFrom(
  start: readonly Matrix[],
  devices: readonly SourceDevice[],
  graph: Graph,
  { mostPasses, ...fitting }: Omit<FitOptions, "kernel"> & { readonly mostPasses: number },
): AsyncGenerator<PassSummary, SourcesModel, void> {
  const { signal, tol = defaults.tol } = fitting;
  const standIns = devices.map(({ source }) => standInFor(source));
  // The samples have chosen the basin.
  const settled = { ...fitting, candidates: false, freshStarts: 0, rounds: ROUNDS_BETWEEN };
  let { penalty } = fitting;
  const runOn = (points: readonly PreparedPoints[], init: readonly Matrix[]) =>
    fitOn(standIns, graph, { ...settled, penalty, init, kernel: standingIn(standIns, points) });
  const history: PassSummary[] = [];
  let centroids = start;
  let passes = 0;
  let maySample = true;
  let before: FitModel | undefined;
  for (;;) {
    const found = await Promise.all(devices.map(({ source }, i) => passOver(source, centroids[i], signal)));
    passes++;
    const kept = runOn(found.map(keptLabels), centroids);
    // One scale for all passes: with another one the objective of a later pass would be another.
    penalty = kept.penalty;
    const [{ objective, totalVariation }] = kept.history;
    const move = (own: Matrix, i: number) => largestDifference(own.data, kept.centroids[i].data);
    const largestMove = centroids.reduce((most, own, i) => Math.max(most, move(own, i)), 0);
    history.push({ pass: passes, objective, totalVariation, largestMove });
    yield history[history.length - 1];
    const isStill =
      largestMove <= tol * centroids.reduce((most, { data }) => Math.max(most, largestMagnitude(data)), 0);
    if (isStill || passes >= mostPasses) {
      const inertia = found.reduce((sum, { statistics }) => sum + statistics.loss, 0);
      const statistics = found.map((own) => own.statistics);
      const record = { version: 1, options: kept.options as ModelRecord["options"] } as const;
      const common = { ...record, centroids, objective, inertia, converged: isStill, passes, history, statistics };
      return labelledModel(kept.penalty === undefined ? common : { ...common, penalty: kept.penalty });
    }
    const hasRisen = before !== undefined && objective > before.history[0].objective * (1 + ROUNDING);
    if (hasRisen && before !== undefined) {
      // A sample can mislead where clusters are few rows. Kept labels never raise the objective.
      maySample = false;
      centroids = before.centroids;
      continue;
    }
    before = kept;
    const byLabels = kept.centroids;
    const ways = (to: readonly Matrix[], factor: number) => centroids.map((own, i) => factor * longestWay(own, to[i]));
    const moving = devices.map((device, i) => ({ ...device, pass: found[i] }));
    const bySample = maySample ? runNear(runOn, moving, centroids, ways(byLabels, BEYOND_LABELS)) : byLabels;
    const near = await rowsThatMove(devices, centroids, bySample, signal);
    if (near === undefined) {
      centroids = bySample;
      continue;
    }
    passes++;
    const rows = near.map((points, i) => {
      return { sample: points, prepared: fastKernel.prepare(points), scale: 1, pass: found[i] };
    });
    centroids = runNear(runOn, rows, bySample, ways(bySample, BEYOND_SAMPLE));
    for (const { prepared } of rows) prepared.release();
  }
}

/** Most rounds are on rows near the borders at the start alone. The last ones, on all, show whether these were enough. */
function runNear(
  runOn: (points: readonly PreparedPoints[], init: readonly Matrix[]) => FitModel,
  some: readonly Moving[],
  init: readonly Matrix[],
  margins: readonly number[],
): readonly Matrix[] {
  const all = some.map(({ prepared, scale, pass }) => movedBy(prepared, scale, pass));
  const passed = all.map((points, i) => ({ centroids: init[i], statistics: kernelStatistics(points, init[i]) }));
  const near = some.map(({ sample, prepared }, i) =>
    fastKernel.prepare(rowsNearBorders(sample, prepared, init[i], margins[i])),
  );
  const first = near.map((points, i) => movedBy(points, some[i].scale, passed[i]));
  const warm = runOn(first, init).centroids;
  for (const points of near) points.release();
  return runOn(all, warm).centroids;
}

async function passOver(source: Source, centroids: Matrix, signal: AbortSignal | undefined): Promise<PassResult> {
  signal?.throwIfAborted();
  return { centroids, statistics: await sourceStatistics(source, centroids, signal) };
}

/** Between passes rounds cost next to nothing. */
const ROUNDS_BETWEEN = 2000;

/** Of an objective: engines add losses up in any order. */
const ROUNDING = 1e-12;

/** Numbers of the rows near borders of a device. */
const MOST_NEAR = 2 ** 22;

/** Centroids may go this many times as far as a sample says. */
const MARGIN = 3;

/** Mostly more than is left of that way where the samples end, and than a sample goes where kept labels lead somewhere. */
const [BEYOND_SAMPLE, BEYOND_LABELS] = [0.5, 5];

/**
 * Of every device the rows that can change their cluster on a way of about this length; undefined where the samples say
 * that they are too many, or where they are.
 */
async function rowsThatMove(
  devices: readonly SourceDevice[],
  from: readonly Matrix[],
  to: readonly Matrix[],
  signal: AbortSignal | undefined,
): Promise<Matrix[] | undefined> {
  const margins = from.map((centroids, i) => MARGIN * longestWay(centroids, to[i]));
  const most = devices.map(({ source }) => Math.floor(MOST_NEAR / source.cols));
  const isFew = devices.every(
    ({ sample, prepared, scale }, i) =>
      scale * rowsNearBorders(sample, prepared, from[i], margins[i]).rows <= 0.8 * most[i],
  );
  if (!isFew) return undefined;
  const asked = devices.map(({ source }, i) => source.nearBorders(from[i], margins[i], most[i], signal));
  const near = await Promise.all(asked);
  const found = near.filter((points) => points !== undefined);
  return found.length < near.length ? undefined : found;
}

/** Where devices count by their rows, samples are the same share of all, but enough for k clusters. */
function sampleSizes(sources: readonly Source[], most: number, { k, weighting }: Omit<FitOptions, "kernel">): number[] {
  const largest = sources.reduce((rows, source) => Math.max(rows, source.rows), 1);
  const share = weighting === "sample" ? Math.min(1, most / largest) : 1;
  const clusters = typeof k === "number" ? k : Math.max(...k);
  return sources.map(({ rows }) => Math.min(rows, most, Math.max(Math.ceil(share * rows), ENOUGH * clusters)));
}

/** Rows of a sample for each cluster. */
const ENOUGH = 64;

/** How far the centroid goes that goes farthest. */
function longestWay(from: Matrix, { data, rows, cols }: Matrix): number {
  let longest = 0;
  for (let at = 0; at < rows * cols; at += cols)
    longest = Math.max(longest, squaredDistance(data, at, from.data, at, cols));
  return Math.sqrt(longest);
}

// Between two passes a source is replaced by points that answer (E1) from what the last pass found, and from a sample.

/** (E1) of all rows of a source at some centroids. */
interface PassResult {
  readonly centroids: Matrix;
  readonly statistics: Statistics;
}

/** Has the size and the range of a source, and no rows. Only a kernel of `standingIn` knows what it stands for. */
function standInFor({ rows, cols, least, most }: Source): Matrix {
  return { data: Float64Array.of(...least, ...most), rows, cols };
}

/** A kernel whose points are the given ones, each for its stand-in. */
function standingIn(standIns: readonly Matrix[], points: readonly PreparedPoints[]): Kernel {
  const known = new Map<Points, PreparedPoints>(standIns.map((standIn, i) => [standIn, points[i]]));
  return { name: "stand-in", prepare: (standIn) => known.get(standIn) as PreparedPoints };
}

/** Every row keeps the cluster that the pass found for it. Then its loss is an upper bound, and touches the true one there. */
function keptLabels({ centroids: { data: from, cols }, statistics: found }: PassResult): PreparedPoints {
  return answering((centroids, /* OUT */ into) => {
    let loss = found.loss;
    for (let c = 0, at = 0; c < found.counts.length; c++) {
      for (let j = 0; j < cols; j++, at++) {
        const way = centroids[at] - from[at];
        loss += way * (found.counts[c] * (way + 2 * from[at]) - 2 * found.sums[at]);
      }
    }
    into.counts.set(found.counts);
    into.sums.set(found.sums);
    into.loss = Math.max(0, loss);
  });
}

/**
 * What the pass found, plus `scale` times what some of the rows change on the way from there. With a sample that is exact
 * at the centroids of the pass, and errs near them by a small share of the way. With all rows near the borders it is exact
 * as far as their margin reaches.
 */
function movedBy(some: PreparedPoints, scale: number, { centroids: from, statistics: found }: PassResult) {
  const before = kernelStatistics(some, from);
  const moved = (all: number, then: number, now: number) => (now === then ? all : all + scale * (now - then));
  return answering((centroids, /* OUT */ into) => {
    some.statistics(centroids, into);
    for (let i = 0; i < into.sums.length; i++) into.sums[i] = moved(found.sums[i], before.sums[i], into.sums[i]);
    for (let c = 0; c < from.rows; c++) {
      into.counts[c] = moved(found.counts[c], before.counts[c], into.counts[c]);
      if (into.counts[c] > 0) continue;
      // A sample may take away more rows than there are.
      into.counts[c] = 0;
      into.sums.fill(0, c * from.cols, (c + 1) * from.cols);
    }
    into.loss = Math.max(0, moved(found.loss, before.loss, into.loss));
  });
}

function answering(statistics: (centroids: Float64Array, /* OUT */ into: Statistics) => void): PreparedPoints {
  const refuse = () => {
    throw new TypeError("rows of a source cannot be labelled here");
  };
  return { statistics, labels: refuse, squaredDistances: refuse, release() {} };
}
