// The pooled solution that every method is held against: optimal where that can be computed, in one dimension and for few
// different points, and otherwise the best of a search that goes on until it finds nothing better.

import { checkMatrix } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, squaredDistance, takeRows } from "../data/matrix.ts";
import { checkOptions, type OptionNames } from "../data/optionNames.ts";
import { randomStream } from "../data/random.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { type KMeansModel, kmeansOn } from "../start/kmeans.ts";

export interface ReferenceOptions {
  readonly k: number;
  readonly seed?: number | undefined;
  /** Exactly so many restarts and nothing else. Default: as many as it takes, at least 20. */
  readonly restarts?: number | undefined;
  readonly kernel?: Kernel | undefined;
  /** A cost that nobody has beaten: the search ends where it is reached. */
  readonly bestKnown?: number | undefined;
}

const referenceOptionNames: OptionNames<ReferenceOptions> = {
  ...{ k: true, seed: true, restarts: true, kernel: true, bestKnown: true },
};

/** What `pooledReference` found, and how. */
export interface PooledReference {
  readonly centroids: Matrix;
  /** Sum of squared distances to the nearest centroid. */
  readonly inertia: number;
  readonly restarts: number;
  /** Whether no clustering is cheaper, which was computed and not merely searched for. */
  readonly isOptimal: boolean;
}

/** To the exact fixed point: a tolerance would shift the reference itself. */
const toTheEnd = { maxIter: 10_000, tol: 0 };

/** Sums in different orders differ by far less. */
const ROUNDING = 1e-9;

/** Restarts, and coordinates times clusters times restarts, after which a search that still finds something is ended. */
const MOST_RESTARTS = 640;
const MOST_WORK = 1e8;

/** So many further restarts that find nothing else are taken as agreement. */
const FIRST_CHECK = 5;

/**
 * The best clustering of pooled points that can be had: exact where that is possible, else of many starts.
 * @example pooledReference(matrix([[0], [2], [9]]), { k: 2 }).inertia // 2
 */
export function pooledReference(points: Matrix, options: ReferenceOptions): PooledReference {
  checkMatrix("points", points);
  checkOptions(options, referenceOptionNames, "k");
  const { k, kernel, seed = defaults.seed, restarts = defaults.pooledRestarts, bestKnown = 0 } = options;
  const search = (starts: number, from: number) =>
    kmeansOn(points, { k, restarts: starts, seed: from, kernel, ...toTheEnd });
  const first = search(restarts, seed);
  if (options.restarts !== undefined) return { ...referenceOf(first), restarts, isOptimal: false };
  const optimum = optimalCentroids(points, k);
  if (optimum !== undefined) {
    const exact = kmeansOn(points, { k, init: optimum, kernel, ...toTheEnd });
    return { ...referenceOf(isCheaper(exact, first) ? exact : first), restarts, isOptimal: true };
  }
  let best = transferred(points, first, kernel);
  let [made, batch] = [restarts, FIRST_CHECK];
  const work = points.data.length * k;
  while (made + batch <= MOST_RESTARTS && work * (made + batch) <= MOST_WORK && best.inertia > bestKnown) {
    const next = transferred(points, search(batch, searchSeed(seed, made)), kernel);
    const hasAgreed = Math.abs(next.inertia - best.inertia) <= ROUNDING * best.inertia;
    if (isCheaper(next, best)) best = next;
    made += batch;
    if (hasAgreed) break;
    batch = made;
  }
  return { ...referenceOf(best), restarts: made, isOptimal: false };
}

/**
 * The reference, or what k-means makes of a cheaper rival: afterwards no rival is cheaper. `from` says whose it was.
 * @example
 * const rows = matrix([[0], [2], [9]]);
 * unbeatenReference(rows, pooledReference(rows, { k: 2 }), [["mine", matrix([[0], [9]])]]).inertia // 2
 */
export function unbeatenReference(
  points: Matrix,
  reference: PooledReference,
  rivals: Iterable<readonly [name: string, centroids: Matrix]>,
): PooledReference & { readonly from?: string } {
  let best: PooledReference & { readonly from?: string } = reference;
  const { rows: k } = reference.centroids;
  for (const [from, init] of rivals) {
    if (init.rows !== k) continue;
    const cost = kmeansOn(points, { k, init, maxIter: 1 });
    if (!isCheaper(cost, best)) continue;
    const found = transferred(points, kmeansOn(points, { k, init, ...toTheEnd }), undefined);
    best = { ...best, ...referenceOf(found), from };
  }
  return best;
}

function searchSeed(seed: number, made: number): number {
  return Math.floor(randomStream(seed, "reference", made)() * 2 ** 32);
}

function referenceOf({ centroids, inertia }: KMeansModel) {
  return { centroids, inertia };
}

/** By more than rounding: equal answers in another order would only change bits. */
function isCheaper(a: { readonly inertia: number }, b: { readonly inertia: number }): boolean {
  return a.inertia < (1 - ROUNDING) * b.inertia;
}

/**
 * Hartigan's rule: a point changes its cluster where that lowers the cost with both means moved along. It leaves fixed
 * points of Lloyd's iteration at which points are as near to one centroid as to another.
 */
function transferred(points: Matrix, model: KMeansModel, kernel: Kernel | undefined): KMeansModel {
  const { data, rows, cols } = points;
  const k = model.centroids.rows;
  if (data.length * k > MOST_WORK / 10) return model;
  const labels = model.labels.slice();
  const means = model.centroids.data.slice();
  const counts = new Float64Array(k);
  for (const label of labels) counts[label]++;
  let moves = 0;
  for (let still = 0, r = 0; still < rows && moves < 100 * rows; r = (r + 1) % rows, still++) {
    const from = labels[r];
    if (counts[from] < 2) continue;
    const distance = (c: number) => squaredDistance(data, r * cols, means, c * cols, cols);
    let to = from;
    let least = (1 - ROUNDING) * (counts[from] / (counts[from] - 1)) * distance(from);
    for (let c = 0; c < k; c++) {
      if (c === from) continue;
      const cost = (counts[c] / (counts[c] + 1)) * distance(c);
      if (cost < least) [to, least] = [c, cost];
    }
    if (to === from) continue;
    counts[from]--;
    counts[to]++;
    for (let x = 0; x < cols; x++) {
      const value = data[r * cols + x];
      means[from * cols + x] -= (value - means[from * cols + x]) / counts[from];
      means[to * cols + x] += (value - means[to * cols + x]) / counts[to];
    }
    labels[r] = to;
    moves++;
    still = 0;
  }
  if (moves === 0) return model;
  const next = kmeansOn(points, { k, init: { data: means, rows: k, cols }, kernel, ...toTheEnd });
  return isCheaper(next, model) ? next : model;
}

// The optimum itself. Equal points are one point that counts as often: they share a cluster in some optimum.

/** Steps that a second has room for. */
const MOST_STEPS = 2e7;

/** Undefined where it would take too long. */
function optimalCentroids(points: Matrix, k: number): Matrix | undefined {
  const { rows, cols } = points;
  if (cols === 1 && k * rows * Math.log2(rows + 1) > MOST_STEPS) return undefined;
  const weights = new Map<string, { readonly row: number; count: number }>();
  for (let row = 0; row < rows; row++) {
    const key = points.data.subarray(row * cols, (row + 1) * cols).join();
    const known = weights.get(key);
    if (known === undefined) weights.set(key, { row, count: 1 });
    else known.count++;
    if (cols > 1 && (3 ** weights.size / 2) * k > MOST_STEPS) return undefined;
  }
  if (weights.size < k) return undefined;
  const kinds = [...weights.values()];
  if (cols === 1) kinds.sort((a, b) => points.data[a.row] - points.data[b.row]);
  const different = takeRows(
    points,
    kinds.map(({ row }) => row),
  );
  const counts = Float64Array.from(kinds, ({ count }) => count);
  const groups = cols === 1 ? optimalSegments(different.data, counts, k) : optimalGroups(different, counts, k);
  return groupMeans(different, counts, groups, k);
}

function groupMeans({ data, rows, cols }: Matrix, counts: Float64Array, groups: Uint32Array, k: number): Matrix {
  const means = { data: new Float64Array(k * cols), rows: k, cols };
  const weights = new Float64Array(k);
  for (let r = 0; r < rows; r++) weights[groups[r]] += counts[r];
  for (let r = 0; r < rows; r++) {
    const share = counts[r] / weights[groups[r]];
    for (let x = 0; x < cols; x++) means.data[groups[r] * cols + x] += share * data[r * cols + x];
  }
  return means;
}

/**
 * In one dimension clusters are segments of the sorted values, and the last split moves right as values are added: each
 * layer of the dynamic programme is halved over and over. Sums have twice the digits of a number, so that the cost of a
 * segment is right also beside values that are very far away.
 */
function optimalSegments(values: Float64Array, counts: Float64Array, k: number): Uint32Array {
  const n = values.length;
  const cost = segmentCosts(values, counts);
  const splits = Array.from({ length: k }, () => new Uint32Array(n + 1));
  let before = Float64Array.from({ length: n + 1 }, (_, end) => (end === 0 ? 0 : cost(0, end)));
  for (let layer = 1; layer < k; layer++) {
    const now = new Float64Array(n + 1);
    const fill = (low: number, high: number, from: number, to: number): void => {
      if (low > high) return;
      const end = (low + high) >> 1;
      let [best, least] = [from, Number.POSITIVE_INFINITY];
      for (let split = from; split <= Math.min(end, to); split++) {
        const total = before[split] + cost(split, end);
        if (total < least) [best, least] = [split, total];
      }
      now[end] = least;
      splits[layer][end] = best;
      fill(low, end - 1, from, best);
      fill(end + 1, high, best, to);
    };
    fill(0, n, 0, n);
    before = now;
  }
  const groups = new Uint32Array(n);
  for (let layer = k - 1, end = n; layer >= 0; layer--) {
    const start = layer === 0 ? 0 : splits[layer][end];
    groups.fill(layer, start, end);
    end = start;
  }
  return groups;
}

/** The cost of the values from one index up to another, from sums of values and of squares in two numbers each. */
function segmentCosts(values: Float64Array, counts: Float64Array): (from: number, to: number) => number {
  const n = values.length;
  const [weights, high, low, squaresHigh, squaresLow] = Array.from({ length: 5 }, () => new Float64Array(n + 1));
  const middle = values[n >> 1];
  for (let i = 0; i < n; i++) {
    const value = values[i] - middle;
    const product = counts[i] * value;
    const productRest = productError(counts[i], value, product);
    const square = product * value;
    const squareRest = productError(product, value, square) + productRest * value;
    weights[i + 1] = weights[i] + counts[i];
    high[i + 1] = high[i] + product;
    low[i + 1] = low[i] + sumError(high[i], product, high[i + 1]) + productRest;
    squaresHigh[i + 1] = squaresHigh[i] + square;
    squaresLow[i + 1] = squaresLow[i] + sumError(squaresHigh[i], square, squaresHigh[i + 1]) + squareRest;
  }
  return (from, to) => {
    const weight = weights[to] - weights[from];
    if (weight === 0) return 0;
    const sum = high[to] - high[from];
    const sumRest = sumError(high[to], -high[from], sum) + (low[to] - low[from]);
    const squares = squaresHigh[to] - squaresHigh[from];
    const squaresRest = sumError(squaresHigh[to], -squaresHigh[from], squares) + (squaresLow[to] - squaresLow[from]);
    const square = sum * sum;
    const squareRest = productError(sum, sum, square) + 2 * sum * sumRest;
    const share = square / weight;
    const product = share * weight;
    const shareRest = (square - product - productError(share, weight, product) + squareRest) / weight;
    const difference = squares - share;
    return Math.max(0, difference + (sumError(squares, -share, difference) + (squaresRest - shareRest)));
  };
}

/** What rounding took from a + b. */
function sumError(a: number, b: number, sum: number): number {
  const added = sum - a;
  return a - (sum - added) + (b - added);
}

/** What rounding took from a * b. */
function productError(a: number, b: number, product: number): number {
  const [aHigh, bHigh] = [upperHalf(a), upperHalf(b)];
  const [aLow, bLow] = [a - aHigh, b - bHigh];
  return aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow);
}

function upperHalf(x: number): number {
  const shifted = x * 134217729;
  return shifted - (shifted - x);
}

/** Of few points: the cheapest of all ways to part every set of them. A set is a number with a bit for each point. */
function optimalGroups(points: Matrix, counts: Float64Array, k: number): Uint32Array {
  const n = points.rows;
  const costs = setCosts(points, counts);
  const all = 2 ** n - 1;
  let before = Float64Array.from(costs.keys(), (set) => (set === 0 ? 0 : Number.POSITIVE_INFINITY));
  const parts: Uint32Array[] = [];
  for (let layer = 0; layer < k; layer++) {
    const now = new Float64Array(all + 1);
    const chosen = new Uint32Array(all + 1);
    for (let set = layer === k - 1 ? all : 1; set <= all; set++) {
      const lowest = set & -set;
      const others = set ^ lowest;
      let least = Number.POSITIVE_INFINITY;
      for (let more = others; ; more = (more - 1) & others) {
        const total = costs[more | lowest] + before[others ^ more];
        if (total < least) [least, chosen[set]] = [total, more | lowest];
        if (more === 0) break;
      }
      now[set] = least;
    }
    parts.push(chosen);
    before = now;
  }
  const groups = new Uint32Array(n);
  for (let layer = k - 1, set = all; set !== 0; layer--) {
    const part = parts[layer][set];
    for (let r = 0; r < n; r++) if ((part >> r) & 1) groups[r] = layer;
    set ^= part;
  }
  return groups;
}

/** Of every set of points, from the distances between any two, whose sum has nothing that could cancel. */
function setCosts({ data, rows, cols }: Matrix, counts: Float64Array): Float64Array {
  const pairs = new Float64Array(2 ** rows);
  const weights = new Float64Array(2 ** rows);
  for (let set = 1; set < pairs.length; set++) {
    const lowest = 31 - Math.clz32(set & -set);
    const others = set & (set - 1);
    let sum = 0;
    for (let r = lowest + 1; r < rows; r++) {
      if ((others >> r) & 1) sum += counts[r] * squaredDistance(data, lowest * cols, data, r * cols, cols);
    }
    pairs[set] = pairs[others] + counts[lowest] * sum;
    weights[set] = weights[others] + counts[lowest];
  }
  return pairs.map((sum, set) => (set === 0 ? 0 : sum / weights[set]));
}
