// The first release of private rows: how many lie in each cell of a public grid, with noise, and the cells as points.

import type { Matrix } from "../data/matrix.ts";
import { type RandomBytes, varianceAtLeast } from "./discreteGaussian.ts";
import { withNoise } from "./noise.ts";
import type { Summary } from "./summary.ts";

/** Equal cells of a box that everybody knows. The box and the number of cells never come from the rows. */
export interface Grid {
  readonly low: Float64Array;
  readonly high: Float64Array;
  /** Cells along each column. */
  readonly perSide: number;
}

/** A grid of more columns has more cells than rows to fill them. */
export const MOST_GRID_COLUMNS = 3;
const CELLS = { fewest: 16, most: 900 };
/** Rows for each cell, times epsilon: enough that a cell with rows stands out of the noise. */
const ROWS_PER_CELL = 5;
/** Cells below this many deviations of the noise count as empty: at two, noise alone can hold a centroid. */
const EMPTY_BELOW = 3;

/** The grid for devices of about so many rows, or for all rows of a network. */
export function gridFor({ low, high }: Pick<Grid, "low" | "high">, rows: number, epsilon: number): Grid {
  const cells = Math.min(CELLS.most, Math.max(CELLS.fewest, (rows * epsilon) / ROWS_PER_CELL));
  // A small addition, because a root that should be whole may fall below it.
  return { low, high, perSide: Math.floor(cells ** (1 / low.length) + 1e-9) };
}

/** Rows in each cell. Rows outside of the box count in the cell that is nearest to them. */
export function countCells({ data, rows, cols }: Matrix, { low, high, perSide }: Grid): bigint[] {
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

/** The variance of the noise that a release of counts for `rho` needs: one row changes one count by 1. */
export const countVariance = (rho: number) => 1 / (2 * rho);

export function releaseCells(points: Matrix, grid: Grid, rho: number, bytes: RandomBytes): bigint[] {
  return withNoise(countCells(points, grid), varianceAtLeast(countVariance(rho)), bytes);
}

/**
 * The cells that have rows beyond doubt, as points in their middles; whoever reads them learns nothing else. Where they
 * are fewer than `fewest`, so many of the fullest: k clusters need k places, and a doubtful one is better than none.
 */
export function cellSummary(
  counts: readonly (bigint | number)[],
  { low, high, perSide }: Grid,
  rho: number,
  fewest: number,
): Summary {
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
