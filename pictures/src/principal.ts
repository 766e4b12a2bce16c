// Principal components: the directions in which points differ most, by Jacobi's rotations of their covariance.

import type { Matrix } from "@fedkm/core";

/** The points, centred, in the coordinates of their `count` leading principal components. */
export function principalComponents(points: Matrix, count: number): Matrix {
  const { rows, cols } = points;
  if (!Number.isInteger(count) || count < 1 || count > cols) {
    throw new RangeError(`count must be an integer from 1 to ${cols} (the columns of points), got ${count}`);
  }
  const centred = centre(points);
  const { values, vectors } = symmetricEigen(covariance(centred), cols);
  const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const data = new Float64Array(rows * count);
  for (let c = 0; c < count; c++) {
    const axis = vectors.subarray(order[c] * cols, (order[c] + 1) * cols);
    // An axis has two signs; the one with a positive largest entry is the same on every machine.
    const largest = axis.reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0);
    for (let r = 0; r < rows; r++) {
      let sum = 0;
      for (let x = 0; x < cols; x++) sum += centred.data[r * cols + x] * axis[x];
      data[r * count + c] = largest < 0 ? -sum : sum;
    }
  }
  return { data, rows, cols: count };
}

function centre({ data, rows, cols }: Matrix): Matrix {
  const means = new Float64Array(cols);
  data.forEach((value, at) => {
    means[at % cols] += value / rows;
  });
  return { data: data.map((value, at) => value - means[at % cols]), rows, cols };
}

function covariance({ data, rows, cols }: Matrix): Float64Array {
  const product = new Float64Array(cols * cols);
  for (let r = 0; r < rows; r++) {
    for (let i = 0; i < cols; i++) {
      const value = data[r * cols + i] / rows;
      for (let j = i; j < cols; j++) product[i * cols + j] += value * data[r * cols + j];
    }
  }
  for (let i = 0; i < cols; i++) for (let j = 0; j < i; j++) product[i * cols + j] = product[j * cols + i];
  return product;
}

/** Sweeps after which a matrix counts as diagonal at the latest; a dozen are usual. */
const MOST_SWEEPS = 100;

/** Eigenvalues, and the eigenvectors as rows, of a symmetric matrix, which is used up. */
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
