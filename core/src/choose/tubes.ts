// Whether rows thin out between two centroids: histograms of rows in tubes along which a cut makes no valley, as sums over devices.

import { ln } from "../data/elementary.ts";
import { type Matrix, squaredDistance } from "../data/matrix.ts";
import { nearestCentroids } from "../kernel/model.ts";

/** A row at 0 is beside the first centroid, at 1 beside the second. A tube reaches a little beyond both, or else just to them. */
const LONG = { from: -0.25, to: 1.25 };
const SHORT = { from: 0, to: 1 };
export const TUBE_BINS = 12;

/** A tube with fewer rows than this on one half of the way says nothing of a valley. */
const LEAST_ON_EACH_SIDE = 2;

/** Another centroid may be nearer to the middle of two neighbours by this share of their squared distance. */
const NEARER = 0.1;

/** Centroids farther from the middle of two than these never take a place on the way between them. */
const NEAREST_OTHERS = 12;

/** More columns than this are taken as if they did not vary together: products of all pairs would take too long. */
export const MOST_SHAPE_COLUMNS = 64;

/** A pair of neighbours, and along which direction its rows are counted. */
export interface TubeFrame {
  readonly a: number;
  readonly b: number;
  readonly span: typeof LONG;
  /** The squared distance of the two. */
  readonly length: number;
  /** The product with a row's difference to a is 0 at a and 1 at b. */
  readonly along: Float64Array;
  /** Centroids that could be nearest on the way, and how fast each gains on a along it. */
  readonly others: readonly number[];
  readonly slopes: readonly number[];
}

export interface Tube {
  readonly a: number;
  readonly b: number;
  /** Rows from a quarter of the way before a to a quarter behind b, or from a to b. */
  readonly bins: Uint32Array;
}

/**
 * For each pair of neighbours the rows that could be moved along the line between their centroids without leaving the two
 * clusters. They fill a body of constant width: evenly spread rows have a flat histogram there. `shapedBy`: the rows that
 * say how long the clusters are in which direction, where these are others than `datasets`. Of a cluster with fewer than
 * `minimum` of its rows a device says nothing, nor of a tube with fewer.
 */
export function tubesBetween(
  datasets: readonly Matrix[],
  centroids: Matrix,
  { minimum, shapedBy = datasets }: { readonly minimum: number; readonly shapedBy?: readonly Matrix[] },
): Tube[] {
  const frames = tubeFrames(centroids, shapesOf(shapedBy, centroids, minimum));
  const long = countTubes(datasets, centroids, frames, minimum);
  const shortened = shortFrames(frames.filter((_, at) => isOneSided(long[at])));
  const short = countTubes(datasets, centroids, shortened, minimum);
  return [...long.filter((tube) => !isOneSided(tube)), ...short];
}

/** Behind one end of a long way there may be other clusters, so that no row can be moved there: the short way is looked at. */
export function isOneSided({ bins }: Tube): boolean {
  const sides = [bins.subarray(0, TUBE_BINS / 2), bins.subarray(TUBE_BINS / 2)];
  return sides.some((side) => tubeRows(side) < LEAST_ON_EACH_SIDE);
}

/** The same ways from one centroid to the other, and not beyond. */
export const shortFrames = (frames: readonly TubeFrame[]) => frames.map((frame) => ({ ...frame, span: SHORT }));

function countTubes(
  datasets: readonly Matrix[],
  centroids: Matrix,
  frames: readonly TubeFrame[],
  minimum: number,
): Tube[] {
  if (frames.length === 0) return [];
  const parts = datasets.map((own) => tubeCounts(own, centroids, frames, minimum));
  return frames.map(({ a, b }, at) => {
    const bins = new Uint32Array(TUBE_BINS);
    for (const own of parts) for (let i = 0; i < TUBE_BINS; i++) bins[i] += own[at * TUBE_BINS + i];
    return { a, b, bins };
  });
}

/** Integers that a device adds: the bins of all frames, one behind the other. */
export function tubeCounts(
  rows: Matrix,
  centroids: Matrix,
  frames: readonly TubeFrame[],
  minimum: number,
): Uint32Array {
  const { cols, data } = rows;
  const k = centroids.rows;
  const bins = new Uint32Array(frames.length * TUBE_BINS);
  const distances = new Float64Array(k);
  const framesAt: number[][] = Array.from({ length: k }, () => []);
  frames.forEach(({ a, b }, at) => {
    framesAt[a].push(at);
    framesAt[b].push(at);
  });
  spokenLabels(centroids, rows, minimum).forEach((label, r) => {
    if (label < 0 || framesAt[label].length === 0) return;
    for (let c = 0; c < k; c++) distances[c] = squaredDistance(data, r * cols, centroids.data, c * cols, cols);
    for (const at of framesAt[label]) {
      const bin = binOf(rows, r, centroids, frames[at], distances);
      if (bin >= 0) bins[at * TUBE_BINS + bin]++;
    }
  });
  for (let at = 0; at < bins.length; at += TUBE_BINS) {
    const own = bins.subarray(at, at + TUBE_BINS);
    if (tubeRows(own) < minimum) own.fill(0);
  }
  return bins;
}

export const tubeRows = (bins: Uint32Array) => bins.reduce((sum, count) => sum + count, 0);

/** The cluster of every row; -1 for rows of a cluster of which the device has too few to speak of. */
function spokenLabels(centroids: Matrix, rows: Matrix, minimum: number): Int32Array {
  const labels = Int32Array.from(nearestCentroids(centroids, rows));
  const counts = new Uint32Array(centroids.rows);
  for (const label of labels) counts[label]++;
  return labels.map((label) => (counts[label] < minimum ? -1 : label));
}

/** -1 for a row outside the tube. */
function binOf(
  { data, cols }: Matrix,
  r: number,
  centroids: Matrix,
  { a, b, span: { from, to }, length, along, others, slopes }: TubeFrame,
  distances: Float64Array,
): number {
  let t = 0;
  for (let j = 0; j < cols; j++) t += along[j] * (data[r * cols + j] - centroids.data[a * cols + j]);
  if (!(t >= from && t < to)) return -1;
  const [toA, toB] = [distances[a], distances[b]];
  // Squared distances to two centroids differ linearly along the way: both ends tell, and where a and b are equally far.
  const even = Math.max(from, Math.min(to, t + (toB - toA) / (2 * length)));
  for (const place of [from, even, to]) {
    const s = place - t;
    // b gains on a by twice the squared length.
    const least = Math.min(0, toB - toA - 2 * s * length);
    for (let i = 0; i < others.length; i++) {
      if (distances[others[i]] - toA + 2 * s * slopes[i] < least) return -1;
    }
  }
  return Math.min(TUBE_BINS - 1, Math.floor(((t - from) / (to - from)) * TUBE_BINS));
}

export function tubeFrames(centroids: Matrix, { shapes, counts }: ClusterShapes): TubeFrame[] {
  const { data, rows: k, cols } = centroids;
  const between = new Float64Array(k * k);
  for (let a = 0; a < k; a++) {
    for (let b = 0; b < k; b++) between[a * k + b] = squaredDistance(data, a * cols, data, b * cols, cols);
  }
  const frames: TubeFrame[] = [];
  for (let a = 0; a < k; a++) {
    for (let b = a + 1; b < k; b++) {
      const length = between[a * k + b];
      if (length === 0 || counts[a] === 0 || counts[b] === 0) continue;
      // The squared distance of another centroid to the middle of the two, less that of the two themselves.
      const beyond = (c: number) => (between[a * k + c] + between[b * k + c] - length) / 2;
      const all = Array.from({ length: k }, (_, c) => c).filter((c) => c !== a && c !== b);
      if (all.some((c) => beyond(c) < -NEARER * length)) continue;
      const others = all.sort((x, y) => beyond(x) - beyond(y)).slice(0, NEAREST_OTHERS);
      const [from, to] = [a, b].map((c) => data.subarray(c * cols, (c + 1) * cols));
      const shape = shapes[a].map((x, at) => (x + shapes[b][at]) / 2);
      frames.push({
        ...{ a, b, span: LONG, length, others },
        along: directionOf(from, to, shape, counts[a] + counts[b]),
        slopes: others.map((c) => (between[b * k + c] - length - between[a * k + c]) / 2),
      });
    }
  }
  return frames;
}

// The shape of a cluster: the products of its columns, or with many columns only their squares.

export interface ClusterShapes {
  readonly shapes: readonly Float64Array[];
  readonly counts: Float64Array;
}

function shapesOf(datasets: readonly Matrix[], centroids: Matrix, minimum: number): ClusterShapes {
  const { rows: k, cols } = centroids;
  const isFull = cols <= MOST_SHAPE_COLUMNS;
  const shapes = Array.from({ length: k }, () => new Float64Array(isFull ? cols * cols : cols));
  const counts = new Float64Array(k);
  const away = new Float64Array(cols);
  for (const own of datasets) {
    spokenLabels(centroids, own, minimum).forEach((label, r) => {
      if (label < 0) return;
      counts[label]++;
      const shape = shapes[label];
      for (let j = 0; j < cols; j++) away[j] = own.data[r * cols + j] - centroids.data[label * cols + j];
      for (let i = 0; i < cols; i++) {
        if (!isFull) shape[i] += away[i] * away[i];
        else for (let j = 0; j < cols; j++) shape[i * cols + j] += away[i] * away[j];
      }
    });
  }
  return { shapes: shapes.map((shape, c) => shape.map((sum) => sum / Math.max(1, counts[c]))), counts };
}

/**
 * The rows on axes along which the clusters are as long as they are wide, all together; undefined with one column or more
 * than products are added up for. Long clusters side by side, which k-means would cut across, are round there.
 */
export function roundClusters(
  datasets: readonly Matrix[],
  centroids: Matrix,
  minimum: number,
): readonly Matrix[] | undefined {
  const { rows: k, cols } = centroids;
  if (cols === 1 || cols > MOST_SHAPE_COLUMNS) return undefined;
  const { shapes, counts } = shapesOf(datasets, centroids, minimum);
  const all = counts.reduce((sum, own) => sum + own, 0);
  const common = shapes[0].map((_, at) => {
    let sum = 0;
    for (let c = 0; c < k; c++) sum += counts[c] * shapes[c][at];
    return sum / all;
  });
  const most = common.reduce((top, x, i) => (i % (cols + 1) === 0 ? Math.max(top, x) : top), Number.MIN_VALUE);
  for (let j = 0; j < cols; j++) common[j * cols + j] += 1e-9 * most;
  const factor = factorOf(common, cols);
  return datasets.map((own) => {
    const data = Float64Array.from(own.data);
    for (let r = 0; r < own.rows; r++) solveLower(factor, data.subarray(r * cols, (r + 1) * cols));
    return { ...own, data };
  });
}

/** The direction in which two clusters of this shape are farthest apart, 1 long from one to the other. */
function directionOf(a: Float64Array, b: Float64Array, shape: Float64Array, rows: number): Float64Array {
  const cols = a.length;
  const delta = b.map((x, j) => x - a[j]);
  const isFull = shape.length > cols || cols === 1;
  const squares = Float64Array.from(delta, (_, j) => shape[isFull ? j * cols + j : j]);
  const floor = 1e-9 * squares.reduce((most, x) => Math.max(most, x), Number.MIN_VALUE);
  const shrunk = rows / (cols + rows);
  const solved = isFull
    ? solve(
        shape.map((x, i) => (i % (cols + 1) === 0 ? Math.max(x, 0) + floor : shrunk * x)),
        delta,
      )
    : delta.map((x, j) => x / (squares[j] + floor));
  const scale = solved.reduce((sum, x, j) => sum + x * delta[j], 0);
  return solved.map((x) => x / scale);
}

/** Cholesky's factor of a positive definite matrix; above its diagonal nothing is looked at. */
function factorOf(given: Float64Array, n: number): Float64Array {
  const l = given.slice();
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = l[i * n + j];
      for (let h = 0; h < j; h++) sum -= l[i * n + h] * l[j * n + h];
      l[i * n + j] = i === j ? Math.sqrt(Math.max(sum, 1e-12 * given[i * n + i])) : sum / l[j * n + j];
    }
  }
  return l;
}

/** Solves l x = right in place. */
function solveLower(l: Float64Array, x: Float64Array): void {
  const n = x.length;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) x[i] -= l[i * n + j] * x[j];
    x[i] /= l[i * n + i];
  }
}

function solve(given: Float64Array, right: Float64Array): Float64Array {
  const n = right.length;
  const l = factorOf(given, n);
  const x = right.slice();
  solveLower(l, x);
  for (let i = n - 1; i >= 0; i--) {
    for (let j = i + 1; j < n; j++) x[i] -= l[j * n + i] * x[j];
    x[i] /= l[i * n + i];
  }
  return x;
}

// The valley of a histogram: how much better two humps describe it than one does.

export interface Valley {
  /** In nats. */
  readonly gain: number;
  /** The lowest fitted bin between the two peaks over the lower peak. */
  readonly depth: number;
}

export function valleyOf(bins: Uint32Array): Valley {
  const one = humpOf(bins, 0, TUBE_BINS);
  let two: readonly [Hump, Hump] | undefined;
  let most = Number.NEGATIVE_INFINITY;
  for (let cut = 1; cut < TUBE_BINS; cut++) {
    const own = [humpOf(bins, 0, cut), humpOf(bins, cut, TUBE_BINS)] as const;
    if (own[0].likelihood + own[1].likelihood <= most) continue;
    most = own[0].likelihood + own[1].likelihood;
    two = own;
  }
  const [left, right] = (two as readonly [Hump, Hump]).map(({ fitted }) => fitted);
  const [first, second] = [left.lastIndexOf(Math.max(...left)), right.indexOf(Math.max(...right))];
  const middle = [...left.slice(first), ...right.slice(0, second + 1)];
  const lowest = Math.min(...middle);
  const lower = Math.min(left[first], right[second]);
  return { gain: most - one.likelihood, depth: (lowest + 0.5) / (lower + 0.5) };
}

interface Hump {
  readonly likelihood: number;
  readonly fitted: readonly number[];
}

/** The likeliest bins that rise to a peak and fall from it. */
function humpOf(bins: Uint32Array, from: number, to: number): Hump {
  let best: Hump | undefined;
  for (let peak = from; peak < to; peak++) {
    const rising = isotonic(Array.from(bins.subarray(from, peak + 1)));
    const falling = isotonic(Array.from(bins.subarray(peak + 1, to)).reverse()).reverse();
    const fitted = [...rising, ...falling];
    const likelihood = fitted.reduce((sum, own, i) => (own > 0 ? sum + bins[from + i] * ln(own) : sum), 0);
    if (best === undefined || likelihood > best.likelihood) best = { likelihood, fitted };
  }
  return best as Hump;
}

/** The nearest rising list: neighbours that fall are pooled. */
function isotonic(values: readonly number[]): number[] {
  const pools: { sum: number; count: number }[] = [];
  for (const sum of values) {
    let last = { sum, count: 1 };
    for (
      let before = pools.at(-1);
      before && before.sum * last.count > last.sum * before.count;
      before = pools.at(-1)
    ) {
      last = { sum: last.sum + before.sum, count: last.count + before.count };
      pools.pop();
    }
    pools.push(last);
  }
  return pools.flatMap(({ sum, count }) => Array<number>(count).fill(sum / count));
}
