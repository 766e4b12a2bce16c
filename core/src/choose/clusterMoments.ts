// What the devices add up for each cluster, labelled in units of the common spread (counts, sums and products of points), and
// how good k clusters are by these sums: the nats per point that describe it, and which clusters stand apart.

import { ln } from "../data/elementary.ts";
import { dot, type Matrix } from "../data/matrix.ts";
import { nearestCentroids } from "../kernel/model.ts";

/** The sums of all devices, and the means that follow from them. */
interface ClusterMoments {
  readonly counts: Float64Array;
  /** Of the differences to the mean before: k rows of q numbers, k matrices of q x q. */
  readonly sums: Float64Array;
  readonly products: Float64Array;
  readonly means: Matrix;
}

/** So often labels are renewed by each measure; they settle in a few, or there are no clusters. */
const RENEWALS = { alike: 10, alone: 5 };

/**
 * Begins with the labels of k-means. Then all devices measure in units of the common spread inside the clusters, which
 * follows from the sums, label anew and add up again: k-means cuts long clusters across, this does not, and finds what
 * k-means finds where clusters are round. From there each cluster is measured in units of its own spread: what a wide
 * cluster loses to a narrow neighbour comes back. Returns the sums of both labellings; `summed`: so many numbers the devices
 * added up, one sum after the other.
 */
export function labelledMoments(datasets: readonly Matrix[], centroids: Matrix, minimum: number) {
  const points = datasets.map((own) => from(own, centroids));
  const means = from(centroids, centroids);
  const labels = points.map((own) => nearestCentroids(means, own));
  const first = { labels, sums: sumsOf(points, means, labels, minimum), times: 1 };
  const alike = renewed(first, points, labelsAlike, RENEWALS.alike, minimum);
  const alone = renewed(alike, points, labelsAlone, RENEWALS.alone, minimum);
  const { rows: k, cols: q } = means;
  // Of each cluster count, sum and products; and how many labels changed.
  const numbers = k * (1 + q + (q * (q + 1)) / 2) + 1;
  return { alike: alike.sums, alone: alone.sums, summed: new Array<number>(alone.times).fill(numbers) };
}

interface Labelling {
  readonly labels: readonly Uint32Array[];
  readonly sums: ClusterMoments;
  /** So often the devices added up. */
  readonly times: number;
}

/** Labels anew until no label changes, which is a sum too. */
function renewed(
  first: Labelling,
  points: readonly Matrix[],
  labelsBy: typeof labelsAlone,
  most: number,
  minimum: number,
): Labelling {
  let { labels, sums, times } = first;
  for (let n = 0; n < most; n++) {
    const next = labelsBy(points, sums);
    if (next === undefined) break;
    times++;
    if (next.every((own, i) => own.every((label, r) => label === labels[i][r]))) break;
    labels = next;
    sums = sumsOf(points, sums.means, labels, minimum);
  }
  return { labels, sums, times };
}

/** Coordinates from the first centroid: far from 0, products would lose their digits. */
function from({ data, rows }: Matrix, { data: origin, cols }: Matrix): Matrix {
  const moved = new Float64Array(rows * cols);
  for (let at = 0; at < moved.length; ) {
    for (let x = 0; x < cols; x++, at++) moved[at] = data[at] - origin[x];
  }
  return { data: moved, rows, cols };
}

/** The nearest mean of every point in units of the spread inside the clusters; undefined where nothing varies. */
function labelsAlike(points: readonly Matrix[], sums: ClusterMoments): Uint32Array[] | undefined {
  const { means } = sums;
  const inside = steadied(sums, Array.from(sums.counts.keys()));
  if (inside === undefined) return undefined;
  const factor = momentsCholesky(inside, means.cols);
  return points.map((own) => nearestCentroids(whitenByMoments(factor, means), whitenByMoments(factor, own)));
}

/** The cluster in which each point takes the fewest nats to describe; undefined where nothing varies. */
function labelsAlone(points: readonly Matrix[], sums: ClusterMoments): Uint32Array[] | undefined {
  const { counts, means } = sums;
  const q = means.cols;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const floor = momentsFloor(sums);
  if (!(floor > 0)) return undefined;
  const fewest = points.map(({ rows }) => new Float64Array(rows).fill(Number.POSITIVE_INFINITY));
  const labels = points.map(({ rows }) => new Uint32Array(rows));
  ownFactors(sums, floor).forEach((factor, c) => {
    if (counts[c] === 0) return;
    const named = logDiagonal(factor, q) - ln(counts[c] / total);
    const mean = means.data.subarray(c * q, (c + 1) * q);
    for (const [i, own] of points.entries()) relabel(own, { c, mean, factor, named }, fewest[i], labels[i]);
  });
  return labels;
}

/** Labels the points that take fewer nats in cluster c, `named` of which say which it is and how spread. Nats only grow from column to column, so most are soon done. */
function relabel(
  { data, rows, cols: q }: Matrix,
  { c, mean, factor, named }: { c: number; mean: Float64Array; factor: Float64Array; named: number },
  /* IN OUT */ fewest: Float64Array,
  /* IN OUT */ labels: Uint32Array,
): void {
  const units = new Float64Array(q);
  for (let r = 0; r < rows; r++) {
    const bar = fewest[r];
    let nats = named;
    for (let n = 0; n < q && nats < bar; n++) {
      let value = data[r * q + n] - mean[n];
      for (let x = 0; x < n; x++) value -= factor[n * q + x] * units[x];
      value /= factor[n * q + n];
      units[n] = value;
      nats += (value * value) / 2;
    }
    if (nats >= bar) continue;
    fewest[r] = nats;
    labels[r] = c;
  }
}

/** Factors of the clusters' own covariances, each drawn to the common one: few points know theirs badly. */
function ownFactors(sums: ClusterMoments, floor: number): Float64Array[] {
  const { counts, means } = sums;
  const q = means.cols;
  const common = covariance(sums, Array.from(counts.keys()));
  return Array.from(counts, (count, c) => {
    const share = (q + 1) / (count + q + 1);
    const drawn = covariance(sums, [c]).map((value, x) => (1 - share) * value + share * common[x]);
    return factorOf(drawn, q, floor);
  });
}

/** `floor` is added to every variance. */
function factorOf(matrix: Float64Array, q: number, floor: number): Float64Array {
  const steady = matrix.slice();
  for (let n = 0; n < q; n++) steady[n * q + n] += floor;
  return momentsCholesky(steady, q);
}

/** Half of the logarithm of the determinant. */
function logDiagonal(factor: Float64Array, q: number): number {
  let sum = 0;
  for (let n = 0; n < q; n++) sum += ln(factor[n * q + n]);
  return sum;
}

/** Of a cluster with fewer than `minimum` of its points a device says nothing. */
function sumsOf(
  points: readonly Matrix[],
  before: Matrix,
  labels: readonly Uint32Array[],
  minimum: number,
): ClusterMoments {
  const { rows: k, cols: q } = before;
  const counts = new Float64Array(k);
  const sums = new Float64Array(k * q);
  const products = new Float64Array(k * q * q);
  const difference = new Float64Array(q);
  points.forEach(({ data, rows }, i) => {
    const own = new Uint32Array(k);
    for (const c of labels[i]) own[c]++;
    for (let r = 0; r < rows; r++) {
      const c = labels[i][r];
      if (own[c] < minimum) continue;
      counts[c]++;
      for (let n = 0; n < q; n++) difference[n] = data[r * q + n] - before.data[c * q + n];
      for (let n = 0; n < q; n++) {
        const value = difference[n];
        const at = (c * q + n) * q;
        sums[c * q + n] += value;
        for (let o = 0; o <= n; o++) products[at + o] += value * difference[o];
      }
    }
  });
  mirror(products, k, q);
  const moved = before.data.map((value, x) => value + sums[x] / Math.max(1, counts[Math.floor(x / q)]));
  return { counts, sums, products, means: { data: moved, rows: k, cols: q } };
}

/** Above the diagonal of each of k matrices stands what is below it. */
function mirror(/* IN OUT */ products: Float64Array, k: number, q: number): void {
  for (let from = 0; from < k * q * q; from += q * q) {
    for (let n = 0; n < q; n++) {
      for (let o = 0; o < n; o++) products[from + o * q + n] = products[from + n * q + o];
    }
  }
}

/** The common covariance inside some clusters, as it is. */
function covariance(
  { counts, sums, products, means: { cols: q } }: ClusterMoments,
  clusters: readonly number[],
): Float64Array {
  const total = clusters.reduce((sum, c) => sum + counts[c], 0);
  const inside = new Float64Array(q * q);
  for (const c of clusters) {
    if (counts[c] === 0) continue;
    for (let n = 0; n < q; n++) {
      for (let o = 0; o < q; o++) {
        const product = products[(c * q + n) * q + o] - (sums[c * q + n] * sums[c * q + o]) / counts[c];
        inside[n * q + o] += product / total;
      }
    }
  }
  return inside;
}

/** What is less than this share of the variance is rounding. */
const FLAT = 1e-12;

/** What is added to every variance, so that equal points do not take no length at all. */
export function momentsFloor(sums: ClusterMoments): number {
  return FLAT * trace(covariance(sums, Array.from(sums.counts.keys())), sums.means.cols);
}

/** The same with more on its diagonal, so that it can be divided by; undefined where nothing varies. */
function steadied(sums: ClusterMoments, clusters: readonly number[]): Float64Array | undefined {
  const { cols: q } = sums.means;
  const inside = covariance(sums, clusters);
  const total = clusters.reduce((sum, c) => sum + sums.counts[c], 0);
  const varied = trace(inside, q);
  if (!(varied > 0)) return undefined;
  // Few points know their covariance badly, and a column that does not vary has none.
  for (let n = 0; n < q; n++) inside[n * q + n] += (q / total) * inside[n * q + n] + FLAT * varied;
  return inside;
}

function trace(matrix: Float64Array, q: number): number {
  let sum = 0;
  for (let n = 0; n < q; n++) sum += matrix[n * q + n];
  return sum;
}

// Cholesky's factor of a covariance, and points measured in its units.

/** L with L L' = S, q x q numbers each, for positive definite S. */
export function momentsCholesky(matrix: Float64Array, q: number): Float64Array {
  const factor = new Float64Array(q * q);
  for (let n = 0; n < q; n++) {
    for (let o = 0; o <= n; o++) {
      let value = matrix[n * q + o];
      for (let x = 0; x < o; x++) value -= factor[n * q + x] * factor[o * q + x];
      factor[n * q + o] = o < n ? value / factor[o * q + o] : Math.sqrt(value);
    }
  }
  return factor;
}

/** L^-1 x for every row x: where the rows have covariance S, these have none, and variance 1. */
export function whitenByMoments(factor: Float64Array, { data, rows, cols: q }: Matrix): Matrix {
  const result = new Float64Array(data.length);
  for (let r = 0; r < rows; r++) {
    for (let n = 0; n < q; n++) {
      let value = data[r * q + n];
      for (let x = 0; x < n; x++) value -= factor[n * q + x] * result[r * q + x];
      result[r * q + n] = value / factor[n * q + n];
    }
  }
  return { data: result, rows, cols: q };
}

// Separation: what cutting a pair of clusters in two gains, compared with points that are spread evenly.

/** Evenly spread points cut in two give 0 with a variance of 0.3 / n (the delta method); four deviations are chance. */
const NOISE = 4 * Math.sqrt(0.3);

/** Below it lies what compact cells gain in a square of evenly spread points, however many there are. */
export const COMPACT = 0.09;

/** Fewer points than this are strays: no cluster, and no reason why others should not be apart. */
const FEWEST = 5;

/** The share of the points whose cluster is apart from every other; a single one has nothing to be apart from. */
export function separateMoments(sums: ClusterMoments): number {
  const { counts } = sums;
  if (counts.length === 1) return 1;
  const clusters = Array.from(counts.keys()).filter((c) => counts[c] >= FEWEST);
  const joined = new Set<number>();
  clusters.forEach((a, at) => {
    for (const b of clusters.slice(0, at)) {
      if (joined.has(a) && joined.has(b)) continue;
      const { separation, needed } = pairSeparation(sums, a, b);
      if (separation <= needed) joined.add(a).add(b);
    }
  });
  const apart = clusters.length > 1 ? clusters.filter((c) => !joined.has(c)) : [];
  const total = counts.reduce((sum, count) => sum + count, 0);
  return apart.reduce((sum, c) => sum + counts[c], 0) / Math.max(1, total);
}

/**
 * Two normal distributions of one shape against one that covers both: ln(1 + s t D^2) / 2 nats less per point, with
 * shares s and t and D the distance of the means in units of the common spread, for the entropy of the shares more.
 * A normal cluster cut in two loses 0.19, evenly spread points gain nothing, a valley between the two gains. Two clusters are
 * apart if `separation` is more than `needed`.
 */
export function pairSeparation(sums: ClusterMoments, a: number, b: number): { separation: number; needed: number } {
  const [m, n] = [sums.counts[a], sums.counts[b]];
  // Chance counts by the smaller cluster: a few far points are no cluster.
  const needed = Math.max(COMPACT, NOISE / Math.sqrt(Math.max(1, (4 * m * n) / Math.max(1, m + n))));
  // Two points alone are always apart, which says nothing.
  if (m === 0 || n === 0 || m + n <= 2) return { separation: 0, needed };
  const [s, t] = [m / (m + n), n / (m + n)];
  const gained = ln(1 + s * t * squaredSeparation(sums, a, b)) / 2;
  return { separation: gained + s * ln(s) + t * ln(t), needed };
}

/** Of equal points it would be infinite. */
const LARGEST_SQUARE = 1e12;

/**
 * D^2 = (v - w)' S^-1 (v - w): v and w the means of the pair, S the covariance inside its clusters. Points count the
 * same, or clusters do, whichever brings the two nearer: the thin tail of one heap is no cluster beside its core.
 */
function squaredSeparation(sums: ClusterMoments, a: number, b: number): number {
  const { data, cols: q } = sums.means;
  const gap = Float64Array.from({ length: q }, (_, n) => data[a * q + n] - data[b * q + n]);
  const together = steadied(sums, [a, b]);
  if (together === undefined) return dot(gap, gap) > 0 ? LARGEST_SQUARE : 0;
  const [first, second] = [steadied(sums, [a]), steadied(sums, [b])];
  const halves = together.map((_, x) => ((first?.[x] ?? 0) + (second?.[x] ?? 0)) / 2);
  return [together, halves].reduce((least, inside) => {
    const { data: across } = whitenByMoments(momentsCholesky(inside, q), { data: gap, rows: 1, cols: q });
    return Math.min(least, dot(across, across));
  }, LARGEST_SQUARE);
}

/**
 * Points spread evenly take the same length however they are cut: each cut costs ln 2 for the name of the half and saves
 * ln 2 inside it. Points of one normal cluster take more when they are cut, and points of several take the least when
 * each cluster is one. So the k of the shortest length is the number of clusters, and one pair of them that overlaps
 * adds little. Clusters are normal, each with a covariance of its own or all with a common one, whichever is shorter.
 * `floor` is added to every variance: without it equal points would take no length at all.
 */
export function momentsLength(sums: ClusterMoments, floor: number): number {
  const { counts, means } = sums;
  const q = means.cols;
  const total = counts.reduce((sum, count) => sum + count, 0);
  const filled = Array.from(counts.keys()).filter((c) => counts[c] > 0);
  if (total === 0 || floor === 0) return 0;
  const factors = ownFactors(sums, floor);
  let names = 0;
  let own = 0;
  for (const c of filled) {
    const share = counts[c] / total;
    names -= share * ln(share);
    own += share * logDiagonal(factors[c], q);
  }
  // What is fitted to the points describes them too well: by about one nat for each number that was fitted (Akaike).
  const flattered = (fitted: number) => fitted / total;
  const [shape, positions] = [(q * (q + 1)) / 2, filled.length * (q + 1)];
  const shapedAlone = own + flattered(positions + filled.length * shape);
  const shapedAlike = logDiagonal(factorOf(covariance(sums, filled), q, floor), q) + flattered(positions + shape);
  return names + Math.min(shapedAlone, shapedAlike);
}
