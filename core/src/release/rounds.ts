// k-means from a few noisy sums: how wide the rows lie, the directions in which they vary, where they are dense along these,
// and averaged steps of Lloyd's iteration. Each round asks for one vector of whole numbers; what is decided between rounds
// follows from the noisy totals and a public seed alone, with the same bits on every device.

import type { Matrix } from "../data/matrix.ts";
import { normalStream, randomStream } from "../data/random.ts";
import { leadingAxes, orthonormalRows } from "../data/symmetricEigen.ts";
import { predict } from "../kernel/model.ts";
import { discreteGaussian, type RandomBytes, varianceAtLeast } from "../privacy/discreteGaussian.ts";
import type { RowSummary } from "../privacy/releases.ts";
import { kmeans } from "../start/kmeans.ts";
import { STEPS } from "./gaussianBudget.ts";

/** What everybody knows before anything is released. */
export interface ReleaseRules {
  readonly k: number;
  /** Bounds of the columns. Rows beyond are refused before, or cut. */
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** What all rounds together may cost, as mu of Gaussian differential privacy. */
  readonly mu: number;
  readonly seed: number;
}

/**
 * Rows of which each counts for as much as its weight. Whatever is protected as one, a person or a device, has weights that
 * add up to at most 1, and changes a sum by no more than a row of weight 1. Absent: 1 each, so that rows are protected.
 */
export interface WeighedRows extends Matrix {
  readonly weights?: Float64Array;
}

/** Numbers that one row changes by at most `unit` times STEPS in all, as the length of a vector. */
interface SumPart {
  readonly length: number;
  /** Of the budget: the squares of mu add up, and all shares to 1. */
  readonly share: number;
  /** What one step stands for. */
  readonly unit: number;
}

/** What the totals have shown so far. Each field is empty until the round that fills it. */
export interface Knowledge {
  /** Rows; variance of a row around the mean; distance from the middle within which 98 % are; longest offset from the mean. */
  readonly scale: Float64Array;
  readonly mean: Float64Array;
  /** Directions, one row each, and the variance along each. */
  readonly axes: Float64Array;
  readonly variances: Float64Array;
  /** Along the directions: where votes are asked next, and how far a row may lie from its candidate. */
  readonly candidates: Float64Array;
  readonly spread: Float64Array;
  /** Along the directions until the lift, then in all columns. */
  readonly centroids: Float64Array;
  /** How far a row's offset from its centroid may go; then the uncertainty of each centroid, as a variance. */
  readonly reach: Float64Array;
  readonly doubts: Float64Array;
}

const none = new Float64Array(0);
/** What is known before the first round. */
export const nothingKnown: Knowledge = {
  scale: none,
  mean: none,
  axes: none,
  variances: none,
  candidates: none,
  spread: none,
  centroids: none,
  reach: none,
  doubts: none,
};

/** One total of noisy sums: its values in units, and the deviation of their noise. */
interface NoisySum {
  readonly values: Float64Array;
  readonly deviation: number;
}

interface RoundKind {
  parts(rules: ReleaseRules, known: Knowledge, share: number): SumPart[];
  /** Adds what one row gives, in units. Called with rows as offsets from the middle of the bounds. */
  add(rules: ReleaseRules, known: Knowledge, rows: WeighedRows, into: readonly SumWriter[]): void;
  learn(rules: ReleaseRules, known: Knowledge, sums: readonly NoisySum[]): Partial<Knowledge>;
}

/** One round: what it asks of rows, and what its totals show. */
export interface ReleaseRound {
  readonly name: string;
  /** Of the budget. */
  readonly share: number;
  parts(known: Knowledge): readonly SumPart[];
  /** Whole numbers that a device adds before noise and masks. */
  integers(known: Knowledge, points: WeighedRows): Float64Array;
  /** `excess`: the variance of the noise in the totals over that which is paid for, because some add more than they need. */
  learn(known: Knowledge, totals: Float64Array, excess: number): Knowledge;
}

/** With so many columns a grid of cells is denser than candidates. */
const GRID_COLUMNS = 3;
/** More columns are first turned to the directions in which rows vary most. */
const PLAIN_COLUMNS = 8;
/** More columns have too many products: two passes of an iteration find the directions instead. */
const PRODUCT_COLUMNS = 64;

/** The rounds for so many columns, with the share of the budget of each. */
function planOf(columns: number): readonly (readonly [string, RoundKind, number])[] {
  const steps = (many: number, share: number) =>
    Array.from({ length: many }, (_, i) => [`step ${i + 1}`, step, share / many] as const);
  if (columns <= GRID_COLUMNS) return [["scale", scale, 0.06], ["cells", cells, 0.6], ...steps(2, 0.34)];
  const seeds = [["candidates", candidates, 0.225] as const, ["fewer candidates", fewerCandidates, 0.225] as const];
  if (columns <= PLAIN_COLUMNS) return [["scale", scale, 0.06], ...seeds, ...steps(3, 0.49)];
  const directions =
    columns <= PRODUCT_COLUMNS
      ? [["products", products, 0.16] as const]
      : [["first directions", firstDirections, 0.08] as const, ["directions", secondDirections, 0.08] as const];
  return [["scale", scale, 0.06], ...directions, ...seeds, ["lift", lift, 0.12], ...steps(3, 0.21)];
}

/**
 * The centroids are those of the knowledge after the last round.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * releaseRounds(rules).map(({ name }) => name) // ["scale", "cells", "step 1", "step 2"]
 */
export function releaseRounds(rules: ReleaseRules): readonly ReleaseRound[] {
  return planOf(rules.low.length).map(([name, kind, share]) => {
    const partsOf = (known: Knowledge) => kind.parts(rules, known, share);
    return {
      name,
      share,
      parts: partsOf,
      integers(known, points) {
        const writers = partsOf(known).map((part) => new SumWriter(part));
        kind.add(rules, known, offsetsFromMiddle(points, rules), writers);
        return Float64Array.from(writers.flatMap(({ sums }) => Array.from(sums)));
      },
      learn(known, totals, excess) {
        let at = 0;
        const sums = partsOf(known).map((part) => {
          const values = totals.slice(at, at + part.length).map((total) => total * part.unit);
          at += part.length;
          return { values, deviation: partDeviation(rules, part) * part.unit * Math.sqrt(excess) };
        });
        return { ...known, ...kind.learn(rules, known, sums) };
      },
    };
  });
}

/**
 * The deviation that the noise of a total must have, in steps.
 * @example partDeviation({ mu: 1 }, { share: 0.25 }) / STEPS // 2
 */
export function partDeviation({ mu }: Pick<ReleaseRules, "mu">, { share }: Pick<SumPart, "share">): number {
  return STEPS / (mu * Math.sqrt(share));
}

/**
 * What a device adds to a round, with its share of the noise: all of it where `honest` is 1.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * const bytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
 * noisyIntegers(rules, releaseRounds(rules)[0], nothingKnown, matrix([[0.2]]), 1, bytes).length // 29
 */
export function noisyIntegers(
  rules: ReleaseRules,
  round: ReleaseRound,
  known: Knowledge,
  points: WeighedRows,
  honest: number,
  bytes: RandomBytes,
): Float64Array {
  const integers = round.integers(known, points);
  let at = 0;
  for (const part of round.parts(known)) {
    const draw = discreteGaussian(varianceAtLeast(partDeviation(rules, part) ** 2 / honest), bytes);
    for (const end = at + part.length; at < end; at++) integers[at] += Number(draw());
  }
  return integers;
}

/**
 * What stands for the rows of a device by itself after its last round, whose totals these are.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * const known = { ...nothingKnown, centroids: Float64Array.of(-0.25, 0.25), mean: Float64Array.of(0) };
 * releasedSummary(rules, known, Float64Array.of(7 * STEPS, 3 * STEPS)).weights // [7, 3]
 */
export function releasedSummary(rules: ReleaseRules, known: Knowledge, totals: Float64Array): RowSummary {
  const { mean, centroids, scale } = known;
  const { k } = rules;
  const cols = mean.length;
  // A count that noise has made small or negative still has a place in the sum.
  const weights = Float64Array.from({ length: k }, (_, c) => Math.max(1, totals[c] / STEPS));
  const between = centroids.reduce((sum, value, i) => {
    return sum + weights[Math.floor(i / cols)] * (value - mean[i % cols]) ** 2;
  }, 0);
  return { points: releasedCentroids(rules, known), weights, within: Math.max(0, scale[0] * scale[1] - between) };
}

/**
 * The answer, in the units of the bounds.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * releasedCentroids(rules, { ...nothingKnown, centroids: Float64Array.of(-0.25, 0.25) }).data // [0.25, 0.75]
 */
export function releasedCentroids({ k, low, high }: ReleaseRules, { centroids }: Knowledge): Matrix {
  const cols = low.length;
  const data = centroids.map((value, i) => value + (low[i % cols] + high[i % cols]) / 2);
  return { data, rows: k, cols };
}

/** So little less than a whole step that no rounding makes a row count for more. */
const BELOW_ONE = 1 - 2 ** -36;

/** Sums of what rows give to a part, each cut towards zero: whatever a row gives is no longer than its unit allows. */
class SumWriter {
  readonly sums: Float64Array;
  readonly #perUnit: number;

  constructor({ length, unit }: SumPart) {
    this.sums = new Float64Array(length);
    this.#perUnit = BELOW_ONE / unit;
  }

  /** A row that is in one of several bins. */
  count(bin: number, weight: number): void {
    this.sums[bin] += Math.trunc(STEPS * weight);
  }

  /** Numbers of a vector that is at most `reach` long, cut to it where it is longer. */
  add(at: number, vector: Float64Array, reach: number, weight: number): void {
    const cut = cutTo(vector, reach) * this.#perUnit * weight;
    for (let i = 0; i < vector.length; i++) this.sums[at + i] += Math.trunc(vector[i] * cut);
  }
}

/** By what a vector is multiplied to be at most this long. */
function cutTo(vector: Float64Array, reach: number): number {
  const length = lengthOf(vector);
  return length > reach ? reach / length : 1;
}

function lengthOf(vector: Float64Array): number {
  let square = 0;
  for (let i = 0; i < vector.length; i++) square += vector[i] * vector[i];
  return Math.sqrt(square);
}

/** Counts are numbers of which one row changes one, by 1. */
const counts = (length: number, share: number): SumPart => ({ length, share, unit: 1 / STEPS });
const vectors = (length: number, share: number, reach: number): SumPart => ({ length, share, unit: reach / STEPS });

function offsetsFromMiddle({ data, ...rest }: WeighedRows, { low, high }: ReleaseRules): WeighedRows {
  const { cols } = rest;
  const offsets = data.map((value, i) => {
    const column = i % cols;
    return Math.min(high[column], Math.max(low[column], value)) - (low[column] + high[column]) / 2;
  });
  return { ...rest, data: offsets };
}

const weightOf = ({ weights }: WeighedRows, r: number) => weights?.[r] ?? 1;

/** As far as a row can be from the middle of the bounds. */
const halfDiagonal = ({ low, high }: ReleaseRules) => lengthOf(high.map((value, i) => (value - low[i]) / 2));

const rowOf = ({ data, cols }: Matrix, r: number) => data.subarray(r * cols, (r + 1) * cols);

// Distances as a histogram, each bin wider than the one before: a row is in one bin.

const BINS = 28;
const WIDENING = 1.26;

/** Where bins begin and end, up to `most`. */
function binEdges(most: number): Float64Array {
  const edges = new Float64Array(BINS + 1);
  let edge = most;
  for (let i = BINS; i > 0; i--, edge /= WIDENING) edges[i] = edge;
  return edges;
}

function binOf(distance: number, edges: Float64Array): number {
  let bin = 0;
  while (bin < BINS - 1 && distance > edges[bin + 1]) bin++;
  return bin;
}

/** The distance within which a share of rows lie; undefined where noise hides it. */
function quantileOf({ values, deviation }: NoisySum, edges: Float64Array, share: number): number | undefined {
  const rows = values.map((value) => (value < deviation ? 0 : value));
  const all = total(rows);
  if (all < 8 * deviation) return undefined;
  let below = 0;
  let bin = 0;
  while (bin < BINS - 1 && below + rows[bin] < share * all) below += rows[bin++];
  const part = (share * all - below) / Math.max(rows[bin], 1e-9 * all);
  return edges[bin] + Math.min(1, part) * (edges[bin + 1] - edges[bin]);
}

const total = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0);

// How many rows there are, where their mean is, and how far they lie from it.

const scale: RoundKind = {
  parts(rules, _, share) {
    return [counts(BINS, 0.4 * share), vectors(rules.low.length, 0.6 * share, halfDiagonal(rules))];
  },
  add(rules, _, rows, [bins, sum]) {
    const most = halfDiagonal(rules);
    const edges = binEdges(most);
    for (let r = 0; r < rows.rows; r++) {
      const row = rowOf(rows, r);
      bins.count(binOf(lengthOf(row), edges), weightOf(rows, r));
      sum.add(0, row, most, weightOf(rows, r));
    }
  },
  learn(rules, _, [bins, sum]) {
    const most = halfDiagonal(rules);
    const edges = binEdges(most);
    const standing = (deviations: number) => bins.values.map((v) => (v > deviations * bins.deviation ? v : 0));
    const rows = Math.max(total(standing(1)), total(bins.values), 2 * rules.k);
    const sure = standing(2);
    const squares = sure.map((value, i) => value * ((edges[i] + edges[i + 1]) / 2) ** 2);
    const square = total(sure) > 8 * bins.deviation ? total(squares) / total(sure) : (most * most) / 4;
    const mean = shrunk(
      sum.values.map((value) => value / rows),
      sum.deviation / rows,
    );
    const meanSquare = lengthOf(mean) ** 2;
    const variance = Math.max(square - meanSquare, square / 20);
    const within = quantileOf(bins, edges, 0.98) ?? most;
    const radius = Math.min(1.3 * Math.sqrt(variance), within + Math.sqrt(meanSquare), 2 * most);
    const cols = rules.low.length;
    const isPlain = cols <= PLAIN_COLUMNS;
    return {
      scale: Float64Array.of(rows, variance, within, radius),
      mean,
      axes: isPlain ? unitRows(cols) : none,
      variances: isPlain ? new Float64Array(cols).fill(variance / cols) : none,
    };
  },
};

/** A vector of which each number has noise of this deviation, moved to zero by as much as that is likely to be noise. */
function shrunk(vector: Float64Array, deviation: number): Float64Array {
  const square = lengthOf(vector) ** 2;
  const factor = Math.max(0, 1 - (vector.length * deviation ** 2) / Math.max(square, 1e-300));
  return vector.map((value) => value * factor);
}

function unitRows(size: number): Float64Array {
  const rows = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  return rows;
}

// The directions in which rows vary most.

const MOST_DIRECTIONS = 12;
const directionsFor = ({ k, low }: ReleaseRules) => Math.min(Math.max(2, k - 1), MOST_DIRECTIONS, low.length);

function fromMean(row: Float64Array, { mean }: Knowledge): Float64Array {
  return row.map((value, i) => value - mean[i]);
}

/** All products of two columns; those of two different ones count twice, hence the root of 2. */
const products: RoundKind = {
  parts({ low }, { scale: [, , , radius] }, share) {
    return [vectors((low.length * (low.length + 1)) / 2, share, radius * radius)];
  },
  add(_, known, rows, [sums]) {
    const radius = known.scale[3];
    const products = new Float64Array((rows.cols * (rows.cols + 1)) / 2);
    for (let r = 0; r < rows.rows; r++) {
      const offset = fromMean(rowOf(rows, r), known);
      const cut = cutTo(offset, radius);
      let at = 0;
      for (let i = 0; i < rows.cols; i++) {
        const own = offset[i] * cut;
        products[at++] = own * own;
        for (let j = i + 1; j < rows.cols; j++) products[at++] = Math.SQRT2 * own * offset[j] * cut;
      }
      sums.add(0, products, radius * radius, weightOf(rows, r));
    }
  },
  learn(rules, { scale: [rows] }, [{ values, deviation }]) {
    const size = rules.low.length;
    const covariance = new Float64Array(size * size);
    let at = 0;
    for (let i = 0; i < size; i++) {
      covariance[i * size + i] = values[at++] / rows;
      for (let j = i + 1; j < size; j++) {
        covariance[i * size + j] = values[at++] / (Math.SQRT2 * rows);
        covariance[j * size + i] = covariance[i * size + j];
      }
    }
    const { axes, variances } = leadingAxes(covariance, size, directionsFor(rules));
    // The largest eigenvalue of noise alone is about this; smaller variances are mostly noise.
    const least = 0.2 * (deviation / rows) * Math.sqrt(2 * size);
    return { axes, variances: variances.map((value) => Math.max(value, least, 1e-9)) };
  },
};

/** Twice as many directions as are looked for are carried along. */
const carried = (rules: ReleaseRules) => Math.min(2 * directionsFor(rules), rules.low.length);

/** One pass of noisy subspace iteration: sums of each row times its coordinates along the axes so far. */
const directionsPass = (
  axesSoFar: (rules: ReleaseRules, known: Knowledge) => Float64Array,
  coordinateShare: (rules: ReleaseRules) => number,
  isLast: boolean,
): RoundKind => {
  const reachOf = (rules: ReleaseRules, { scale: [, , , radius] }: Knowledge) =>
    radius * Math.min(1, coordinateShare(rules));
  return {
    parts(rules, known, share) {
      return [vectors(rules.low.length * carried(rules), share, known.scale[3] * reachOf(rules, known))];
    },
    add(rules, known, rows, [sums]) {
      const radius = known.scale[3];
      const reach = reachOf(rules, known);
      const axes = axesSoFar(rules, known);
      const many = carried(rules);
      const product = new Float64Array(many * rows.cols);
      for (let r = 0; r < rows.rows; r++) {
        const offset = fromMean(rowOf(rows, r), known);
        const cut = cutTo(offset, radius);
        for (let i = 0; i < offset.length; i++) offset[i] *= cut;
        const along = alongAxes(offset, axes, many);
        const cutAlong = cutTo(along, reach);
        for (let a = 0; a < many; a++) {
          for (let i = 0; i < rows.cols; i++) product[a * rows.cols + i] = offset[i] * along[a] * cutAlong;
        }
        sums.add(0, product, radius * reach, weightOf(rows, r));
      }
    },
    learn(rules, { scale: [rows] }, [{ values }]) {
      const size = rules.low.length;
      const means = values.map((value) => value / rows);
      if (!isLast) return { axes: orthonormalRows(means, size) };
      // Left singular vectors, from the small products of the rows among themselves.
      const many = carried(rules);
      const gram = new Float64Array(many * many);
      for (let a = 0; a < many; a++) {
        for (let b = 0; b < many; b++) {
          for (let i = 0; i < size; i++) gram[a * many + b] += means[a * size + i] * means[b * size + i];
        }
      }
      const wanted = directionsFor(rules);
      const inside = leadingAxes(gram, many, wanted);
      const axes = new Float64Array(wanted * size);
      for (let q = 0; q < wanted; q++) {
        for (let a = 0; a < many; a++) {
          for (let i = 0; i < size; i++) axes[q * size + i] += inside.axes[q * many + a] * means[a * size + i];
        }
      }
      return {
        axes: orthonormalRows(axes, size),
        variances: inside.variances.map((value) => Math.max(Math.sqrt(Math.max(value, 0)), 1e-9)),
      };
    },
  };
};

const firstDirections = directionsPass(
  (rules) => {
    const normal = normalStream(randomStream(rules.seed, "directions"));
    const size = rules.low.length;
    return orthonormalRows(Float64Array.from({ length: carried(rules) * size }, normal), size);
  },
  (rules) => 1.5 * Math.sqrt(carried(rules) / rules.low.length),
  false,
);
const secondDirections = directionsPass(
  (_, known) => known.axes,
  () => 0.9,
  true,
);

function alongAxes(offset: Float64Array, axes: Float64Array, many: number): Float64Array {
  const along = new Float64Array(many);
  for (let a = 0; a < many; a++) {
    let sum = 0;
    for (let i = 0; i < offset.length; i++) sum += offset[i] * axes[a * offset.length + i];
    along[a] = sum;
  }
  return along;
}

/** All rows along the directions, from the mean. */
function turned(rows: Matrix, known: Knowledge): Matrix {
  const many = known.variances.length;
  const data = new Float64Array(rows.rows * many);
  for (let r = 0; r < rows.rows; r++) {
    data.set(alongAxes(fromMean(rowOf(rows, r), known), known.axes, many), r * many);
  }
  return { data, rows: rows.rows, cols: many };
}

const nearestOf = (centroids: Matrix, rows: Matrix) =>
  rows.rows === 0 ? new Uint32Array(0) : predict(centroids, rows);

// Where rows are dense. In up to three columns: cells of a grid over the bounds, cut to where 98 % of rows are.

const CELLS = { fewest: 16, most: [0, 1600, 1600, 1728], perRowAndMu: 0.75 };

function gridOf({ low, high, mu }: ReleaseRules, { scale: [rows, , within] }: Knowledge) {
  const cols = low.length;
  const cells = Math.min(CELLS.most[cols], Math.max(CELLS.fewest, CELLS.perRowAndMu * rows * mu));
  let perSide = 2;
  while ((perSide + 0.5) ** cols < cells) perSide++;
  const half = high.map((value, i) => Math.min((value - low[i]) / 2, within));
  return { perSide, half };
}

/** A cell is full where its rows, or those of it and the cells around it, are so many deviations of their noise. */
const FULL = 2.5;
/** Starts on full cells: they are few, and a start is free, since rows are not asked again. */
const CELL_STARTS = 150;

const cells: RoundKind = {
  parts(rules, known, share) {
    return [counts(gridOf(rules, known).perSide ** rules.low.length, share)];
  },
  add(rules, known, rows, [bins]) {
    const { perSide, half } = gridOf(rules, known);
    for (let r = 0; r < rows.rows; r++) {
      let cell = 0;
      for (let c = 0; c < rows.cols; c++) {
        const place = Math.floor(((rows.data[r * rows.cols + c] + half[c]) / (2 * half[c])) * perSide);
        cell = cell * perSide + Math.min(perSide - 1, Math.max(0, place));
      }
      bins.count(cell, weightOf(rows, r));
    }
  },
  learn(rules, known, [{ values, deviation }]) {
    const { perSide, half } = gridOf(rules, known);
    const found = fullCells(values, deviation, perSide, half);
    const { points, weights } = found.weights.length >= rules.k ? found : fullestCells(values, perSide, half, rules.k);
    const { centroids, cost } = weighedKMeans(rules, points, weights, half.length, rules.k, CELL_STARTS);
    return { centroids, reach: Float64Array.of(firstReach(known, cost)), doubts: none };
  },
};

/** The middle of a cell, as an offset from the middle of the bounds. */
function cellMiddle(cell: number, perSide: number, half: Float64Array): Float64Array {
  let left = cell;
  const middle = new Float64Array(half.length);
  for (let c = half.length - 1; c >= 0; c--) {
    middle[c] = (((left % perSide) + 0.5) / perSide) * 2 * half[c] - half[c];
    left = Math.floor(left / perSide);
  }
  return middle;
}

interface WeighedPoints {
  readonly points: Float64Array;
  readonly weights: Float64Array;
}

function fullestCells(values: Float64Array, perSide: number, half: Float64Array, many: number): WeighedPoints {
  const fullest = Array.from(values.keys())
    .sort((a, b) => values[b] - values[a] || a - b)
    .slice(0, many);
  return {
    points: Float64Array.from(fullest.flatMap((cell) => Array.from(cellMiddle(cell, perSide, half)))),
    weights: Float64Array.from(fullest, (cell) => Math.max(1, values[cell])),
  };
}

/** Full cells, each with its rows if it is full by itself, else with the mean of the cells around it. */
function fullCells(values: Float64Array, deviation: number, perSide: number, half: Float64Array): WeighedPoints {
  const points: number[] = [];
  const weights: number[] = [];
  values.forEach((value, cell) => {
    const around = value > FULL * deviation ? [value] : valuesAround(values, cell, perSide, half.length);
    const sum = around.reduce((all, one) => all + one, 0);
    if (sum <= FULL * deviation * Math.sqrt(around.length)) return;
    points.push(...cellMiddle(cell, perSide, half));
    weights.push(sum / around.length);
  });
  return { points: Float64Array.from(points), weights: Float64Array.from(weights) };
}

/** Of a cell and those that touch it, also at corners. */
function valuesAround(values: Float64Array, cell: number, perSide: number, cols: number): number[] {
  let cells = [cell];
  for (let c = 0, radix = 1; c < cols; c++, radix *= perSide) {
    const place = Math.floor(cell / radix) % perSide;
    const moves = [-1, 0, 1].filter((move) => place + move >= 0 && place + move < perSide);
    cells = cells.flatMap((one) => moves.map((move) => one + move * radix));
  }
  return cells.map((one) => values[one]);
}

/** Weighted k-means, of `starts` starts; where points are fewer than clusters, some clusters stand nearly at one place. */
function weighedKMeans(
  { seed }: ReleaseRules,
  points: Float64Array,
  weights: Float64Array,
  cols: number,
  k: number,
  starts: number,
): { readonly centroids: Float64Array; readonly cost: number } {
  const rows = weights.length;
  if (rows <= k) {
    const random = randomStream(seed, "missing", rows);
    const data = new Float64Array(k * cols);
    for (let i = 0; i < data.length; i++) {
      const value = points[i % points.length];
      data[i] = i < points.length ? value : value * (1 + 1e-3 * random()) + 1e-9 * random();
    }
    return { centroids: data, cost: 0 };
  }
  const found = kmeans({ data: points, rows, cols }, { k, weights, restarts: starts, maxIter: 100, seed });
  return { centroids: found.centroids.data.slice(), cost: found.inertia / total(weights) };
}

/** The first offsets are cut to this: how far rows lie from their centroids along the directions, and across them. */
function firstReach({ scale: [, variance, , radius], variances }: Knowledge, cost: number): number {
  const across = Math.max(0, variance - total(variances));
  return Math.min(1.3 * Math.sqrt(cost + across + 0.02 * variance), radius);
}

// In more columns: rows vote for the nearest of many candidates along the directions, and say where they lie around it.

const CANDIDATES = { most: 600, rowsPerDeviation: 3 };

/** Counts are asked with this share of a round, so that they and the offsets err alike. */
const countShare = (columns: number) => 1 / (1 + Math.sqrt(columns));

/** Votes and offsets around candidates that `place` lays. */
const candidatesRound = (
  place: (rules: ReleaseRules, known: Knowledge) => Float64Array,
  reachOf: (known: Knowledge) => number,
  conclude: (rules: ReleaseRules, known: Knowledge, found: WeighedPoints, deviation: number) => Partial<Knowledge>,
): RoundKind => ({
  parts(rules, known, share) {
    const cols = known.variances.length;
    const many = place(rules, known).length / cols;
    const ofCounts = countShare(cols) * share;
    return [counts(many, ofCounts), vectors(many * cols, share - ofCounts, reachOf(known))];
  },
  add(rules, known, rows, [votes, offsets]) {
    const along = turned(rows, known);
    const { cols } = along;
    const data = place(rules, known);
    const labels = nearestOf({ data, rows: data.length / cols, cols }, along);
    const reach = reachOf(known);
    const offset = new Float64Array(cols);
    for (let r = 0; r < along.rows; r++) {
      const at = labels[r] * cols;
      for (let c = 0; c < cols; c++) offset[c] = along.data[r * cols + c] - data[at + c];
      votes.count(labels[r], weightOf(rows, r));
      offsets.add(at, offset, reach, weightOf(rows, r));
    }
  },
  learn(rules, known, [votes, offsets]) {
    const cols = known.variances.length;
    const data = place(rules, known);
    const isSure = votes.values.map((value) => (value > 2 * votes.deviation ? 1 : 0));
    if (total(isSure) < rules.k) {
      const fullest = Array.from(votes.values.keys()).sort((a, b) => votes.values[b] - votes.values[a] || a - b);
      for (const one of fullest.slice(0, rules.k)) isSure[one] = 1;
    }
    const points: number[] = [];
    const weights: number[] = [];
    votes.values.forEach((value, i) => {
      if (isSure[i] === 0) return;
      const rows = Math.max(value, 1);
      const offset = offsets.values.slice(i * cols, (i + 1) * cols).map((sum) => sum / rows);
      points.push(...shrunk(offset, offsets.deviation / rows).map((o, c) => data[i * cols + c] + o));
      weights.push(rows);
    });
    const found = { points: Float64Array.from(points), weights: Float64Array.from(weights) };
    return conclude(rules, known, found, votes.deviation);
  },
});

const candidates = candidatesRound(
  (rules, { scale: [rows], variances }) => {
    const deviation = partDeviation(rules, { share: 0.1125 }) / STEPS;
    const wanted = Math.floor(rows / (CANDIDATES.rowsPerDeviation * deviation));
    const many = Math.min(CANDIDATES.most, Math.max(2 * rules.k, wanted));
    const normal = normalStream(randomStream(rules.seed, "candidates"));
    const cols = variances.length;
    return Float64Array.from({ length: many * cols }, (_, i) => Math.sqrt(variances[i % cols]) * normal());
  },
  ({ variances }) => 0.8 * Math.sqrt(total(variances)),
  (rules, { scale: [rows], variances }, found, deviation) => {
    const cols = variances.length;
    const wanted = Math.floor(rows / (2 * CANDIDATES.rowsPerDeviation * deviation));
    const many = Math.max(2 * rules.k, Math.min(4 * rules.k, wanted));
    const { centroids, cost } =
      found.weights.length > many
        ? weighedKMeans(rules, found.points, found.weights, cols, many, 3)
        : { centroids: found.points, cost: 0 };
    return {
      candidates: centroids,
      spread: Float64Array.of(1.5 * Math.sqrt(cost + 0.05 * total(variances))),
    };
  },
);

const fewerCandidates = candidatesRound(
  (_, known) => known.candidates,
  ({ spread }) => spread[0],
  (rules, known, { points, weights }) => {
    const cols = known.variances.length;
    const { centroids, cost } = weighedKMeans(rules, points, weights, cols, rules.k, 60);
    const isPlain = rules.low.length <= PLAIN_COLUMNS;
    return {
      candidates: none,
      // Without directions the columns are offsets from the mean.
      centroids: isPlain ? centroids.map((value, i) => value + known.mean[i % cols]) : centroids,
      reach: Float64Array.of(firstReach(known, cost)),
    };
  },
);

// Steps of Lloyd's iteration: counts and cut offsets around every centroid, each step averaged with those before by how much
// noise both have.

/** Of a step's share for the histogram of distances, from which the next reach follows. */
const HISTOGRAM_SHARE = 0.06;
/** Offsets are cut where this share of rows is nearer. */
const REACH_QUANTILE = 0.7;

const lloydRound = (
  label: (known: Knowledge, rows: Matrix, rules: ReleaseRules) => Uint32Array,
  centresOf: (rules: ReleaseRules, known: Knowledge) => Float64Array,
): RoundKind => ({
  parts({ k, low }, { reach }, share) {
    const steps = share * (1 - HISTOGRAM_SHARE);
    const ofCounts = steps / (1 + 2 * Math.sqrt(low.length));
    return [
      counts(k, ofCounts),
      vectors(k * low.length, steps - ofCounts, reach[0]),
      counts(BINS, share * HISTOGRAM_SHARE),
    ];
  },
  add(rules, known, rows, [own, offsets, bins]) {
    const { cols } = rows;
    const centres = centresOf(rules, known);
    const labels = label(known, rows, rules);
    const edges = binEdges(2 * halfDiagonal(rules));
    const offset = new Float64Array(cols);
    for (let r = 0; r < rows.rows; r++) {
      const at = labels[r] * cols;
      for (let c = 0; c < cols; c++) offset[c] = rows.data[r * cols + c] - centres[at + c];
      own.count(labels[r], weightOf(rows, r));
      offsets.add(at, offset, known.reach[0], weightOf(rows, r));
      bins.count(binOf(lengthOf(offset), edges), weightOf(rows, r));
    }
  },
  learn(rules, known, [own, offsets, bins]) {
    const { k, low, high } = rules;
    const cols = low.length;
    const reach = known.reach[0];
    const centroids = centresOf(rules, known).slice();
    const doubts = new Float64Array(k);
    for (let c = 0; c < k; c++) {
      const rows = Math.max(own.values[c], 2 * own.deviation);
      const offset = offsets.values.slice(c * cols, (c + 1) * cols).map((sum) => sum / rows);
      const cut = cutTo(offset, reach);
      const square = (lengthOf(offset) * cut) ** 2;
      const noise = cols * (offsets.deviation / rows) ** 2;
      const doubt = Math.max(known.doubts[c] ?? 0, square - noise, 0);
      const isSeen = own.values[c] >= 2 * own.deviation;
      const gain = isSeen ? doubt / (doubt + noise + 1e-300) : 0;
      doubts[c] = isSeen ? (1 - gain) * doubt : (known.doubts[c] ?? 0);
      for (let i = 0; i < cols; i++) {
        const half = (high[i] - low[i]) / 2;
        const moved = centroids[c * cols + i] + gain * cut * offset[i];
        centroids[c * cols + i] = Math.min(half, Math.max(-half, moved));
      }
    }
    const next = quantileOf(bins, binEdges(2 * halfDiagonal(rules)), REACH_QUANTILE) ?? reach;
    return { centroids, doubts, reach: Float64Array.of(Math.min(next, known.scale[3])) };
  },
});

const step = lloydRound(
  ({ centroids }, rows, { k }) => nearestOf({ data: centroids, rows: k, cols: rows.cols }, rows),
  (_, known) => known.centroids,
);

/** The first step in all columns, of rows that are nearest along the directions. */
const lift = lloydRound(
  (known, rows, { k }) =>
    nearestOf({ data: known.centroids, rows: k, cols: known.variances.length }, turned(rows, known)),
  ({ k, low }, { centroids, axes, mean, variances }) => {
    const cols = low.length;
    const centres = new Float64Array(k * cols);
    for (let c = 0; c < k; c++) {
      for (let i = 0; i < cols; i++) {
        let value = mean[i];
        for (let a = 0; a < variances.length; a++) value += centroids[c * variances.length + a] * axes[a * cols + i];
        centres[c * cols + i] = value;
      }
    }
    return centres;
  },
);

// What is known as numbers of one length, as bases carry it.

const fieldNames = Object.keys(nothingKnown) as (keyof Knowledge)[];

/** The most numbers that each field can have. */
function fieldLengths(rules: ReleaseRules): Record<keyof Knowledge, number> {
  const { k, low } = rules;
  const cols = low.length;
  const many = cols <= PLAIN_COLUMNS ? cols : directionsFor(rules);
  const axes = (cols > PRODUCT_COLUMNS ? carried(rules) : many) * cols;
  return {
    ...{ scale: 4, mean: cols, axes, variances: many, candidates: 4 * k * many, spread: 1 },
    ...{ centroids: k * Math.max(cols, many), reach: 1, doubts: k },
  };
}

/**
 * Of every field its length and room for its numbers.
 * @example knowledgeLength({ k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 }) // 30
 */
export function knowledgeLength(rules: ReleaseRules): number {
  const lengths = fieldLengths(rules);
  return fieldNames.reduce((sum, name) => sum + 1 + lengths[name], 0);
}

/**
 * The inverse of `unpackKnowledge`.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * packKnowledge(rules, nothingKnown).length // 30
 */
export function packKnowledge(rules: ReleaseRules, known: Knowledge): Float64Array {
  const lengths = fieldLengths(rules);
  const numbers = new Float64Array(knowledgeLength(rules));
  let at = 0;
  for (const name of fieldNames) {
    numbers[at] = known[name].length;
    numbers.set(known[name], at + 1);
    at += 1 + lengths[name];
  }
  return numbers;
}

/**
 * Undefined: these numbers are no knowledge under these rules.
 * @example
 * const rules = { k: 2, low: Float64Array.of(0), high: Float64Array.of(1), mu: 1, seed: 0 };
 * unpackKnowledge(rules, packKnowledge(rules, nothingKnown))?.mean // []
 */
export function unpackKnowledge(rules: ReleaseRules, numbers: Float64Array): Knowledge | undefined {
  const lengths = fieldLengths(rules);
  const known = { ...nothingKnown } as Record<keyof Knowledge, Float64Array>;
  if (numbers.length !== knowledgeLength(rules)) return undefined;
  let at = 0;
  for (const name of fieldNames) {
    const length = numbers[at];
    if (!Number.isInteger(length) || length < 0 || length > lengths[name]) return undefined;
    known[name] = numbers.slice(at + 1, at + 1 + length);
    at += 1 + lengths[name];
  }
  return known;
}
