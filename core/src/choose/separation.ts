// Whether k clusters stand apart, from sums alone: what cutting the least separate pair of clusters in two is worth,
// against points that are spread evenly and have no clusters at all.

import { ln } from "../elementary.ts";
import { nearestCentroids } from "../kmeans.ts";
import { dot, type Matrix } from "../matrix.ts";
import { cholesky, solved } from "./cholesky.ts";

/** In nats per point of the least separate pair; the clusters are apart if `separation` is more than `needed`. */
interface Separation {
  readonly separation: number;
  readonly needed: number;
}

/** Evenly spread points cut in two give 0 with a variance of 0.3 / n (the delta method); three deviations are chance. */
const NOISE = 3 * Math.sqrt(0.3);

/** Below it lies what compact cells gain in a square of evenly spread points, however many there are. */
const LEAST = 0.09;

/** With more columns than this, points are looked at in the space between the centroids only. */
const MOST_COLUMNS = 16;

/** So often labels are renewed; they settle in a few, or there are no clusters. */
const RENEWALS = 10;

/** What the devices add up for each cluster. */
interface ClusterSums {
  readonly counts: Float64Array;
  /** Of the differences to the mean so far: k rows of q numbers, k matrices of q x q. */
  readonly sums: Float64Array;
  readonly products: Float64Array;
}

/**
 * Begins with the labels of k-means. Then all devices measure in units of the common spread inside the clusters, which
 * follows from the sums, label anew and add up again: k-means cuts long clusters across, this does not, and finds what
 * k-means finds where clusters are round. `sums`: the devices added up so many numbers, one sum after the other.
 */
export function separationOf(
  datasets: readonly Matrix[],
  centroids: Matrix,
  minimum: number,
): Separation & { readonly sums: readonly number[] } {
  const frame = frameOf(centroids);
  const points = datasets.map((own) => inFrame(own, centroids, frame));
  let means = inFrame(centroids, centroids, frame);
  let labels = points.map((own) => nearestCentroids(means, own));
  const { rows: k, cols: q } = means;
  // Of each cluster count, sum and products; and how many labels changed.
  const numbers = k * (1 + q + (q * (q + 1)) / 2) + 1;
  for (let summed = 1; ; summed++) {
    const sums = sumsOf(points, means, labels, minimum);
    means = movedMeans(means, sums);
    const renewed = summed > RENEWALS ? undefined : labelsInside(points, means, sums);
    const settled = renewed?.every((own, i) => own.every((label, r) => label === labels[i][r]));
    if (renewed === undefined || settled) {
      // That no label changed is a sum too.
      return { ...leastSeparation(sums, means), sums: new Array(settled ? summed + 1 : summed).fill(numbers) };
    }
    labels = renewed;
  }
}

/** The nearest mean of every point in units of the spread inside the clusters; undefined where nothing varies. */
function labelsInside(points: readonly Matrix[], means: Matrix, sums: ClusterSums): Uint32Array[] | undefined {
  const inside = covariance(
    sums,
    means.cols,
    Array.from({ length: means.rows }, (_, c) => c),
  );
  if (inside === undefined) return undefined;
  const factor = cholesky(inside, means.cols);
  return points.map((own) => nearestCentroids(solved(factor, means), solved(factor, own)));
}

/** Orthonormal rows of the directions that are looked at: all, or those between the centroids. */
function frameOf({ data, rows, cols }: Matrix): Float64Array[] {
  const whole = cols <= MOST_COLUMNS;
  const frame: Float64Array[] = [];
  for (let n = 0; n < (whole ? cols : rows - 1); n++) {
    const direction = new Float64Array(cols);
    if (whole) direction[n] = 1;
    else for (let x = 0; x < cols; x++) direction[x] = data[(n + 1) * cols + x] - data[x];
    const before = dot(direction, direction);
    // Twice, so that what rounding leaves of the earlier directions goes too.
    for (const other of [...frame, ...frame]) {
      const share = dot(direction, other);
      for (let x = 0; x < cols; x++) direction[x] -= share * other[x];
    }
    const after = dot(direction, direction);
    if (after > 1e-18 * before) frame.push(direction.map((value) => value / Math.sqrt(after)));
  }
  // Where all centroids are one, any direction will do.
  return frame.length > 0 ? frame : [Float64Array.from({ length: cols }, (_, x) => (x === 0 ? 1 : 0))];
}

/** Coordinates in the frame, from the first centroid. */
function inFrame({ data, rows }: Matrix, centroids: Matrix, frame: readonly Float64Array[]): Matrix {
  const { cols } = centroids;
  const q = frame.length;
  const coordinates = new Float64Array(rows * q);
  const difference = new Float64Array(cols);
  for (let r = 0; r < rows; r++) {
    for (let x = 0; x < cols; x++) difference[x] = data[r * cols + x] - centroids.data[x];
    for (let n = 0; n < q; n++) coordinates[r * q + n] = dot(difference, frame[n]);
  }
  return { data: coordinates, rows, cols: q };
}

/** Of a cluster with fewer than `minimum` of its points a device says nothing. */
function sumsOf(
  points: readonly Matrix[],
  means: Matrix,
  labels: readonly Uint32Array[],
  minimum: number,
): ClusterSums {
  const { rows: k, cols: q } = means;
  const counts = new Float64Array(k);
  const sums = new Float64Array(k * q);
  const products = new Float64Array(k * q * q);
  const difference = new Float64Array(q);
  points.forEach(({ data }, i) => {
    const own = new Uint32Array(k);
    for (const c of labels[i]) own[c]++;
    labels[i].forEach((c, r) => {
      if (own[c] < minimum) return;
      counts[c]++;
      for (let n = 0; n < q; n++) difference[n] = data[r * q + n] - means.data[c * q + n];
      for (let n = 0; n < q; n++) {
        sums[c * q + n] += difference[n];
        for (let o = 0; o < q; o++) products[(c * q + n) * q + o] += difference[n] * difference[o];
      }
    });
  });
  return { counts, sums, products };
}

function movedMeans({ data, rows, cols }: Matrix, { counts, sums }: ClusterSums): Matrix {
  const moved = data.map((value, x) => {
    const count = counts[Math.floor(x / cols)];
    return count > 0 ? value + sums[x] / count : value;
  });
  return { data: moved, rows, cols };
}

/** What is less than this share of the variance is rounding. */
const FLAT = 1e-12;

/** The common covariance inside some clusters; undefined where nothing varies. */
function covariance(
  { counts, sums, products }: ClusterSums,
  q: number,
  clusters: readonly number[],
): Float64Array | undefined {
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
  let trace = 0;
  for (let n = 0; n < q; n++) trace += inside[n * q + n];
  if (!(trace > 0)) return undefined;
  // Few points know their covariance badly, and a column that does not vary has none.
  for (let n = 0; n < q; n++) inside[n * q + n] += (q / total) * inside[n * q + n] + FLAT * trace;
  return inside;
}

/** The pair that is least apart for its size; a single cluster has nothing to be apart from. */
function leastSeparation(sums: ClusterSums, means: Matrix): Separation {
  let least: Separation | undefined;
  for (let a = 1; a < means.rows; a++) {
    for (let b = 0; b < a; b++) {
      const pair = pairSeparation(sums, means, a, b);
      if (least === undefined || pair.separation - pair.needed < least.separation - least.needed) least = pair;
    }
  }
  return least ?? { separation: 0, needed: 0 };
}

/**
 * Two normal distributions of one shape against one that covers both: ln(1 + s t D^2) / 2 nats less per point, with
 * shares s and t and D the distance of the means in units of the common spread, for the entropy of the shares more.
 * A normal cluster cut in two loses 0.19, evenly spread points gain nothing, a valley between the two gains.
 */
function pairSeparation(sums: ClusterSums, means: Matrix, a: number, b: number): Separation {
  const [m, n] = [sums.counts[a], sums.counts[b]];
  // Chance counts by the smaller cluster: a few far points are no cluster.
  const needed = Math.max(LEAST, NOISE / Math.sqrt(Math.max(1, (4 * m * n) / Math.max(1, m + n))));
  // Two points alone are always apart, which says nothing.
  if (m === 0 || n === 0 || m + n <= 2) return { separation: 0, needed };
  const [s, t] = [m / (m + n), n / (m + n)];
  const gained = ln(1 + s * t * squaredDistance(sums, means, a, b)) / 2;
  return { separation: gained + s * ln(s) + t * ln(t), needed };
}

/** Of equal points it would be infinite. */
const LARGEST_SQUARE = 1e12;

/** D^2 = (v - w)' S^-1 (v - w): v and w the means of the pair, S the covariance inside its clusters. */
function squaredDistance(sums: ClusterSums, { data, cols: q }: Matrix, a: number, b: number): number {
  const gap = Float64Array.from({ length: q }, (_, n) => data[a * q + n] - data[b * q + n]);
  const inside = covariance(sums, q, [a, b]);
  if (inside === undefined) return dot(gap, gap) > 0 ? LARGEST_SQUARE : 0;
  const { data: across } = solved(cholesky(inside, q), { data: gap, rows: 1, cols: q });
  return Math.min(LARGEST_SQUARE, dot(across, across));
}
