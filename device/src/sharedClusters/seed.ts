// Where shared clusters begin, from masked sums alone: a histogram of all rows on a public grid, then a codebook, which is
// a few dozen cells with the number of their rows and their means, and k-means on these. More than three features are
// first turned to the three directions in which all rows together vary most.

import { kmeans, randomStream } from "@fedkm/core";
import { areRowsEnough, HALVES_SEED, halfOfRows } from "@fedkm/core/choose";
import { type Content, type GenerationOutcome, type Stage, stages } from "./generation.ts";
import { clusterIntegers, fractionBits, lloydStep, sharedMeansAtRest } from "./lloyd.ts";
import { nearest, type SumsShape, sumsBy, type Weighted } from "./shape.ts";

// The directions in which points vary most, from their covariance: a few steps of subspace iteration. Only sums,
// products, quotients and square roots, so that every device finds the same bits.

const ITERATIONS = 200;

/** Of length 1 each, with the variance along it. */
function directionsOf(covariance: readonly Float64Array[], many: number) {
  const size = covariance.length;
  // Begins with all directions a little different, so that none is orthogonal to what is looked for.
  let found: Float64Array[] = Array.from({ length: many }, (_, a) =>
    Float64Array.from({ length: size }, (_, i) => (i % many === a ? 1 : 0) + 1 / (2 + a + i)),
  );
  orthonormalize(found);
  for (let n = 0; n < ITERATIONS; n++) {
    found = found.map((direction) => timesMatrix(covariance, direction));
    orthonormalize(found);
  }
  return found.map((direction) => ({ direction, variance: dot(direction, timesMatrix(covariance, direction)) }));
}

function timesMatrix(matrix: readonly Float64Array[], vector: Float64Array): Float64Array {
  return Float64Array.from(matrix, (row) => dot(row, vector));
}

/** One after the other; what vanishes becomes the first feature that is still left. */
function orthonormalize(/* IN OUT */ vectors: Float64Array[]): void {
  vectors.forEach((vector, a) => {
    const clear = () => {
      for (const before of vectors.slice(0, a)) {
        const share = dot(before, vector);
        for (let i = 0; i < vector.length; i++) vector[i] -= share * before[i];
      }
    };
    const whole = Math.sqrt(dot(vector, vector));
    clear();
    for (let axis = 0; Math.sqrt(dot(vector, vector)) <= 1e-9 * whole && axis < vector.length; axis++) {
      vector.fill(0);
      vector[axis] = 1;
      clear();
      if (dot(vector, vector) > 1e-6) break;
    }
    const length = Math.sqrt(dot(vector, vector));
    for (let i = 0; i < vector.length; i++) vector[i] /= length;
  });
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** With more features than this the grid has these many directions. */
export const GRID_FEATURES = 3;
/** Cells along each direction of a grid with one, two and three of them: about a thousand in all. */
const CELLS = [0, 1024, 32, 12];
/** A grid of which all rows lie in a smaller share of the cells than this is laid anew where they are. */
const ZOOM_SHARE = 1 / 8;
const MOST_ZOOMS = 8;

/** More features than this are first mixed to fewer, by signs that everybody knows: a covariance of all would be long. */
const MOST_MOMENTS = 32;
const MIXED = 24;
export const MOMENT_BITS = 30;
/** The grid reaches this many standard deviations from the mean. */
const REACH = 4;

/** Cells of the codebook: enough that k-means on them ends where that of all rows does, of three rows in the mean. */
const MOST_CODEBOOK_CELLS = 64;
const ROWS_IN_A_CELL = 3;
/** With many features there are fewer cells: an entry stays below 128 kB. */
const MOST_CODEBOOK_INTEGERS = 1 << 14;
/** Sums are asked of the cells so often, each time nearer to rest, before k-means is run on them. */
const CODEBOOK_STEPS = 3;
/** Free: no sums are asked for them. */
const RESTARTS = 60;
/** Where the cells begin need not be the best. */
const GRID_RESTARTS = 3;
/** So many cells for each cluster are enough where they are of all features. */
const CELLS_A_CLUSTER = 4;

/** How many cells the codebook of so many rows, or of each half of them, has; never fewer than clusters. */
export function codebookCells(shape: SumsShape, rows: number): number {
  const parts = codebookParts(shape, rows);
  const most = Math.floor(MOST_CODEBOOK_INTEGERS / parts / (shape.d + 1));
  return Math.max(shape.k, Math.min(MOST_CODEBOOK_CELLS, Math.floor(rows / parts / ROWS_IN_A_CELL), most));
}

/** Where k is looked for, each half of few rows has cells of its own, because it judges the clusters of the other. */
export function codebookParts({ d, choosing, isGuarded }: SumsShape, rows: number): number {
  return choosing === undefined || isGuarded || areRowsEnough(rows, d) ? 1 : 2;
}

/** Of both halves together. */
export const allCells = (shape: SumsShape, rows: number) => codebookParts(shape, rows) * codebookCells(shape, rows);

const axesIn = ({ d }: SumsShape) => Math.min(d, GRID_FEATURES);
export const cellsIn = (shape: SumsShape) => CELLS[axesIn(shape)] ** axesIn(shape);
/** Where the grid begins and ends along each direction, then the directions if they are not the features themselves. */
export const gridNumbers = (shape: SumsShape) => 2 * axesIn(shape) + turnedNumbers(shape);
/** The centres of the codebook's cells along the directions, then the directions. */
export const meansNumbers = (shape: SumsShape, rows: number) =>
  codebookCells(shape, rows) * axesIn(shape) + turnedNumbers(shape);
const turnedNumbers = ({ d }: SumsShape) => (d > GRID_FEATURES ? GRID_FEATURES * d : 0);

export function wholeGrid({ ranges }: SumsShape): Float64Array {
  return Float64Array.from([...ranges.map((range) => -range / 2), ...ranges.map((range) => range / 2)]);
}

/** What a covariance is made of: the features, or fewer mixtures of them. One row each. */
function mixtures({ d }: SumsShape): Float64Array[] {
  const row = (_: unknown, j: number) => Float64Array.from({ length: d }, (_, f) => (f === j ? 1 : 0));
  if (d <= MOST_MOMENTS) return Array.from({ length: d }, row);
  const random = randomStream(d, "mixtures");
  return Array.from({ length: MIXED }, () => Float64Array.from({ length: d }, () => (random() < 0.5 ? -1 : 1)));
}

export const mixturesIn = ({ d }: SumsShape) => (d <= MOST_MOMENTS ? d : MIXED);

export function momentsIn(shape: SumsShape): number {
  const many = mixturesIn(shape);
  return 1 + many + (many * (many + 1)) / 2;
}

/** As wide as a mixture of numbers within the ranges can be. */
const widthOf = (row: Float64Array, { ranges }: SumsShape) =>
  row.reduce((sum, share, f) => sum + Math.abs(share) * ranges[f], 0);

/** The number of rows, their sums, and the sums of products, as shares of the widths. */
export function momentIntegers(shape: SumsShape, { points, weights }: Weighted): Float64Array {
  const { data, rows, cols } = points;
  const mixed = mixtures(shape);
  const widths = mixed.map((row) => widthOf(row, shape));
  const sums = new Float64Array(momentsIn(shape));
  for (let r = 0; r < rows; r++) {
    const weight = weights?.[r] ?? 1;
    const point = data.subarray(r * cols, (r + 1) * cols);
    const at = mixed.map((row, j) => dot(row, point) / widths[j]);
    sums[0] += weight;
    at.forEach((value, j) => {
      sums[1 + j] += weight * value;
    });
    for (let j = 0, i = 1 + at.length; j < at.length; j++) {
      for (let l = j; l < at.length; l++, i++) sums[i] += weight * at[j] * at[l];
    }
  }
  return sums.map((sum, i) => (i === 0 ? sum : Math.round(sum * 2 ** MOMENT_BITS)));
}

export function afterMoments(shape: SumsShape, content: Content, totals: Float64Array): GenerationOutcome {
  const rows = totals[0];
  if (rows === 0) return "settled";
  const mixed = mixtures(shape);
  const widths = mixed.map((row) => widthOf(row, shape));
  const shares = totals.map((total) => total / rows / 2 ** MOMENT_BITS);
  const means = widths.map((width, j) => shares[1 + j] * width);
  const covariance = widths.map(() => new Float64Array(widths.length));
  for (let j = 0, i = 1 + widths.length; j < widths.length; j++) {
    for (let l = j; l < widths.length; l++, i++) {
      covariance[j][l] = shares[i] * widths[j] * widths[l] - means[j] * means[l];
      covariance[l][j] = covariance[j][l];
    }
  }
  const found = directionsOf(covariance, GRID_FEATURES);
  const middle = found.map(({ direction }) => dot(direction, Float64Array.from(means)));
  const reach = found.map(({ variance }) => REACH * Math.sqrt(Math.max(0, variance)));
  const axes = found.flatMap(({ direction }) =>
    Array.from({ length: shape.d }, (_, f) => mixed.reduce((sum, row, j) => sum + direction[j] * row[f], 0)),
  );
  const numbers = Float64Array.from([
    ...middle.map((at, a) => at - reach[a]),
    ...middle.map((at, a) => at + reach[a]),
    ...axes,
  ]);
  return { ...content, stage: stages.grid, steps: content.steps + 1, rows, numbers };
}

/** A point along the directions; with few features it is the point itself. */
function projected(axes: Float64Array, point: Float64Array): Float64Array {
  if (axes.length === 0) return point;
  const d = point.length;
  return Float64Array.from({ length: axes.length / d }, (_, a) => dot(axes.subarray(a * d, (a + 1) * d), point));
}

/** How many rows are in each cell. */
export function sharedGridIntegers(
  shape: SumsShape,
  numbers: Float64Array,
  { points, weights }: Weighted,
): Float64Array {
  const q = axesIn(shape);
  const [low, high, axes] = [numbers.subarray(0, q), numbers.subarray(q, 2 * q), numbers.subarray(2 * q)];
  const counts = new Float64Array(cellsIn(shape));
  for (let r = 0; r < points.rows; r++) {
    const at = projected(axes, points.data.subarray(r * points.cols, (r + 1) * points.cols));
    let cell = 0;
    for (let a = 0; a < q; a++) {
      const share = high[a] > low[a] ? (at[a] - low[a]) / (high[a] - low[a]) : 0;
      cell = cell * CELLS[q] + Math.min(CELLS[q] - 1, Math.max(0, Math.floor(share * CELLS[q])));
    }
    counts[cell] += weights?.[r] ?? 1;
  }
  return counts;
}

/** The place of a cell along each direction. */
function placeOf(cell: number, q: number): number[] {
  return Array.from({ length: q }, (_, a) => Math.floor(cell / CELLS[q] ** (q - 1 - a)) % CELLS[q]);
}

export function afterGrid(shape: SumsShape, content: Content, totals: Float64Array, next: Stage): GenerationOutcome {
  const q = axesIn(shape);
  const rows = totals.reduce((sum, count) => sum + count, 0);
  if (rows === 0) return "settled";
  const steps = content.steps + 1;
  const low = content.numbers.subarray(0, q);
  const step = low.map((at, a) => (content.numbers[q + a] - at) / CELLS[q]);
  const axes = content.numbers.subarray(2 * q);
  const cells = Array.from(totals.keys()).filter((cell) => totals[cell] > 0);
  const places = cells.map((cell) => placeOf(cell, q));
  const first = step.map((_, a) => Math.min(...places.map((place) => place[a])));
  const last = step.map((_, a) => Math.max(...places.map((place) => place[a])));
  const share = first.reduce((part, at, a) => (part * (last[a] + 1 - at)) / CELLS[q], 1);
  if (share < ZOOM_SHARE && content.steps < MOST_ZOOMS) {
    const bounds = [
      ...first.map((at, a) => low[a] + at * step[a]),
      ...last.map((at, a) => low[a] + (at + 1) * step[a]),
    ];
    return { ...content, steps, rows, numbers: Float64Array.from([...bounds, ...axes]) };
  }
  const centres = places.map((place) => place.map((at, a) => low[a] + (at + 0.5) * step[a]));
  const weights = cells.map((cell) => totals[cell]);
  const k = codebookCells(shape, rows);
  // Spread over so many cells of all features the grid is as good as a codebook, and nothing more is asked.
  const spread = rows ** 2 / weights.reduce((sum, count) => sum + count ** 2, 0);
  if (axes.length === 0 && shape.choosing === undefined && spread >= CELLS_A_CLUSTER * shape.k)
    return { ...content, stage: next, steps, rows, numbers: weightedKmeans(centres, weights, shape.k, RESTARTS) };
  const found = weightedKmeans(centres, weights, k, GRID_RESTARTS);
  if (axes.length === 0)
    return { ...content, stage: stages.codebook, steps: 0, rows, numbers: forParts(shape, rows, found) };
  return { ...content, stage: stages.means, steps, rows, numbers: Float64Array.from([...found, ...axes]) };
}

/** The centres of k clusters of weighted points. */
function weightedKmeans(
  points: readonly ArrayLike<number>[],
  weights: readonly number[],
  k: number,
  restarts: number,
): Float64Array {
  const cols = points[0].length;
  // Fewer points than clusters: some clusters begin at one place and stay without rows.
  const more = Array.from({ length: Math.max(0, k - points.length) }, () => points[0]);
  const rows = [...points, ...more];
  const data = Float64Array.from(rows.flatMap((point) => Array.from(point)));
  const all = [...weights, ...more.map(() => 1)];
  return kmeans({ data, rows: rows.length, cols }, { k, weights: all, restarts, seed: 0 }).centroids.data;
}

/** Counts and sums of the rows that are nearest to each centre along the directions. */
export function meansIntegers(shape: SumsShape, { numbers, rows }: Content, seed: Weighted): Float64Array {
  const { d, ranges } = shape;
  const cells = codebookCells(shape, rows);
  const q = axesIn(shape);
  const [centres, axes] = [numbers.subarray(0, cells * q), numbers.subarray(cells * q)];
  const { counts, sums } = sumsBy(seed, cells, (point) => nearest(projected(axes, point), centres));
  const unit = 2 ** fractionBits(rows);
  return Float64Array.from([...counts, ...sums.map((sum, i) => Math.round((sum / ranges[i % d]) * unit))]);
}

export function afterMeans(shape: SumsShape, content: Content, totals: Float64Array): GenerationOutcome {
  const { d, ranges } = shape;
  const cells = codebookCells(shape, content.rows);
  const unit = 2 ** fractionBits(content.rows);
  const numbers = new Float64Array(cells * d);
  for (let i = 0; i < cells * d; i++) {
    const count = totals[Math.floor(i / d)];
    const share = count === 0 ? 0 : totals[cells + i] / unit / count;
    numbers[i] = share * ranges[i % d];
  }
  return { ...content, stage: stages.codebook, steps: 0, numbers: forParts(shape, content.rows, numbers) };
}

/** The cells of both halves begin at the same places. */
function forParts(shape: SumsShape, rows: number, centres: Float64Array): Float64Array {
  const parts = Array.from({ length: codebookParts(shape, rows) }, () => Array.from(centres));
  return Float64Array.from(parts.flat());
}

const asCodebook = (shape: SumsShape, { rows }: Content): SumsShape => ({ ...shape, k: allCells(shape, rows) });

/** Counts of the rows nearest to each cell of the codebook, and by how much their sums are off it. */
export function codebookIntegers(shape: SumsShape, content: Content, seed: Weighted): Float64Array {
  const cells = asCodebook(shape, content);
  const length = content.numbers.length / codebookParts(shape, content.rows);
  const parts = partsOf(shape, content, seed).map((part, p) => {
    const centres = content.numbers.subarray(p * length, (p + 1) * length);
    return sumsBy(part, length / shape.d, (point) => nearest(point, centres));
  });
  const join = (of: "counts" | "sums") => Float64Array.from(parts.flatMap((part) => Array.from(part[of])));
  return clusterIntegers(cells, content, { counts: join("counts"), sums: join("sums") });
}

/** Rows, or both halves of them. */
export function partsOf(shape: SumsShape, { rows }: Pick<Content, "rows">, seed: Weighted): Weighted[] {
  if (codebookParts(shape, rows) === 1) return [seed];
  return [0, 1].map((side) => ({ points: halfOfRows(seed.points, side, HALVES_SEED), weights: undefined }));
}

/** A step of the codebook; after the last one k-means on its cells, each with the weight of its rows. */
export function afterCodebook(
  shape: SumsShape,
  content: Content,
  totals: Float64Array,
  devices: number,
  next: Stage,
): GenerationOutcome {
  const cells = asCodebook(shape, content);
  const steps = content.steps + 1;
  const found = lloydStep(cells, content, totals, devices);
  if (steps < CODEBOOK_STEPS && found !== "settled" && found !== "implausible")
    return { ...found, rows: content.rows, steps };
  // The cells themselves say how many clusters there are.
  if (next === stages.choose)
    return { ...content, stage: next, steps: 0, numbers: typeof found === "string" ? content.numbers : found.numbers };
  const { d } = shape;
  const used = Array.from({ length: cells.k }, (_, c) => c).filter((c) => totals[c] > 0);
  if (used.length === 0) return "settled";
  const means = sharedMeansAtRest(cells, content, totals);
  const numbers = weightedKmeans(
    used.map((c) => means.subarray(c * d, (c + 1) * d)),
    used.map((c) => totals[c]),
    shape.k,
    RESTARTS,
  );
  return { ...content, stage: next, steps, rows: used.reduce((sum, c) => sum + totals[c], 0), numbers };
}
