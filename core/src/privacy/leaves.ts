// Groups in which waiting rows of a guarded device may come to count: rows of one leaf, which is a cell of the centroids, or
// a heap within it. Whoever enters with rows of other clusters would be among them for ever.

import type { Matrix } from "../data/matrix.ts";
import { squaredDistance, stack } from "../data/matrix.ts";
import { randomStream } from "../data/random.ts";
import { jsKernel } from "../kernel/js.ts";

/** Two heaps: less than this share of the variance along the line of both means is left within them. One normal heap has 0.36. */
const HEAPS_BELOW = 0.3;

/** So many standard deviations fewer rows lie midway between two heaps than around the smaller of them. */
const VALLEY_DEVIATIONS = 2;

/** In minimums of rows: larger leaves are halved, so that their classes can follow clusters that are found anew. */
const LARGE = 40;

/** A row is far from its leaf beyond this many times the mean squared distance. */
const FAR = 9;

/** Of the search for two means. */
const STARTS = 3;
const MOST_STEPS = 12;
const SAMPLE = 1_000;
const MOST_HALVINGS = 64;

/** Rows that wait, scaled, and which of them never counted before. */
interface WaitingRows {
  readonly points: Matrix;
  readonly isFresh: ArrayLike<number>;
}

/**
 * Groups of waiting rows, by their numbers, each with at least `minimum` fresh ones. All others go on waiting. `at` are the
 * centroids at which labels were last published. The same rows give the same groups.
 * @example
 * waitingGroups(matrix([[0]]), { points: matrix([[1], [2]]), isFresh: [1, 1] }, Float64Array.of(0), 2) // [[0, 1]]
 */
export function waitingGroups(
  counted: Matrix,
  { points: waiting, isFresh }: WaitingRows,
  at: Float64Array,
  minimum: number,
): number[][] {
  const points = stack([counted, waiting]);
  const first = counted.rows;
  const labels = new Uint32Array(points.rows);
  jsKernel.prepare(points).labels(at, labels);
  const cells = Array.from({ length: at.length / points.cols }, (): number[] => []);
  labels.forEach((label, r) => {
    cells[label].push(r);
  });
  const leaves = cells.flatMap((rows) => leavesOf(points, rows, first, minimum));
  return leaves
    .flatMap((rows) => nearAndFar(points, rows))
    .map((rows) => rows.filter((r) => r >= first).map((r) => r - first))
    .filter((rows) => rows.reduce((sum, r) => sum + isFresh[r], 0) >= minimum);
}

/** Those leaves of a cell that have rows from the number `first` on. */
function leavesOf(points: Matrix, cell: readonly number[], first: number, minimum: number): (readonly number[])[] {
  const leaves: (readonly number[])[] = [];
  const open = [{ rows: cell, halvings: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { rows, halvings } = next;
    if (!rows.some((r) => r >= first)) continue;
    const halves = rows.length >= 2 * minimum && halvings < MOST_HALVINGS ? halved(points, rows) : undefined;
    const isLarge = rows.length >= LARGE * minimum && halves?.parts.every(({ length }) => length >= minimum);
    if (halves !== undefined && (halves.areHeaps || isLarge)) {
      for (const part of halves.parts) open.push({ rows: part, halvings: halvings + 1 });
    } else leaves.push(rows);
  }
  return leaves;
}

/** Rows by the nearer of two means, and whether these are two heaps; undefined: all rows are alike. */
function halved(points: Matrix, rows: readonly number[]) {
  const means = twoMeans(points, rows);
  if (means === undefined) return undefined;
  const { data, cols } = points;
  const length = squaredDistance(means, 0, means, cols, cols);
  const parts: [number[], number[]] = [[], []];
  const sums = [0, 0];
  const squares = [0, 0];
  /** Around the first mean, midway, and around the second. */
  const around = [0, 0, 0];
  for (const r of rows) {
    const half = nearer(data, r, means, cols);
    let along = 0;
    for (let i = 0; i < cols; i++) along += (data[r * cols + i] - means[i]) * (means[cols + i] - means[i]);
    along /= length;
    parts[half].push(r);
    sums[half] += along;
    squares[half] += along * along;
    const stretch = Math.round(2 * along);
    if (Math.abs(2 * along - stretch) < 1 / 3 && stretch >= 0 && stretch <= 2) around[stretch]++;
  }
  if (!(length > 0) || parts.some((part) => part.length === 0)) return undefined;
  const within = parts.reduce((sum, part, half) => sum + squares[half] - sums[half] ** 2 / part.length, 0);
  const total = squares[0] + squares[1] - (sums[0] + sums[1]) ** 2 / rows.length;
  // Rows that are spread evenly are no heaps, though as little of their variance is left within two halves.
  const [least, between] = [Math.min(around[0], around[2]), around[1]];
  const isValley = least - between > VALLEY_DEVIATIONS * Math.sqrt(least + between);
  return { parts, areHeaps: within < HEAPS_BELOW * total && isValley };
}

function nearer(data: Float64Array, r: number, means: Float64Array, cols: number): 0 | 1 {
  const [a, b] = [squaredDistance(data, r * cols, means, 0, cols), squaredDistance(data, r * cols, means, cols, cols)];
  return a <= b ? 0 : 1;
}

/** The best of a few runs of 2-means on a sample of the rows. */
function twoMeans({ data, cols }: Matrix, rows: readonly number[]): Float64Array | undefined {
  const every = Math.max(1, Math.floor(rows.length / SAMPLE));
  const sample = rows.filter((_, at) => at % every === 0);
  const random = randomStream(rows.length, "leaves");
  let best: { readonly means: Float64Array; readonly loss: number } | undefined;
  for (let start = 0; start < STARTS; start++) {
    const found = lloyd(data, cols, sample, seeds(data, cols, sample, random));
    if (found !== undefined && (best === undefined || found.loss < best.loss)) best = found;
  }
  return best?.means;
}

/** A row by chance, and another by its squared distance from it. */
function seeds(data: Float64Array, cols: number, rows: readonly number[], random: () => number): Float64Array {
  const from = rows[Math.floor(random() * rows.length)];
  const squares = rows.map((r) => squaredDistance(data, r * cols, data, from * cols, cols));
  let left = random() * squares.reduce((sum, square) => sum + square, 0);
  let to = from;
  for (let at = 0; left > 0 && at < rows.length; at++) {
    left -= squares[at];
    to = rows[at];
  }
  return Float64Array.of(...[from, to].flatMap((r) => Array.from(data.subarray(r * cols, (r + 1) * cols))));
}

function lloyd(data: Float64Array, cols: number, rows: readonly number[], means: Float64Array) {
  let loss = Number.POSITIVE_INFINITY;
  for (let step = 0; step < MOST_STEPS; step++) {
    const sums = new Float64Array(2 * cols);
    const counts = [0, 0];
    let now = 0;
    for (const r of rows) {
      const half = nearer(data, r, means, cols);
      counts[half]++;
      now += squaredDistance(data, r * cols, means, half * cols, cols);
      for (let i = 0; i < cols; i++) sums[half * cols + i] += data[r * cols + i];
    }
    if (counts[0] === 0 || counts[1] === 0) return undefined;
    if (now >= loss) break;
    loss = now;
    for (let i = 0; i < 2 * cols; i++) means[i] = sums[i] / counts[i < cols ? 0 : 1];
  }
  return { means, loss };
}

/** The rows of a leaf that are near its mean, and the others. */
function nearAndFar({ data, cols }: Matrix, rows: readonly number[]): number[][] {
  const mean = new Float64Array(cols);
  for (const r of rows) for (let i = 0; i < cols; i++) mean[i] += data[r * cols + i] / rows.length;
  const squares = rows.map((r) => squaredDistance(data, r * cols, mean, 0, cols));
  const most = (FAR * squares.reduce((sum, square) => sum + square, 0)) / rows.length;
  return [rows.filter((_, at) => squares[at] <= most), rows.filter((_, at) => squares[at] > most)];
}
