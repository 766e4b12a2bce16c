// Data that come in pieces: every device keeps a weighted summary of its rows so far, and the network fits the summaries.

import { checkArray, checkInteger, checkMatrix, checkNetwork, checkWeights } from "../data/check.ts";
import { datasetColumns, type Matrix, type Points, squaredDistance, stack, widenPoints } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import type { Graph } from "../graph/graph.ts";
import { labellingModel } from "../kernel/model.ts";
import { kmeansOn } from "../start/kmeans.ts";
import { emptyMatches, match } from "../update/coupling.ts";
import { countedRows, type FitModel, fitWeighted } from "./fit.ts";
import { type FitOptions, fitOptionNames } from "./fitOptions.ts";

/** What a device keeps of its rows: rows and means of rows, and how many each stands for. */
export interface RowSummary {
  readonly points: Matrix;
  readonly weights: Float64Array;
  /** The sum of squared distances of rows to the means that stand for them. */
  readonly lost: number;
}

/** Options of `partialFit`: those of `fit` for clusters of one number, and the size of the summary. */
export interface PartialFitOptions extends FitOptions {
  /** Clusters of every device. */
  k: number;
  /** Rows and means that a device keeps at most. Default 100 for each cluster, and at least 2,000. */
  summaryRows?: number | undefined;
}

const partialFitOptionNames: OptionNames<PartialFitOptions> = { ...fitOptionNames, summaryRows: true };

/** What `partialFit` found. Give it to the next call, with the next rows. */
export interface PartialFitModel extends FitModel {
  /** Of the rows of every device so far. They stay on the devices: only centroids travel. */
  readonly summaries: readonly RowSummary[];
}

const USUAL_SUMMARY = { perCluster: 100, least: 2000 };

/** A summary is halved, so that it is not made anew for every few rows. Its clusters need not have settled. */
const SUMMARY_ITERATIONS = 5;

/**
 * `fit` for rows that come in pieces: each call takes the next rows of every device, which may be none, and answers for all
 * rows so far. Clusters keep their numbers from call to call. `labels()` are those of the new rows.
 * @example
 * const first = partialFit(undefined, [matrix([[0], [9]])], path(1), { k: 2, alpha: 1 });
 * partialFit(first, [matrix([[1], [10]])], path(1), { k: 2, alpha: 1 }).centroids[0].data // [0.5, 9.5]
 */
export function partialFit(
  before: Pick<PartialFitModel, "centroids" | "summaries"> | undefined,
  batches: readonly Points[],
  graph: Graph,
  options: PartialFitOptions,
): PartialFitModel {
  checkNetwork(batches, graph);
  checkOptions(options, partialFitOptionNames, "k and alpha");
  const { k, weights, summaryRows, ...rest } = options;
  checkInteger("k", k, 1);
  const most = summaryRows ?? Math.max(USUAL_SUMMARY.least, USUAL_SUMMARY.perCluster * k);
  checkInteger("summaryRows", most, 2 * k, undefined, "twice k");
  const cols = datasetColumns(batches);
  if (before !== undefined) checkBefore(before);
  if (before !== undefined && (before.summaries.length !== graph.size || before.centroids[0].cols !== cols)) {
    const [devices, columns] = [before.summaries.length, before.centroids[0].cols];
    throw new RangeError(
      `batches must be of ${devices} devices with ${columns} columns (as before), got ${graph.size} with ${cols}`,
    );
  }
  const ones = batches.map(({ rows }) => new Float64Array(rows).fill(1));
  // Checked as those of fit, which also refuses what counts rows: a mean is no row.
  const added = countedRows(batches, { ...options, weights: weights ?? ones });
  const summaries = added.datasets.map((points, i): RowSummary => {
    const own = {
      points: widenPoints(points),
      weights: added.weights?.[i] ?? new Float64Array(points.rows).fill(1),
      lost: 0,
    };
    return halved(before === undefined ? own : joined(before.summaries[i], own), most);
  });
  const rows = { datasets: summaries.map(({ points }) => points), weights: summaries.map((own) => own.weights) };
  const { labels: _, ...found } = fitWeighted(rows, batches, graph, { ...rest, k });
  const centroids =
    before === undefined ? found.centroids : found.centroids.map((own, i) => numbered(own, before.centroids[i]));
  const inertia = found.inertia + summaries.reduce((sum, { lost }) => sum + lost, 0);
  return labellingModel({ ...found, centroids, inertia, summaries }, batches);
}

/** It may come from a file. */
function checkBefore(before: Pick<PartialFitModel, "centroids" | "summaries">): void {
  const { centroids, summaries } = Object(before) as Partial<typeof before>;
  checkArray("before.centroids", centroids, "matrices");
  checkArray("before.summaries", summaries, "what partialFit answered");
  centroids?.forEach((own, i) => {
    checkMatrix(`before.centroids[${i}]`, own);
  });
  summaries?.forEach((own, i) => {
    const { points, weights } = Object(own) as RowSummary;
    checkMatrix(`before.summaries[${i}].points`, points);
    checkWeights(weights, points.rows, `before.summaries[${i}].weights`, "the rows of its points");
  });
  if (centroids?.length !== summaries?.length || centroids?.length === 0) {
    throw new RangeError("before must have centroids and a summary for each device");
  }
}

function joined(a: RowSummary, b: RowSummary): RowSummary {
  const weights = new Float64Array(a.weights.length + b.weights.length);
  weights.set(a.weights);
  weights.set(b.weights, a.weights.length);
  return { points: stack([a.points, b.points]), weights, lost: a.lost + b.lost };
}

/** Half as many means as are allowed, where there are more rows: the means of small clusters. */
function halved(summary: RowSummary, most: number): RowSummary {
  const { points, weights, lost } = summary;
  if (points.rows <= most) return summary;
  const { data, cols } = points;
  const k = Math.ceil(most / 2);
  const { labels } = kmeansOn(points, { k, weights, restarts: 1, maxIter: SUMMARY_ITERATIONS });
  const masses = new Float64Array(k);
  const means = new Float64Array(k * cols);
  labels.forEach((label, r) => {
    masses[label] += weights[r];
    for (let c = 0; c < cols; c++) means[label * cols + c] += weights[r] * data[r * cols + c];
  });
  for (let x = 0; x < means.length; x++) means[x] /= masses[Math.floor(x / cols)];
  const within = labels.reduce(
    (sum, label, r) => sum + weights[r] * squaredDistance(data, r * cols, means, label * cols, cols),
    0,
  );
  const kept = Array.from(masses.keys()).filter((c) => masses[c] > 0);
  const rows = kept.map((c) => Array.from(means.subarray(c * cols, (c + 1) * cols)));
  return {
    points: { data: Float64Array.from(rows.flat()), rows: kept.length, cols },
    weights: Float64Array.from(kept, (c) => masses[c]),
    lost: lost + within,
  };
}

/** The centroids of device i, those that stand for the same clusters in the places that they had. */
function numbered(own: Matrix, reference: Matrix): Matrix {
  if (reference.rows !== own.rows) return own;
  const { rows, cols } = own;
  const matches = emptyMatches(rows);
  match("transport", own.data, 0, rows, reference.data, 0, rows, cols, matches);
  const data = new Float64Array(own.data.length);
  for (const [from, c] of matches.toOther.entries()) {
    data.set(own.data.subarray(from * cols, (from + 1) * cols), c * cols);
  }
  return { data, rows, cols };
}
