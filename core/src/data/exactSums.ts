// Sums that do not depend on their order: every value is split onto two fixed grids on which addition is exact.

import type { Points } from "./matrix.ts";

/** The unit in the last place of this number is the smallest positive float64. */
const SMALLEST = 1.5 * 2 ** -1022;

/**
 * The magic numbers of columns whose largest magnitudes are given: the coarse ones, then the fine ones. They split a
 * value v of their column:
 *
 *     high = (v + coarse) - coarse        v rounded to the coarse grid
 *     low  = ((v - high) + fine) - fine   the rest rounded to the fine grid
 *
 * The grids are so wide that every sum of up to `rows` parts is exact. So parts may be added in any order, by any
 * number of threads, and taken out again by subtraction, and the bits stay the same. What is below the fine grid, at
 * most 2^-60 of the column's largest magnitude for a million rows, is dropped by the same rule in every engine.
 */
export function exactSumGrids(largest: Float64Array, rows: number): Float64Array {
  const width = largest.length;
  const grids = new Float64Array(2 * width);
  const bits = bitsFor(rows);
  for (let c = 0; c < width; c++) {
    // A magic number is 1.5 * 2^52 grid units, so that v + magic stays in one binade and rounds to whole units.
    const coarse = Math.max(SMALLEST, 1.5 * powerAbove(largest[c]) * 2 ** (52 - bits));
    grids[c] = coarse;
    // The rest is at most half a coarse unit, coarse / 1.5 * 2^-52.
    grids[width + c] = Math.max(SMALLEST, coarse * 2 ** -bits);
  }
  return grids;
}

/** A value gets `bits` bits of a grid, the carries of `rows` additions get the others of the 50 that are used. */
function bitsFor(rows: number): number {
  return 18 + Math.clz32(Math.max(0, rows - 1));
}

/** Values below this, in a column with that largest magnitude, keep fewer than 20 bits on the two grids. */
export function leastExactSummand(largest: number, rows: number): number {
  return powerAbove(largest) * 2 ** (20 - 2 * bitsFor(rows));
}

/** The largest magnitude in every column of the weighted points and, last, the largest weight. */
export function largestMagnitudes({ data, rows, cols }: Points, weights?: Float64Array): Float64Array {
  const largest = new Float64Array(cols + 1);
  for (let r = 0, x = 0; r < rows; r++) {
    const weight = weights === undefined ? 1 : weights[r];
    for (let c = 0; c < cols; c++, x++) {
      const magnitude = Math.abs(weight * data[x]);
      if (magnitude > largest[c]) largest[c] = magnitude;
    }
    if (weight > largest[cols]) largest[cols] = weight;
  }
  return largest;
}

const view = new DataView(new ArrayBuffer(8));

/** The smallest power of two above x, from the bits of its exponent; 2^-1022 for whatever is smaller. */
function powerAbove(x: number): number {
  view.setFloat64(0, x);
  return 2 ** Math.max(-1022, (view.getUint32(0) >>> 20) - 1022);
}
