// Releases of private rows with noise: first how many rows lie in each cell of a public grid, then how many are nearest to
// each centroid and how far they lie from it. Everything else is computed on the summary that they leave.

import { exp, ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { type Kernel, kernelStatistics } from "../kernel/kernel.ts";
import { predict } from "../kernel/model.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { type RandomBytes, varianceAtLeast, withNoise } from "./discreteGaussian.ts";

/** What stands for private rows: points, and how many rows each is worth. */
export interface RowSummary {
  readonly points: Matrix;
  /** Rows that each point stands for, as far as the noise lets it be known. */
  readonly weights: Float64Array;
  /** Squared distances of the rows from their points, all together. */
  readonly within: number;
}

/**
 * How many rows a summary stands for.
 * @example releasedRows({ points: matrix([[0], [1]]), weights: Float64Array.of(2, 3), within: 0 }) // 5
 */
export function releasedRows({ weights }: RowSummary): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/**
 * Answers (E1) as the rows would whose summary it is. It prepares no other points than the summary's.
 * @example releaseKernel({ points: matrix([[0], [1]]), weights: Float64Array.of(2, 3), within: 0 }).name // "summary"
 */
export function releaseKernel({ points, weights, within }: RowSummary): Kernel {
  return {
    name: "summary",
    prepare() {
      const prepared = fastKernel.prepare(points, weights);
      return {
        statistics(centroids, into, withLoss = true) {
          prepared.statistics(centroids, into, withLoss);
          into.loss += within;
        },
        labels: (centroids, into) => prepared.labels(centroids, into),
        squaredDistances: (centroid, into) => prepared.squaredDistances(centroid, into),
        release: () => prepared.release(),
      };
    },
  };
}

/**
 * The squared distances of the rows that a summary stands for from the nearest centroids, all together.
 * @example releasedLoss({ points: matrix([[0], [1]]), weights: Float64Array.of(2, 3), within: 0 }, matrix([[0]])) // 3
 */
export function releasedLoss(summary: RowSummary, centroids: Matrix): number {
  const prepared = releaseKernel(summary).prepare(summary.points);
  const { loss } = kernelStatistics(prepared, centroids);
  prepared.release();
  return loss;
}

/** Equal cells of a box that everybody knows. The box and the number of cells never come from the rows. */
export interface CellGrid {
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Cells along each column. */
  readonly perSide: number;
}

const CELLS = { fewest: 16, most: 900 };
/** Rows for each cell, times epsilon: enough that a cell with rows stands out of the noise. */
const ROWS_PER_CELL = 5;
/** Cells below this many deviations of the noise count as empty: at two, noise alone can hold a centroid. */
const EMPTY_BELOW = 3;

/**
 * The grid for devices of about so many rows, or for all rows of a network.
 * @example releaseGrid({ low: Float64Array.of(0), high: Float64Array.of(1) }, 1000, 1).perSide // 200
 */
export function releaseGrid({ low, high }: Pick<CellGrid, "low" | "high">, rows: number, epsilon: number): CellGrid {
  const cells = Math.min(CELLS.most, Math.max(CELLS.fewest, (rows * epsilon) / ROWS_PER_CELL));
  // A small addition, because a root that should be whole may fall below it.
  return { low, high, perSide: Math.floor(cells ** (1 / low.length) + 1e-9) };
}

/**
 * Rows in each cell. Rows outside of the box count in the cell that is nearest to them.
 * @example
 * const grid = { low: Float64Array.of(0), high: Float64Array.of(1), perSide: 2 };
 * cellsToRelease(matrix([[0.1], [0.2], [0.9]]), grid) // [2n, 1n]
 */
export function cellsToRelease({ data, rows, cols }: Matrix, { low, high, perSide }: CellGrid): bigint[] {
  const counts = new Array<bigint>(perSide ** cols).fill(0n);
  for (let r = 0; r < rows; r++) {
    let cell = 0;
    for (let c = 0; c < cols; c++) {
      const place = Math.floor(((data[r * cols + c] - low[c]) / (high[c] - low[c])) * perSide);
      cell = cell * perSide + Math.min(perSide - 1, Math.max(0, place));
    }
    counts[cell]++;
  }
  return counts;
}

/**
 * The variance of the noise that a release of counts for `rho` needs: one row changes one count by 1.
 * @example countVariance(0.5) // 1
 */
export const countVariance = (rho: number) => 1 / (2 * rho);

/**
 * The rows in each cell of a grid, with noise.
 * @example
 * const grid = { low: Float64Array.of(0), high: Float64Array.of(1), perSide: 2 };
 * const bytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
 * releaseCells(matrix([[0.1], [0.9]]), grid, 0.5, bytes).length // 2
 */
export function releaseCells(points: Matrix, grid: CellGrid, rho: number, bytes: RandomBytes): bigint[] {
  return withNoise(cellsToRelease(points, grid), varianceAtLeast(countVariance(rho)), bytes);
}

/**
 * The cells that have rows beyond doubt, as points in their middles; whoever reads them learns nothing else. Where they
 * are fewer than `fewest`, so many of the fullest: k clusters need k places, and a doubtful one is better than none.
 * @example
 * const grid = { low: Float64Array.of(0), high: Float64Array.of(1), perSide: 2 };
 * releasedCellSummary([90, 0], grid, 0.5, 1).points.data // [0.25]
 */
export function releasedCellSummary(
  counts: readonly (bigint | number)[],
  { low, high, perSide }: CellGrid,
  rho: number,
  fewest: number,
): RowSummary {
  const cols = low.length;
  const bar = EMPTY_BELOW * Math.sqrt(countVariance(rho));
  const fullest = Array.from(counts.keys())
    .filter((cell) => counts[cell] > 0)
    .sort((a, b) => Number(counts[b]) - Number(counts[a]));
  const certain = fullest.filter((cell) => Number(counts[cell]) > bar).length;
  const kept = fullest.slice(0, Math.max(fewest, certain)).sort((a, b) => a - b);
  const sides = Float64Array.from(low, (from, c) => (high[c] - from) / perSide);
  const middle = (cell: number, c: number) => {
    const place = Math.floor(cell / perSide ** (cols - 1 - c)) % perSide;
    return low[c] + (place + 0.5) * sides[c];
  };
  const data = Float64Array.from(kept.flatMap((cell) => Array.from({ length: cols }, (_, c) => middle(cell, c))));
  const weights = Float64Array.from(kept, (cell) => Number(counts[cell]));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  // Rows of a cell are spread over it, evenly for all we know.
  const within = (total * sides.reduce((sum, side) => sum + side * side, 0)) / 12;
  return { points: { data, rows: kept.length, cols }, weights, within };
}

// The second release: counts and sums of the rows nearest to each centroid.

/** Offsets from the centroids are cut to a reach, and written in so many steps of it. */
export const STEPS = 2 ** 20;
/** Of the longest side of the box. */
const REACH_SHARE = 0.15;
/** Of rho for the counts; the rest is for the sums, which decide where centroids go. */
const COUNT_SHARE = 0.25;

/**
 * How far a row's offset from its centroid may go in a release.
 * @example releaseReach(Float64Array.of(0, 0), Float64Array.of(1, 100)) // 15
 */
export function releaseReach(low: Float64Array, high: Float64Array): number {
  return REACH_SHARE * low.reduce((most, from, c) => Math.max(most, high[c] - from), 0);
}

/**
 * For each centroid the rows nearest to it, and the sum of their offsets in steps of the reach.
 * @example residualsToRelease(matrix([[0], [1]]), matrix([[0]]), 2).counts // [2n]
 */
export function residualsToRelease(
  points: Matrix,
  centroids: Matrix,
  reach: number,
): { counts: bigint[]; sums: bigint[] } {
  const { data, rows, cols } = points;
  const labels = rows === 0 ? new Uint32Array(0) : predict(centroids, points);
  const counts = new Array<bigint>(centroids.rows).fill(0n);
  const sums = new Array<bigint>(centroids.data.length).fill(0n);
  const offset = new Float64Array(cols);
  for (let r = 0; r < rows; r++) {
    const at = labels[r] * cols;
    let square = 0;
    for (let c = 0; c < cols; c++) {
      offset[c] = data[r * cols + c] - centroids.data[at + c];
      square += offset[c] * offset[c];
    }
    const cut = Math.min(1, reach / Math.sqrt(square)) * (STEPS / reach);
    counts[labels[r]]++;
    for (let c = 0; c < cols; c++) sums[at + c] += BigInt(Math.round(square === 0 ? 0 : cut * offset[c]));
  }
  return { counts, sums };
}

/**
 * The variances of the noise that `rho` needs, for counts and for sums in steps.
 * @example releaseVariances(0.5, 2).counts // 4
 */
export function releaseVariances(rho: number, cols: number): { readonly counts: number; readonly sums: number } {
  // Rounding to steps can lengthen an offset by half of a step in each column.
  const longest = STEPS + Math.sqrt(cols) / 2;
  return { counts: 1 / (2 * COUNT_SHARE * rho), sums: longest ** 2 / (2 * (1 - COUNT_SHARE) * rho) };
}

/**
 * The rows nearest to each centroid and the sums of their offsets, with noise.
 * @example
 * const bytes = (count: number) => crypto.getRandomValues(new Uint8Array(count));
 * releaseResiduals(matrix([[0], [1]]), matrix([[0.5]]), 1, 0.5, bytes).counts.length // 1
 */
export function releaseResiduals(points: Matrix, centroids: Matrix, reach: number, rho: number, bytes: RandomBytes) {
  const { counts, sums } = residualsToRelease(points, centroids, reach);
  const variances = releaseVariances(rho, points.cols);
  return {
    counts: withNoise(counts, varianceAtLeast(variances.counts), bytes),
    sums: withNoise(sums, varianceAtLeast(variances.sums), bytes),
  };
}

/**
 * The means that were released, one for each centroid, and what they stand for; `within` is of the summary before.
 * @example releasedResidualSummary({ counts: [2], sums: [STEPS] }, matrix([[0]]), 1, 0).points.data // [0.5]
 */
export function releasedResidualSummary(
  { counts, sums }: { readonly counts: readonly (bigint | number)[]; readonly sums: readonly (bigint | number)[] },
  centroids: Matrix,
  reach: number,
  within: number,
): RowSummary {
  const { cols } = centroids;
  // A count that noise has made small or negative still has a place in the sum.
  const weights = Float64Array.from(counts, (count) => Math.max(1, Number(count)));
  const data = centroids.data.slice();
  for (let c = 0; c < weights.length; c++) {
    const offsets = Array.from({ length: cols }, (_, i) => (Number(sums[c * cols + i]) / weights[c]) * (reach / STEPS));
    const length = Math.hypot(...offsets);
    for (let i = 0; i < cols; i++) data[c * cols + i] += offsets[i] * Math.min(1, reach / Math.max(length, 1e-300));
  }
  return { points: { ...centroids, data }, weights, within };
}

// What releases cost: rho of zero-concentrated differential privacy, which adds up, and (epsilon, delta), which people read.
// The bound between the two is corollary 13 of Canonne, Kamath and Steinke (2020).

/**
 * The smallest epsilon that rho promises at this delta.
 * @example epsilonOf(rhoOf(1, 1e-6), 1e-6).toFixed(3) // "1.000"
 */
export function epsilonOf(rho: number, delta: number): number {
  return bisect(
    (epsilon) => logDelta(rho, epsilon, ROUNDING) <= ln(delta),
    rho + 2 * Math.sqrt(rho * ln(1 / delta)),
    "least",
  );
}

/**
 * The most rho that (epsilon, delta) pays for.
 * @example rhoOf(1, 1e-6).toFixed(3) // "0.024"
 */
export function rhoOf(epsilon: number, delta: number): number {
  return bisect((rho) => logDelta(rho, epsilon, 2 * ROUNDING) > ln(delta), epsilon, "most");
}

/**
 * More than what rounding adds to a number, as a share of it. Whoever reads a promise counts it once, and whoever buys
 * twice, so that what was bought never reads as more than was asked.
 */
export const ROUNDING = 2 ** -40;

/** Rounds after which halves of an interval are below its last bit. */
const HALVES = 60;

/** The smallest number that `isAbove` holds for, up to `high`, from the side that keeps the promise. */
function bisect(isAbove: (value: number) => boolean, high: number, side: "least" | "most"): number {
  let [low, top] = [0, high];
  for (let i = 0; i < HALVES; i++) {
    const middle = (low + top) / 2;
    if (isAbove(middle)) top = middle;
    else low = middle;
  }
  return side === "least" ? top : low;
}

/** ln delta, at the order of Rényi divergence that gives the least. */
function logDelta(rho: number, epsilon: number, rounding: number): number {
  const at = (logExcess: number) => {
    const excess = exp(logExcess);
    const order = 1 + excess;
    return excess * (order * rho - epsilon) + order * (logExcess - ln(order) + rounding) - logExcess;
  };
  let [low, high] = [-30, 30];
  for (let i = 0; i < HALVES; i++) {
    const third = (high - low) / 3;
    if (at(low + third) < at(high - third)) high -= third;
    else low += third;
  }
  return Math.min(0, at((low + high) / 2));
}

// What noise costs before it is drawn: how far private means err, and how many devices it takes to err less than alone.

/** A device that releases its rows: the rows of a typical cluster, and how far they are from their mean, as a variance
 *  of one column. */
export interface Expectation {
  readonly rowsOfCluster: number;
  readonly variance: number;
  readonly reach: number;
  /** Of both releases together. */
  readonly rho: number;
  readonly grid: CellGrid;
}

/** Of the rows of a small cluster along one column, in the fuller of two cells, on average. */
const FULLEST = 0.7;

/** The variance that noise gives a column of the mean of a device's cluster. */
function noiseVariance(
  { rowsOfCluster, reach, rho }: Pick<Expectation, "rowsOfCluster" | "reach" | "rho">,
  cols: number,
): number {
  return (releaseVariances(rho / 2, cols).sums * (reach / STEPS) ** 2) / rowsOfCluster ** 2;
}

/**
 * From so many devices on, all with the same clusters, the common means err less than those of one device alone without
 * noise; Infinity where the clusters do not stand out of the noise of the first release.
 * @example
 * const grid = { low: Float64Array.of(0), high: Float64Array.of(1), perSide: 16 };
 * devicesForRelease({ rowsOfCluster: 1000, variance: 0.01, reach: 0.15, rho: 0.5, grid }) // 1
 */
export function devicesForRelease(expected: Expectation): number {
  const { rowsOfCluster, variance, grid } = expected;
  if (!isSeen(expected)) return Number.POSITIVE_INFINITY;
  return Math.max(1, Math.ceil(noiseVariance(expected, grid.low.length) / (variance / rowsOfCluster)));
}

/** Whether a cluster stands out of the noise of the first release. */
function isSeen({ rowsOfCluster, variance, rho, grid }: Expectation): boolean {
  const sides = grid.low.map((low, c) => (grid.high[c] - low) / grid.perSide);
  // Rows in the fullest cell of a cluster that is spread like a Gaussian. One that is smaller than a cell may lie across
  // a border of cells, along each column.
  const share = sides.reduce((part, side) => part * Math.min(FULLEST, side / Math.sqrt(2 * Math.PI * variance)), 1);
  return rowsOfCluster * share >= 3 * Math.sqrt(countVariance(rho / 2));
}
