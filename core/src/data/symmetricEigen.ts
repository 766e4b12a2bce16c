// Eigenvalues and eigenvectors of a symmetric matrix by Jacobi's rotations: sums, products, quotients and square roots in a
// fixed order, so that every platform finds the same bits, signs included.

/** Sweeps after which a matrix counts as diagonal at the latest; a dozen are usual. */
const MOST_SWEEPS = 100;

/**
 * Eigenvalues, and the eigenvectors as rows, of a symmetric matrix, which is used up.
 * @example symmetricEigen(Float64Array.of(2, 0, 0, 1), 2).values // [2, 1]
 */
export function symmetricEigen(matrix: Float64Array, size: number): { values: Float64Array; vectors: Float64Array } {
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) vectors[i * size + i] = 1;
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let rotated = false;
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) if (rotate(matrix, vectors, size, p, q)) rotated = true;
    }
    if (!rotated) break;
  }
  return { values: Float64Array.from({ length: size }, (_, i) => matrix[i * size + i]), vectors };
}

/** Turns the plane of axes p and q until their entry is 0; false where it is below rounding already. */
function rotate(matrix: Float64Array, vectors: Float64Array, size: number, p: number, q: number): boolean {
  const [pp, qq, pq] = [matrix[p * size + p], matrix[q * size + q], matrix[p * size + q]];
  if (Math.abs(pq) <= Number.EPSILON * Math.sqrt(Math.abs(pp * qq))) return false;
  const theta = (qq - pp) / (2 * pq);
  const tangent = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const cosine = 1 / Math.sqrt(tangent * tangent + 1);
  const sine = tangent * cosine;
  const turn = (array: Float64Array, a: number, b: number) => {
    const [x, y] = [array[a], array[b]];
    array[a] = cosine * x - sine * y;
    array[b] = sine * x + cosine * y;
  };
  for (let i = 0; i < size; i++) turn(matrix, i * size + p, i * size + q);
  for (let i = 0; i < size; i++) turn(matrix, p * size + i, q * size + i);
  for (let i = 0; i < size; i++) turn(vectors, p * size + i, q * size + i);
  return true;
}

// The directions in which rows vary most, from noisy sums: eigenvectors in a fixed order, and orthonormal rows.

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
