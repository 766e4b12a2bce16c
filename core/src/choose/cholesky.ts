// Cholesky's factor of a covariance, and points measured in its units.

import type { Matrix } from "../data/matrix.ts";

/** L with L L' = S, q x q numbers each, for positive definite S. */
export function cholesky(matrix: Float64Array, q: number): Float64Array {
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
export function solved(factor: Float64Array, { data, rows, cols: q }: Matrix): Matrix {
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
