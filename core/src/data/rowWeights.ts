// Rows that count more or less than others. Whole weights are repeated rows and are computed as such, so that the answer is
// that of the repeated rows to the bit; other weights enter the sums, where they round.

import { checkWeights } from "./check.ts";
import { type Points, takeRows } from "./matrix.ts";

/** More repeated rows than these, on all devices together, are not written out: their weights enter the sums. */
export const MOST_REPEATED_ROWS = 2 ** 20;

/** Rows that all count, and how much each does; undefined: every row the same. */
export interface WeightedRows {
  readonly datasets: readonly Points[];
  readonly weights: readonly Float64Array[] | undefined;
}

/** The rows of devices with the weights of each. A row of weight 0 is left out. */
export function weightedRows(datasets: readonly Points[], weights: readonly Float64Array[]): WeightedRows {
  const total = weights.reduce((sum, own) => sum + sumOf(own), 0);
  const areWhole = weights.every((own) => own.every(Number.isInteger));
  const isRepeated = areWhole && total <= MOST_REPEATED_ROWS;
  const rows = weights.map((own) =>
    Array.from(own).flatMap((weight, r) => (isRepeated ? new Array<number>(weight).fill(r) : weight > 0 ? [r] : [])),
  );
  return {
    datasets: datasets.map((points, i) => takeRows(points, rows[i])),
    weights: isRepeated ? undefined : weights.map((own, i) => Float64Array.from(rows[i], (r) => own[r])),
  };
}

/** A copy of weights that were given for so many rows. Refused where they are none, or all 0. */
export function checkedRowWeights(weights: ArrayLike<number>, rows: number, name: string, where: string): Float64Array {
  checkWeights(weights, rows, name, where);
  const copy = Float64Array.from(weights);
  if (rows > 0 && copy.every((weight) => weight === 0)) throw new RangeError(`${name} must not all be 0`);
  return copy;
}

/** How much the rows of each device count together. */
export function rowMasses({ datasets, weights }: WeightedRows): Float64Array {
  return Float64Array.from(datasets, ({ rows }, i) => (weights === undefined ? rows : sumOf(weights[i])));
}

function sumOf(weights: Float64Array): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}
