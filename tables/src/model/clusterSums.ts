// The rows of each cluster on all devices together, by sums: their mean, their spread, and how far the devices differ.

import { type ClusterChoice, type Graph, type Matrix, matchCentroids, predict } from "@fedkm/core";
import { type Scaling, undoScaling, unscaled } from "@fedkm/files";
import type { ClusterModel, FittedModel } from "./model.ts";

// One numbering of clusters for all devices: counterparts share a number, and cluster 0 has the most rows of all, or
// the most weight.

/** The same centroids in the common order. Counterparts are those of the largest device: what it has is known best. */
export function clustersInModelOrder(
  centroids: readonly Matrix[],
  datasets: readonly Matrix[],
  weights?: readonly ArrayLike<number>[],
): Matrix[] {
  const reference = centroids[largestOf(datasets)];
  const k = reference.rows;
  const toReference = centroids.map((own) => matchCentroids(own, reference));
  const sizes = new Float64Array(k);
  datasets.forEach((points, i) => {
    if (points.rows === 0) return;
    const labels = predict(centroids[i], points);
    for (const [r, label] of labels.entries()) sizes[toReference[i][label]] += weights?.[i][r] ?? 1;
  });
  // Of equal ones the lower by its first column comes first, so that numbers do not depend on the order of rows.
  const order = Array.from(sizes.keys()).sort((a, b) => sizes[b] - sizes[a] || compareRows(reference, a, b));
  return centroids.map(({ data, rows, cols }, i) => {
    const own = order.map((cluster) => toReference[i].indexOf(cluster));
    const ordered = new Float64Array(data.length);
    own.forEach((c, at) => {
      ordered.set(data.subarray(c * cols, (c + 1) * cols), at * cols);
    });
    return { data: ordered, rows, cols };
  });
}

function compareRows({ data, cols }: Matrix, a: number, b: number): number {
  for (let c = 0; c < cols; c++) {
    const difference = data[a * cols + c] - data[b * cols + c];
    if (difference !== 0) return difference;
  }
  return a - b;
}

function largestOf(datasets: readonly Matrix[]): number {
  return datasets.reduce((largest, { rows }, i) => (rows > datasets[largest].rows ? i : largest), 0);
}

/** In scaled units. Entry i k + c of a list by device and cluster is that of cluster c on device i. */
export interface ClusterSums {
  readonly k: number;
  readonly cols: number;
  /** By device and cluster. */
  readonly counts: Float64Array;
  readonly means: Float64Array;
  /** By cluster, on all devices. */
  readonly totals: Float64Array;
  readonly common: Float64Array;
  /**
   * By cluster: the squared spread, from the rows around the means of their own devices. NaN where no device has two
   * rows, or where rows differ by rounding alone.
   */
  readonly variances: Float64Array;
  /** By cluster and column: the sum of the squares of the rows of all devices around the common mean. */
  readonly squares: Float64Array;
  /** Where columns are transformed, so that means do not follow from those of scaled rows: `means`, `common` in units. */
  readonly arithmetic?: { readonly means: Float64Array; readonly common: Float64Array };
}

/** Squares of smaller shares of the largest coordinate are rounding. */
const ROUNDING = 1e-9;

/** `datasets` are on the scale, `labels` are the clusters of their rows. */
export function clusterSums(
  datasets: readonly Matrix[],
  labels: readonly Uint32Array[],
  k: number,
  scaling: Scaling,
): ClusterSums {
  const [{ cols }] = datasets;
  const { counts, means, totals, common } = clusterMeans(datasets, labels, k);
  const arithmetic = scaling.transforms && clusterMeans(datasets, labels, k, scaling);
  const { squares, largest } = ownSquares(datasets, labels, { k, cols, means });
  const variances = totals.map((_, c) => {
    let degrees = 0;
    for (let at = c; at < counts.length; at += k) degrees += Math.max(0, counts[at] - 1);
    const variance = squares.subarray(c * cols, (c + 1) * cols).reduce((sum, square) => sum + square, 0) / degrees;
    return variance > (ROUNDING * largest) ** 2 ? variance : Number.NaN;
  });
  for (const [at, count] of counts.entries()) {
    if (count === 0) continue;
    const from = (at % k) * cols;
    for (let x = 0; x < cols; x++) squares[from + x] += count * (means[at * cols + x] - common[from + x]) ** 2;
  }
  return { k, cols, counts, means, totals, common, variances, squares, ...(arithmetic && { arithmetic }) };
}

/** By device and cluster, and by cluster on all devices: counts and means, in the user's units if a scaling is given. */
function clusterMeans(datasets: readonly Matrix[], labels: readonly Uint32Array[], k: number, scaling?: Scaling) {
  const [{ cols }] = datasets;
  const counts = new Float64Array(datasets.length * k);
  const means = new Float64Array(counts.length * cols);
  datasets.forEach(({ data, rows }, i) => {
    const own = labels[i];
    for (let r = 0, from = 0; r < rows; r++, from += cols) {
      const at = i * k + own[r];
      counts[at]++;
      for (let x = 0; x < cols; x++) {
        means[at * cols + x] += scaling === undefined ? data[from + x] : unscaled(scaling, x, data[from + x]);
      }
    }
  });
  const totals = new Float64Array(k);
  const common = new Float64Array(k * cols);
  for (const [at, count] of counts.entries()) {
    totals[at % k] += count;
    for (let x = 0; x < cols; x++) common[(at % k) * cols + x] += means[at * cols + x];
    for (let x = 0; x < cols; x++) means[at * cols + x] /= count;
  }
  for (let x = 0; x < common.length; x++) common[x] /= totals[Math.floor(x / cols)];
  return { counts, means, totals, common };
}

/** Arithmetic means in the user's units, by device and cluster, and by cluster on all devices. */
export function meansInUnits({ cols, means, common, arithmetic }: ClusterSums, scaling: Scaling) {
  if (arithmetic !== undefined) return arithmetic;
  const inUnits = (data: Float64Array) => undoScaling({ data, rows: data.length / cols, cols }, scaling).data;
  return { means: inUnits(means), common: inUnits(common) };
}

/** By cluster and column the squares of rows around the means of their own devices, and the largest coordinate. */
function ownSquares(
  datasets: readonly Matrix[],
  labels: readonly Uint32Array[],
  { k, cols, means }: Pick<ClusterSums, "k" | "cols" | "means">,
): { squares: Float64Array; largest: number } {
  const squares = new Float64Array(k * cols);
  let largest = 0;
  datasets.forEach(({ data, rows }, i) => {
    const own = labels[i];
    for (let r = 0, at = 0; r < rows; r++) {
      const to = own[r] * cols;
      const from = i * k * cols + to;
      for (let x = 0; x < cols; x++, at++) {
        const size = Math.abs(data[at]);
        if (size > largest) largest = size;
        squares[to + x] += (data[at] - means[from + x]) ** 2;
      }
    }
  });
  return { squares, largest };
}

/** The squared distance of row `a` of one list of means to row `b` of another. */
export function squaredMeanDistance(
  means: Float64Array,
  a: number,
  others: Float64Array,
  b: number,
  cols: number,
): number {
  let sum = 0;
  for (let x = 0; x < cols; x++) sum += (means[a * cols + x] - others[b * cols + x]) ** 2;
  return sum;
}

/** A mean of n rows lies within so many spread / sqrt(n) of the true one, whatever it is a mean of. */
export const BEYOND_CHANCE = 3;

export function clustersOfModel(sums: ClusterSums, names: readonly string[], scaling: Scaling): ClusterModel[] {
  const { k, cols, totals, common, variances } = sums;
  const { common: data } = meansInUnits(sums, scaling);
  const { data: centroids } = undoScaling({ data: common, rows: k, cols }, scaling);
  const ofCluster = (list: Float64Array, c: number) => Array.from(list.subarray(c * cols, (c + 1) * cols));
  return Array.from({ length: k }, (_, c): ClusterModel => {
    const rows = totals[c];
    const spread = Math.sqrt(variances[c]);
    const mean = rows === 0 ? null : ofCluster(data, c);
    const where = { mean, ...(sums.arithmetic && rows > 0 && { centroid: ofCluster(centroids, c) }) };
    const alike = { rows, ...where, spread: null, difference: null, farthest: null, farthestDifference: null };
    if (rows === 0 || Number.isNaN(spread)) return alike;
    const { difference, device, distance } = differenceOf(sums, c, spread);
    const farthest = device < 0 ? {} : { farthest: names[device], farthestDifference: distance };
    return { ...alike, spread, difference, ...farthest };
  });
}

/** The root mean square over the rows, less what means of so few rows differ by anyway; and the farthest device. */
function differenceOf({ k, cols, counts, means, totals, common }: ClusterSums, c: number, spread: number) {
  let [square, present, device, distance, surest] = [0, 0, -1, 0, 0];
  for (let i = 0; i * k < counts.length; i++) {
    const count = counts[i * k + c];
    if (count === 0) continue;
    present++;
    const own = squaredMeanDistance(means, i * k + c, common, c, cols) / (spread * spread);
    square += count * own;
    const sure = Math.sqrt(own) - BEYOND_CHANCE / Math.sqrt(count);
    if (sure > surest) [device, distance, surest] = [i, Math.sqrt(own), sure];
  }
  return { difference: Math.sqrt(Math.max(0, square - (present - 1)) / totals[c]), device, distance };
}

// The outcome of a fit: the model that is written, the rows and labels behind it, and what is to be said about it.

export interface FittedRows {
  readonly model: FittedModel;
  /** Of each device, on the model's scale. */
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  /** Of the rows in each cluster, device by device. */
  readonly sums: ClusterSums;
  readonly graph: Graph;
  /** Whether cluster c means the same on every device. */
  readonly numbersAgree: boolean;
  /** How k was found, where the request did not say it. */
  readonly chosen?: ClusterChoice;
  readonly warnings: readonly string[];
}
