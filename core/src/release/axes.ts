// The directions in which rows vary most, from noisy sums: eigenvectors in a fixed order, and orthonormal rows.

import { symmetricEigen } from "../data/symmetricEigen.ts";

/** The `many` eigenvectors of the largest eigenvalues, as rows, largest first. */
export function leadingAxes(
  matrix: Float64Array,
  size: number,
  many: number,
): { readonly axes: Float64Array; readonly variances: Float64Array } {
  const { values, vectors } = symmetricEigen(matrix, size);
  const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a] || a - b);
  const leading = order.slice(0, many);
  const axes = new Float64Array(many * size);
  leading.forEach((from, to) => {
    axes.set(vectors.subarray(from * size, (from + 1) * size), to * size);
  });
  return { axes, variances: Float64Array.from(leading, (i) => values[i]) };
}

/** Rows of length 1 and orthogonal to each other, one after the other; what vanishes stays zero. */
export function orthonormalRows(rows: Float64Array, size: number): Float64Array {
  const found = rows.slice();
  const many = rows.length / size;
  for (let a = 0; a < many; a++) {
    const own = found.subarray(a * size, (a + 1) * size);
    // Twice, because the first time leaves a rounding error where rows are nearly parallel.
    for (let pass = 0; pass < 2; pass++) {
      for (let b = 0; b < a; b++) {
        const before = found.subarray(b * size, (b + 1) * size);
        let share = 0;
        for (let i = 0; i < size; i++) share += own[i] * before[i];
        for (let i = 0; i < size; i++) own[i] -= share * before[i];
      }
    }
    let square = 0;
    for (let i = 0; i < size; i++) square += own[i] * own[i];
    const factor = square > 0 ? 1 / Math.sqrt(square) : 0;
    for (let i = 0; i < size; i++) own[i] *= factor;
  }
  return found;
}
