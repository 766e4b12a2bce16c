// How good a result is: the discrepancy and what is built on it (GTV, GTVMin, GCD, CV), and the field's usual scores.

import {
  checkArray,
  checkAtLeastZero,
  checkGraph,
  checkMatrix,
  checkNetwork,
  checkNumbers,
  checkOneOf,
  checkShape,
} from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { checkOptions, type Settled } from "../data/optionNames.ts";
import { rowMasses } from "../data/rowWeights.ts";
import { fitOptionNames, type Weighting } from "../fit/fitOptions.ts";
import { networkPointScales } from "../fit/network.ts";
import { type Graph, packGraph } from "../graph/graph.ts";
import { twoNearest } from "../kernel/kernel.ts";
import { lossOf } from "../kernel/model.ts";
import {
  type Coupling,
  checkScaledPenalty,
  couplingDiscrepancy,
  couplings,
  couplingVariation,
  emptyMatches,
  match,
  type Penalty,
  packSets,
} from "../update/coupling.ts";

/**
 * d(V, W) of two centroid sets, whatever their order. Sets of different sizes need "nearest".
 * @example discrepancy(matrix([[0], [5]]), matrix([[5], [1]])) // 2
 */
export function discrepancy(a: Matrix, b: Matrix, coupling: Coupling = defaults.coupling): number {
  checkMatrix("a", a);
  checkMatrix("b", b);
  checkSets([a, b], coupling);
  return couplingDiscrepancy(a, b, coupling);
}

/**
 * For every centroid of `own` the one of `reference` that stands for the same cluster: the cheapest one-to-one map.
 * @example matchCentroids(matrix([[0], [5]]), matrix([[6], [1]])) // [1, 0]
 */
export function matchCentroids(own: Matrix, reference: Matrix): Uint32Array {
  checkMatrix("own", own);
  checkMatrix("reference", reference);
  checkSets([own, reference], "transport");
  const matches = emptyMatches(own.rows);
  match("transport", own.data, 0, own.rows, reference.data, 0, own.rows, own.cols, matches);
  return matches.toOther;
}

/**
 * GTV: the sum over the edges of A(i, j) d(W_i, W_j), or of its penalty.
 * @example totalVariation([matrix([[0]]), matrix([[2]])], path(2)) // 8
 */
export function totalVariation(
  centroids: readonly Matrix[],
  graph: Graph,
  coupling: Coupling = defaults.coupling,
  penalty: Penalty = defaults.penalty,
): number {
  checkSetsOf(graph, centroids, coupling);
  return totalVariationOf(centroids, graph, coupling, checkScaledPenalty(penalty));
}

/** By what a result is judged. Whoever has the options of its `fit` can give them as they are. */
export interface ObjectiveOptions {
  /** Strength of the penalty. */
  alpha: number;
  /** How centroids of two devices are matched. Default "nearest". */
  coupling?: Coupling | undefined;
  /** Whether devices or samples count the same. Default "device". */
  weighting?: Weighting | undefined;
  /** With its scale, as `fit` returns it. Default "squared". */
  penalty?: Penalty | undefined;
}

export type ObjectiveSettings = Settled<ObjectiveOptions>;

/**
 * F of GTVMin: sum_i u_i (1 / m_i) sum_r min_c |w(i,c) - x(i,r)|^2 + alpha GTV.
 * @example objective([matrix([[0], [2]])], [matrix([[1]])], path(1), { alpha: 1 }) // 1
 */
export function objective(
  datasets: readonly Matrix[],
  centroids: readonly Matrix[],
  graph: Graph,
  options: ObjectiveOptions,
): number {
  return objectiveOf(datasets, centroids, graph, checkedObjective(datasets, centroids, graph, options)).objective;
}

/** The options of an objective with their defaults, checked. */
export function objectiveSettings(options: ObjectiveOptions): ObjectiveSettings {
  const { alpha, coupling = defaults.coupling, weighting = defaults.weighting, penalty = defaults.penalty } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  return { alpha, coupling, weighting, penalty: checkScaledPenalty(penalty) };
}

/** The same, and everything else that an objective needs is checked too. */
export function checkedObjective(
  datasets: readonly Matrix[],
  centroids: readonly Matrix[],
  graph: Graph,
  options: ObjectiveOptions,
): ObjectiveSettings {
  checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "alpha");
  const settings = objectiveSettings(options);
  checkSetsOf(graph, centroids, settings.coupling);
  checkColumns(datasets, centroids);
  return settings;
}

/**
 * Local distortion: half the sum of squared distances from every point to its own device's nearest centroid.
 * @example distortion([matrix([[0], [2]])], [matrix([[1]])]) // 1
 */
export function distortion(datasets: readonly Matrix[], centroids: readonly Matrix[]): number {
  checkArray("datasets", datasets, "matrices, one for each device");
  checkSets(centroids, "nearest", datasets.length, "of datasets");
  for (const [i, points] of datasets.entries()) checkMatrix(`datasets[${i}]`, points);
  checkColumns(datasets, centroids);
  return datasets.reduce((sum, points, i) => sum + lossOf(points, centroids[i]), 0) / 2;
}

function checkColumns(datasets: readonly Matrix[], centroids: readonly Matrix[]): void {
  datasets.forEach((points, i) => {
    if (points.rows > 0) {
      checkShape(`datasets[${i}]`, points, points.rows, centroids[i].cols, "the columns of centroids");
    }
  });
}

/**
 * GCD: how far the devices are from a reference (the pooled solution), per centroid. "transport" gives the
 * Hungarian-aligned form.
 * @example globalCentroidDeviation([matrix([[0]]), matrix([[2]])], matrix([[1]])) // 1
 */
export function globalCentroidDeviation(
  centroids: readonly Matrix[],
  reference: Matrix,
  coupling: Coupling = defaults.coupling,
): number {
  checkArray("centroids", centroids, "matrices, one for each device");
  checkMatrix("reference", reference);
  checkSets([reference, ...centroids], coupling);
  const sum = centroids.reduce((total, own) => total + couplingDiscrepancy(own, reference, coupling), 0);
  return sum / (sides(coupling) * centroids.length * reference.rows);
}

/**
 * CV: how far neighbours are from each other, per centroid, averaged over the neighbours of each device that has any.
 * Counts neighbours, not edge weights; 0 without edges.
 * @example consensusVariation([matrix([[0]]), matrix([[2]])], path(2)) // 4
 */
export function consensusVariation(
  centroids: readonly Matrix[],
  graph: Graph,
  coupling: Coupling = defaults.coupling,
): number {
  checkSetsOf(graph, centroids, coupling);
  let linked = 0;
  let sum = 0;
  graph.neighbours.forEach((row, i) => {
    if (row.length === 0) return;
    linked++;
    const own =
      row.reduce((total, j) => total + couplingDiscrepancy(centroids[i], centroids[j], coupling), 0) / row.length;
    sum += own / centroids[i].rows;
  });
  return linked === 0 ? 0 : sum / (sides(coupling) * linked);
}

/** The nearest form counts every pair from both sides, the transport form once. */
function sides(coupling: Coupling): number {
  return coupling === "nearest" ? 2 : 1;
}

function checkSets(centroids: readonly Matrix[], coupling: Coupling, count = centroids?.length, of = ""): void {
  checkOneOf("coupling", coupling, couplings);
  checkArray("centroids", centroids, "matrices, one for each device");
  if (centroids.length === 0) throw new RangeError("centroids needs at least one set");
  checkMatrix("centroids[0]", centroids[0]);
  const { rows, cols } = centroids[0];
  centroids.forEach((own, i) => {
    checkMatrix(`centroids[${i}]`, own);
    if (own.rows === 0 || cols === 0) throw new RangeError(`centroids[${i}] must not be empty`);
    if (coupling === "transport") checkShape(`centroids[${i}]`, own, rows, cols, "as centroids[0], for transport");
    else checkShape(`centroids[${i}]`, own, own.rows, cols, "the columns of centroids[0]");
  });
  if (centroids.length !== count) {
    throw new RangeError(`centroids must have ${count} sets (one for each ${of}), got ${centroids.length}`);
  }
}

function checkSetsOf(graph: Graph, centroids: readonly Matrix[], coupling: Coupling): void {
  checkGraph(graph);
  checkSets(centroids, coupling, graph.size, "device of graph");
}

/**
 * ARI of two labellings: 1 for the same partition, about 0 for independent ones.
 * @example adjustedRandIndex([0, 0, 1, 1], [1, 1, 0, 0]) // 1
 */
export function adjustedRandIndex(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const { total, sums } = contingency(a, b);
  const [together, inA, inB] = sums((count) => (count * (count - 1)) / 2);
  const expected = total < 2 ? 0 : (inA * inB) / ((total * (total - 1)) / 2);
  const most = (inA + inB) / 2;
  // Both all alone or both all together: the same partition.
  return most === expected ? 1 : (together - expected) / (most - expected);
}

/**
 * NMI of two labellings, normalised by the mean of their entropies; 1 if both have one cluster, 0 without information.
 * @example normalizedMutualInformation([0, 0, 1, 1], [1, 1, 0, 0]) // 1
 */
export function normalizedMutualInformation(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const { total, sums, cells } = contingency(a, b);
  if (cells <= 1) return 1;
  const [together, inA, inB] = sums((count) => -(count / total) * ln(count / total));
  return Math.max(0, inA + inB - together) / ((inA + inB) / 2);
}

/** How many points have both labels, the first and the second; `sums` adds up a function of these counts, for each of the three. */
function contingency(a: ArrayLike<number>, b: ArrayLike<number>) {
  checkNumbers("a", a);
  checkNumbers("b", b);
  if (a.length !== b.length) throw new RangeError(`labellings must be of one length, got ${a.length} and ${b.length}`);
  const cells = new Map<string, number>();
  const rows = new Map<number, number>();
  const columns = new Map<number, number>();
  for (let i = 0; i < a.length; i++) {
    const cell = `${a[i]} ${b[i]}`;
    cells.set(cell, (cells.get(cell) ?? 0) + 1);
    rows.set(a[i], (rows.get(a[i]) ?? 0) + 1);
    columns.set(b[i], (columns.get(b[i]) ?? 0) + 1);
  }
  const sums = (term: (count: number) => number) =>
    [cells, rows, columns].map((counts) => Array.from(counts.values()).reduce((sum, count) => sum + term(count), 0));
  return { total: a.length, cells: cells.size, sums };
}

/**
 * Mean over the points of (b - a) / max(a, b), a and b the distances to the nearest and the next centroid. 0 for one
 * centroid, for a point on two of them, and without points.
 * @example simplifiedSilhouette(matrix([[0], [4]]), matrix([[0], [4]])) // 1
 */
export function simplifiedSilhouette(points: Matrix, centroids: Matrix): number {
  checkMatrix("points", points);
  checkMatrix("centroids", centroids);
  checkSets([centroids], "nearest");
  if (points.rows > 0 && centroids.rows > 1) {
    checkShape("points", points, points.rows, centroids.cols, "the columns of centroids");
  }
  return silhouetteOf(points, centroids);
}

/** The same on matrices that were checked. */
export function silhouetteOf(points: Matrix, centroids: Matrix): number {
  const { rows: k, cols } = centroids;
  if (points.rows === 0 || k === 1) return 0;
  let sum = 0;
  for (let r = 0; r < points.rows; r++) {
    const { nearest, next } = twoNearest(points.data, r * cols, centroids);
    if (next > 0) sum += 1 - Math.sqrt(nearest) / Math.sqrt(next);
  }
  return sum / points.rows;
}

// F of GTVMin and its parts, on data and centroids that were checked: the functions above check and call these.

function totalVariationOf(centroids: readonly Matrix[], graph: Graph, coupling: Coupling, penalty: Penalty): number {
  const matches = emptyMatches(centroids.reduce((most, { rows }) => Math.max(most, rows), 0));
  return couplingVariation(packSets(centroids, centroids[0].cols), packGraph(graph), coupling, matches, penalty);
}

/** F, GTV and the sum of all squared distances. `losses` are those of the devices, where they are known. */
export function objectiveOf(
  datasets: readonly Matrix[],
  centroids: readonly Matrix[],
  graph: Graph,
  { alpha, coupling, weighting, penalty }: ObjectiveSettings,
  losses: readonly number[] = datasets.map((points, i) => lossOf(points, centroids[i])),
): { readonly objective: number; readonly totalVariation: number; readonly inertia: number } {
  const totalVariation = totalVariationOf(centroids, graph, coupling, penalty);
  const scales = networkPointScales(rowMasses({ datasets, weights: undefined }), weighting);
  const loss = losses.reduce((sum, own, i) => sum + scales[i] * own, 0);
  const inertia = losses.reduce((sum, own) => sum + own, 0);
  return { objective: loss + alpha * totalVariation, totalVariation, inertia };
}
