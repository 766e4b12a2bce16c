// With whom to cooperate, without pooling: a link goes where one set of k clusters cannot serve both of its ends.

import { checkInteger, checkKernel, checkNetwork, checkSeed } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions } from "../data/optionNames.ts";
import { randomStream } from "../data/random.ts";
import { type FitOptions, fitOptionNames } from "../fit/fitOptions.ts";
import { edges, type Graph, graphOf } from "../graph/graph.ts";
import { addTraffic, leastSupport, sendTraffic, type Traffic } from "../graph/traffic.ts";
import { jsKernel } from "../kernel/js.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { bestOf, type KMeansModel, kmeansOn } from "../start/kmeans.ts";
import { joinSketches, type Sketch, sketchOf } from "../start/sketch.ts";
import type { Settled } from "../update/updateOptions.ts";
import { cellsOf, differ, isSplit, sharedCells } from "./cells.ts";

/** Whoever has the options of a `fit` can give them as they are. */
export interface ChooseLinksOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel"> {
  /** Clusters of all devices together, as for `fit`. */
  k: number;
}

export interface LinkChoice {
  /** The same devices with the links that stay. */
  readonly graph: Graph;
  /** The others. */
  readonly dropped: readonly (readonly [number, number])[];
  readonly messages: number;
  readonly bytes: number;
  /** What a device has to send for this. */
  readonly reveals: string;
}

/** A device that has enough rows to judge by. */
interface Judge {
  readonly points: Matrix;
  readonly sketch: Sketch;
  /** Its own k clusters. */
  readonly own: KMeansModel;
}

/** The common clusters are found on a few dozen centroids, so many starts are cheap. */
const STARTS = 50;

/**
 * Strangers pull each other's centroids to where nobody has points, the more the larger alpha is. The ends of a link find
 * the k clusters that would serve both. The link goes if their rows in one of these differ by more than chance explains,
 * or if one end has to give up clusters of its own where the other has none. Clusters that one end lacks do not count.
 */
export function chooseLinks(datasets: readonly Matrix[], graph: Graph, options: ChooseLinksOptions): LinkChoice {
  const cols = checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "k");
  const { k, minimum = defaults.minimum, restarts = defaults.restarts, seed = defaults.seed } = options;
  const { kernel = fastKernel } = options;
  checkInteger("k", k, 1);
  checkInteger("minimum", minimum, 1);
  checkInteger("restarts", restarts, 1);
  checkSeed(seed);
  checkKernel(kernel);
  const judges = datasets.map((points, i) =>
    judgeOf(points, i, { k, kernel, restarts, seed, minimum: leastSupport(graph, i, minimum) }),
  );
  const [kept, dropped]: [[number, number, number][], [number, number][]] = [[], []];
  let judged = 0;
  for (const [i, j, weight] of edges(graph)) {
    const [lower, upper] = [judges[i], judges[j]];
    // Few rows judge nothing and send nothing: their centroids would be the rows.
    const areBoth = lower !== undefined && upper !== undefined;
    if (areBoth) judged++;
    if (areBoth && areStrangers(lower, upper, k, minimum, `${seed} ${i} ${j}`)) dropped.push([i, j]);
    else kept.push([i, j, weight]);
  }
  // For each cluster a count, a mean, a spread, a shape and whether it is split; before these the number of rows.
  const statistics: Traffic = { messages: judged, bytes: 8 * judged * (1 + k * (cols + 4)) };
  const answers: Traffic = { messages: judged, bytes: 8 * judged };
  return {
    graph: graphOf(graph.size, kept),
    dropped,
    ...addTraffic(sendTraffic(graph, judges.map(numbersOf)), statistics, answers),
    reveals: revealed(minimum),
  };
}

function numbersOf(judge: Judge | undefined): number {
  return judge === undefined ? 0 : judge.sketch.centroids.data.length + judge.sketch.counts.length;
}

function judgeOf(points: Matrix, device: number, options: Settled<ChooseLinksOptions>): Judge | undefined {
  if (points.rows <= options.k) return undefined;
  const prepared = options.kernel.prepare(points);
  const sketch = sketchOf({ points, prepared, cols: points.cols }, device, options);
  prepared.release();
  if (sketch.counts.length === 0) return undefined;
  return { points, sketch, own: kmeansOn(points, options) };
}

/** Both ends know both sketches, so both find the same clusters. */
function areStrangers(lower: Judge, upper: Judge, k: number, minimum: number, name: string): boolean {
  const joined = joinSketches([lower.sketch, upper.sketch]);
  const common = joined.counts.length > k ? commonClusters(joined, k, name) : joined.centroids;
  const [below, above] = [lower, upper].map(({ points }) => cellsOf(points, common, minimum));
  const rows = [lower.points.rows, upper.points.rows] as const;
  const isShared = sharedCells(below, above, rows);
  if (differ(below, above, isShared)) return true;
  // Half as many rows as a common cluster has of each device. Fewer are better joined than served alone.
  const least = (rows[0] + rows[1]) / (4 * k);
  return [lower, upper].some(({ points, own }, end) => {
    const clearRows = [below, above][end].map((cell, c) => (isShared[c] ? 0 : (cell?.count ?? 0)));
    return isSplit(points, own, common, clearRows, least);
  });
}

function commonClusters({ centroids: points, counts: weights }: Sketch, k: number, name: string): Matrix {
  const run = { points, weights, prepared: jsKernel.prepare(points, weights), k, maxIter: 100, tol: 0 };
  return bestOf(run, STARTS, { of: (start) => randomStream(start, "links", name) }).centroids;
}

function revealed(minimum: number): string {
  const rows = minimum === 1 ? "1 row" : `${minimum} rows`;
  return (
    `a device sends its neighbours means of its rows with their counts, none of fewer than ${rows}; over each link one ` +
    "end sends the other how many rows it has, and for each cluster that would be common to both (again none of " +
    `fewer than ${rows}) the count, mean, spread and shape of its rows and whether they are several clusters of its ` +
    "own, and gets the answer; neighbours that compare what they got learn the differences"
  );
}
