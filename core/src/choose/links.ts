// With whom to cooperate, without pooling: a link goes where one set of k clusters cannot serve both of its ends.

import { checkInteger, checkNetwork, checkSeed } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { exp, ln } from "../data/elementary.ts";
import { dot, type Matrix, squaredDistance, takeRows } from "../data/matrix.ts";
import { checkOptions, type Settled } from "../data/optionNames.ts";
import { randomStream } from "../data/random.ts";
import { type FitOptions, fitOptionNames } from "../fit/fitOptions.ts";
import { edges, type Graph, graphOfEdges } from "../graph/graph.ts";
import { addTraffic, sendTraffic, type Traffic } from "../graph/traffic.ts";
import { jsKernel } from "../kernel/js.ts";
import { checkKernel, twoNearest } from "../kernel/kernel.ts";
import { nearestCentroids } from "../kernel/model.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { joinSketches, leastSketchCount, type PointSketch, sketchPoints } from "../start/federated.ts";
import { bestOf, type KMeansModel, kmeansOn } from "../start/kmeans.ts";
import { type ChoiceCosts, choiceSample } from "./participants.ts";

/** Whoever has the options of a `fit` can give them as they are. */
export interface ChooseLinksOptions extends Pick<FitOptions, "restarts" | "minimum" | "seed" | "kernel"> {
  /** Clusters of all devices together, as for `fit`. */
  k: number;
}

/** What `chooseLinks` found, and what it cost. */
export interface LinkChoice extends Pick<ChoiceCosts, "messages" | "bytes" | "reveals"> {
  /** The same devices with the links that stay. */
  readonly graph: Graph;
  /** The others. */
  readonly dropped: readonly (readonly [number, number])[];
}

/** A device that has enough rows to judge by. */
interface Judge {
  readonly points: Matrix;
  readonly sketch: PointSketch;
  readonly own: KMeansModel;
}

/** The common clusters are found on a few dozen centroids, so many starts are cheap. */
const STARTS = 50;

/**
 * Strangers pull each other's centroids to where nobody has points, the more the larger alpha is. The ends of a link find
 * the k clusters that would serve both. The link goes if their rows in one of these differ by more than chance explains,
 * or if one end has to give up clusters of its own where the other has none: both, or one of them beyond doubt. Clusters
 * that one end lacks do not count.
 * @example chooseLinks(communityData(2, 60, 1, 20).datasets, complete(4), { k: 3 }).dropped.length // 4
 */
export function chooseLinks(datasets: readonly Matrix[], graph: Graph, options: ChooseLinksOptions): LinkChoice {
  checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "k");
  checkSeed(options.seed ?? defaults.seed);
  return chooseLinksOn(choiceSample(datasets, options.seed ?? defaults.seed).datasets, graph, options);
}

/** The same on data that were checked, all of them. */
export function chooseLinksOn(datasets: readonly Matrix[], graph: Graph, options: ChooseLinksOptions): LinkChoice {
  const { cols } = datasets[0];
  const { k, minimum = defaults.minimum, restarts = defaults.restarts, seed = defaults.seed } = options;
  const { kernel = fastKernel } = options;
  checkInteger("k", k, 1);
  checkInteger("minimum", minimum, 1);
  checkInteger("restarts", restarts, 1);
  checkKernel(kernel);
  const judges = datasets.map((points, i) =>
    judgeOf(points, i, { k, kernel, restarts, seed, minimum: leastSketchCount(graph, i, minimum) }),
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
  const numbers = judges.map((own) => (own ? own.sketch.centroids.data.length + own.sketch.counts.length : 0));
  return {
    graph: graphOfEdges(graph.size, kept),
    dropped,
    ...addTraffic(sendTraffic(graph, numbers), statistics, answers),
    reveals: revealed(minimum),
  };
}

function judgeOf(points: Matrix, device: number, options: Settled<ChooseLinksOptions>): Judge | undefined {
  if (points.rows <= options.k) return undefined;
  const prepared = options.kernel.prepare(points);
  const sketch = sketchPoints({ points, prepared, cols: points.cols }, device, options);
  prepared.release();
  if (sketch.counts.length === 0) return undefined;
  return { points, sketch, own: kmeansOn(points, options) };
}

/** Both ends know both sketches, so both find the same clusters. Neither sign need be sure if both together are. */
function areStrangers(lower: Judge, upper: Judge, k: number, minimum: number, name: string): boolean {
  const joined = joinSketches([lower.sketch, upper.sketch]);
  const common = joined.counts.length > k ? commonClusters(joined, k, name) : joined.centroids;
  const [below, above] = [lower, upper].map(({ points }) => cellsOf(points, common, minimum));
  const rows = [lower.points.rows, upper.points.rows] as const;
  const isShared = sharedCells(below, above, rows);
  const difference = lnDifference(below, above, isShared);
  if (difference < ln(DIFFERENT)) return true;
  // Half as many rows as a common cluster has of each device. Fewer are better joined than served alone.
  const least = (rows[0] + rows[1]) / (4 * k);
  const gaps = [lower, upper].map(({ points, own }, end) => {
    const clearRows = [below, above][end].map((cell, c) => (isShared[c] ? 0 : (cell?.count ?? 0)));
    return lnSplit(points, own, common, clearRows, least);
  });
  const gap = Math.min(...gaps);
  return gap < ln(APART) || difference + gap < ln(DIFFERENT);
}

function commonClusters({ centroids: points, counts: weights }: PointSketch, k: number, name: string): Matrix {
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

// The rows of two devices in the cells of common clusters: do they differ by more than chance, and is a cell several
// clusters of one device?

/** What a device says of its rows that are clearly in one cell. */
interface ClusterCell {
  readonly count: number;
  readonly mean: Float64Array;
  /** Sum of squared distances to the mean. */
  readonly scatter: number;
  /** In so many directions the rows vary: (sum of eigenvalues)^2 / (sum of their squares) of their covariance. */
  readonly directions: number;
}

/** Of every common cluster. */
type Cells = readonly (ClusterCell | undefined)[];

/**
 * A row counts where its nearest centroid is at most half as far as the next one. Nearer to the border a cell has rows of
 * clusters beside it, and of these devices have different shares under label skew.
 */
const CLEAR = 0.5;

/** Where the devices' shares of rows in a cell, or their spreads, differ by more than this factor, one lacks the cluster. */
const COMPARABLE = 4;

/** One link in a million goes by chance where all have the same clusters. */
const DIFFERENT = 1e-6;

/** So unlikely must a gap be between two parts of one evenly spread cluster. */
const APART = 1e-3;

/** Rows of a cell that tell in how many directions it varies; more would cost more than they tell. */
const SHAPED_BY = 100;

/** For each cell what a device says of it; nothing of fewer than `minimum` rows. */
function cellsOf(points: Matrix, common: Matrix, minimum: number): Cells {
  const rows = Array.from({ length: common.rows }, (): number[] => []);
  for (let r = 0; r < points.rows; r++) {
    const { label, nearest, next } = twoNearest(points.data, r * points.cols, common);
    if (nearest <= CLEAR * CLEAR * next) rows[label].push(r);
  }
  return rows.map((own) => (own.length < minimum || own.length === 0 ? undefined : cellOf(takeRows(points, own))));
}

function cellOf({ data, rows, cols }: Matrix): ClusterCell {
  const mean = new Float64Array(cols);
  for (let x = 0; x < data.length; x++) mean[x % cols] += data[x];
  for (let x = 0; x < cols; x++) mean[x] /= rows;
  let scatter = 0;
  for (let r = 0; r < rows; r++) scatter += squaredDistance(data, r * cols, mean, 0, cols);
  const centred = data.map((value, x) => value - mean[x % cols]);
  const shaping = Array.from({ length: Math.min(rows, SHAPED_BY) }, (_, n) =>
    Math.floor((n * rows) / Math.min(rows, SHAPED_BY)),
  );
  let [trace, squares] = [0, 0];
  // The eigenvalues of the rows' products are those of their covariance.
  for (const a of shaping) {
    for (const b of shaping) {
      let product = 0;
      for (let x = 0; x < cols; x++) product += centred[a * cols + x] * centred[b * cols + x];
      if (a === b) trace += product;
      squares += product * product;
    }
  }
  return { count: rows, mean, scatter, directions: squares > 0 ? (trace * trace) / squares : 1 };
}

/** The cells of a cluster that both devices hold. In the others one has nothing, or the edge of another cluster. */
function sharedCells(lower: Cells, upper: Cells, [rowsOfLower, rowsOfUpper]: readonly [number, number]): boolean[] {
  return lower.map((a, c) => {
    const b = upper[c];
    if (a === undefined || b === undefined || a.count + b.count < 3) return false;
    if (!areAlike(a.count / rowsOfLower, b.count / rowsOfUpper)) return false;
    // One row has no spread.
    return a.count === 1 || b.count === 1 || areAlike(a.scatter / (a.count - 1), b.scatter / (b.count - 1));
  });
}

function areAlike(x: number, y: number): boolean {
  return x <= COMPARABLE * y && y <= COMPARABLE * x;
}

/** How unlikely the differences between the means of two devices are, of all cells that they share together. */
function lnDifference(lower: Cells, upper: Cells, isShared: readonly boolean[]): number {
  const tails = isShared.flatMap((shared, c) =>
    shared ? [lnTailOfDifference(lower[c] as ClusterCell, upper[c] as ClusterCell)] : [],
  );
  return tails.length > 0 ? lnFisher(tails) : 0;
}

/**
 * Dempster's test of two means: their squared distance against the rows' spread is about F with as many degrees of
 * freedom as the rows vary in directions. It needs no inverse, so there may be more columns than rows.
 */
function lnTailOfDifference(a: ClusterCell, b: ClusterCell): number {
  const count = a.count + b.count;
  const size = Math.max(dot(a.mean, a.mean), dot(b.mean, b.mean));
  // Equal rows leave only rounding.
  const spread = Math.max((a.scatter + b.scatter) / (count - 2), (16 * Number.EPSILON) ** 2 * size);
  const square = ((a.count * b.count) / count) * squaredDistance(a.mean, 0, b.mean, 0, a.mean.length);
  const directions = Math.max(1, (a.count * a.directions + b.count * b.directions) / count);
  return square === 0 ? 0 : lnTailOfF(square / spread, directions, directions * (count - 2));
}

/**
 * How unlikely it is that no cell joins clusters of a device that are apart, each of at least so many rows. `clearRows`:
 * the device's rows in each cell that the devices do not share, else 0. In a shared cell the other joins the same
 * clusters: k is small for both, and no reason to part.
 */
function lnSplit(
  points: Matrix,
  { centroids, labels }: KMeansModel,
  common: Matrix,
  clearRows: readonly number[],
  least: number,
): number {
  let widest = 0;
  const cells = nearestCentroids(common, centroids);
  const members = Array.from({ length: centroids.rows }, (): number[] => []);
  labels.forEach((label, r) => {
    members[label].push(r);
  });
  for (let u = 0; u < centroids.rows; u++) {
    for (let v = 0; v < u; v++) {
      const [few, many] = [members[u].length, members[v].length].sort((a, b) => a - b);
      // Where most rows are near a border there are no clusters to give up.
      if (cells[u] !== cells[v] || few < least || 2 * clearRows[cells[u]] < few + many) continue;
      if (!areSideBySide(centroids, u, v)) continue;
      const parts = [u, v].map((c) => cellOf(takeRows(points, members[c])));
      widest = Math.min(widest, lnTailOfGap(points, [members[u], members[v]], [parts[0], parts[1]]));
    }
  }
  return widest;
}

/** Whether no other centroid is nearer to the middle between two: their rows have a border in common. */
function areSideBySide({ data, rows, cols }: Matrix, u: number, v: number): boolean {
  const middle = Float64Array.from({ length: cols }, (_, x) => (data[u * cols + x] + data[v * cols + x]) / 2);
  const reach = squaredDistance(middle, 0, data, u * cols, cols);
  for (let c = 0; c < rows; c++) {
    if (c !== u && c !== v && squaredDistance(middle, 0, data, c * cols, cols) < reach) return false;
  }
  return true;
}

/**
 * Two halves of an evenly spread line are D apart and each varies by D^2 / 12 along it; those of a normal cluster vary by
 * more, and two clusters by less. An even spread has short tails, so that its variance is known 2.5 times as well as a
 * normal one's. That k-means chose the line among all columns, and the cut on it, takes some of that away.
 */
function lnTailOfGap(
  { data, cols }: Matrix,
  members: readonly (readonly number[])[],
  [u, v]: readonly [ClusterCell, ClusterCell],
): number {
  const count = u.count + v.count;
  const freedom = 2.5 * (count - 4 - cols);
  if (freedom <= 0 || u.count < 2 || v.count < 2) return 0;
  let along = 0;
  [u, v].forEach(({ mean }, part) => {
    for (const r of members[part]) {
      let step = 0;
      for (let x = 0; x < cols; x++) step += (data[r * cols + x] - mean[x]) * (u.mean[x] - v.mean[x]);
      along += step * step;
    }
  });
  const square = squaredDistance(u.mean, 0, v.mean, 0, cols);
  // Means lie apart by chance too, the more columns there are.
  const chance = [u, v].reduce((sum, { scatter, count: n }) => sum + scatter / (n * (n - 1)), 0);
  return lnTailOfF((((square - chance) / 12) * (square * (count - 2))) / along, freedom, freedom);
}

// How unlikely a statistic is by chance: the upper tails of the F distribution and of Fisher's sum, as logarithms.

/** ln P(F > value) for a ratio of two mean squares with so many degrees of freedom, which need not be whole. */
export function lnTailOfF(value: number, above: number, below: number): number {
  if (!(value > 0)) return 0;
  if (value === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
  return lnBeta(below / (below + above * value), below / 2, above / 2);
}

/**
 * Fisher's combination of independent tests, from the logarithms of their p-values: -2 times their sum is chi-square with
 * two degrees of freedom for each. Returns the logarithm of the p-value of all of them together.
 */
export function lnFisher(lnTails: readonly number[]): number {
  const half = -lnTails.reduce((sum, tail) => sum + tail, 0);
  if (half === Number.POSITIVE_INFINITY) return Number.NEGATIVE_INFINITY;
  // e^-half * sum_{m < tests} half^m / m!, with its largest term taken out: the terms can overflow.
  let [lnTerm, largest] = [0, 0];
  const terms = lnTails.map((_, m) => {
    if (m > 0) lnTerm += ln(half / m);
    largest = Math.max(largest, lnTerm);
    return lnTerm;
  });
  return Math.min(0, largest - half + ln(terms.reduce((sum, term) => sum + exp(term - largest), 0)));
}

/** ln of the regularised incomplete beta function I_x(a, b). */
function lnBeta(x: number, a: number, b: number): number {
  if (x >= 1) return 0;
  if (x <= 0) return Number.NEGATIVE_INFINITY;
  const lnFront = lnGamma(a + b) - lnGamma(a) - lnGamma(b) + a * ln(x) + b * ln(1 - x);
  // The fraction converges fast on this side of the mean only; on the other one, I_x(a, b) = 1 - I_1-x(b, a).
  if (x < (a + 1) / (a + b + 2)) return lnFront + ln(fraction(x, a, b) / a);
  return ln(Math.max(0, 1 - exp(lnFront) * (fraction(1 - x, b, a) / b)));
}

/** Lentz's evaluation of the continued fraction of the incomplete beta function. */
function fraction(x: number, a: number, b: number): number {
  const awayFromZero = (value: number) => (Math.abs(value) < 1e-300 ? 1e-300 : value);
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * x) / (a + 1));
  let value = d;
  for (let m = 1; m <= 1000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    value *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    value *= d * c;
    if (Math.abs(d * c - 1) < 1e-14) break;
  }
  return value;
}

/** Stirling's series, from 10 upwards exact to about 1e-14. */
function lnGamma(x: number): number {
  if (x < 10) return lnGamma(x + 1) - ln(x);
  const square = 1 / (x * x);
  const series = (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square * (1 / 1680 - square / 1188)))) / x;
  return (x - 0.5) * ln(x) - x + 0.5 * ln(2 * Math.PI) + series;
}
