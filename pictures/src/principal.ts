// Principal components: the directions in which points differ most, by Jacobi's rotations of their covariance, or by subspace
// iteration where there are many columns.

import { type Matrix, randomStream } from "@fedkm/core";
import { symmetricEigen } from "@fedkm/core/release";

/** The points, centred, in the coordinates of their `count` leading principal components. */
export function principalComponents(points: Matrix, count: number): Matrix {
  checkCount(points, count);
  const { centred } = centre(points);
  return multiply(centred, jacobiAxes(centred, count).axes);
}

function checkCount({ cols }: Matrix, count: number): void {
  if (!Number.isInteger(count) || count < 1 || count > cols) {
    throw new RangeError(`count must be an integer from 1 to ${cols} (the columns of points), got ${count}`);
  }
}

interface PrincipalAxes {
  /** What the points are centred by. */
  readonly means: Float64Array;
  /** Of length 1, the leading one first. */
  readonly axes: readonly Float64Array[];
  /** How much of the variance lies along each of the axes, from 0 to 1. */
  readonly shares: readonly number[];
}

/** Jacobi's rotations of more columns than this take seconds, and minutes from a thousand on. */
const MOST_ROTATED = 64;

/** From where to look at points of many columns: exact for a few columns, to the eye's precision for many. */
export function principalAxes(points: Matrix, count: number): PrincipalAxes {
  checkCount(points, count);
  const { centred, means } = centre(points);
  const { axes, variances } = points.cols <= MOST_ROTATED ? jacobiAxes(centred, count) : subspaceAxes(centred, count);
  const total = centred.data.reduce((sum, value) => sum + value * value, 0) / points.rows;
  return { means, axes, shares: variances.map((variance) => (total > 0 ? variance / total : 0)) };
}

/** Rows in the plane of two axes, x and y in turn. */
export function projectOnAxes(data: Float64Array, { means, axes }: Omit<PrincipalAxes, "shares">): Float64Array {
  const cols = means.length;
  return Float64Array.from({ length: (2 * data.length) / cols }, (_, at) => {
    const row = Math.floor(at / 2) * cols;
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (data[row + x] - means[x]) * axes[at % 2][x];
    return sum;
  });
}

/** All axes of the space, of which the leading ones are kept. */
function jacobiAxes(centred: Matrix, count: number) {
  const { cols } = centred;
  const { values, vectors } = symmetricEigen(covariance(centred), cols);
  const order = Array.from(values.keys()).sort((a, b) => values[b] - values[a]);
  const leading = order.slice(0, count);
  return {
    axes: leading.map((axis) => signed(vectors.slice(axis * cols, (axis + 1) * cols))),
    variances: leading.map((axis) => values[axis]),
  };
}

/** The axes inside a small space that holds most of the variance. */
function subspaceAxes(centred: Matrix, count: number) {
  const { basis, coordinates } = leadingSubspace(centred, count);
  const inside = jacobiAxes(coordinates, count);
  const axes = inside.axes.map((turned) =>
    signed(basis[0].map((_, x) => basis.reduce((sum, vector, i) => sum + turned[i] * vector[x], 0))),
  );
  return { axes, variances: inside.variances };
}

/** An axis has two signs; the one with a positive largest entry is the same on every machine. */
function signed(axis: Float64Array): Float64Array {
  const largest = axis.reduce((most, x) => (Math.abs(x) > Math.abs(most) ? x : most), 0);
  return largest < 0 ? axis.map((x) => -x) : axis;
}

function centre({ data, rows, cols }: Matrix): { centred: Matrix; means: Float64Array } {
  const means = new Float64Array(cols);
  data.forEach((value, at) => {
    means[at % cols] += value / rows;
  });
  return { centred: { data: data.map((value, at) => value - means[at % cols]), rows, cols }, means };
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

/** More vectors than are asked for: the iteration is then slow only if all of these directions matter equally. */
const SPARE = 4;
const ITERATIONS = 30;
/** The eye sees no smaller gain of variance. */
const GAIN = 1e-4;

/** `centred` is never multiplied with itself: a step costs as much as reading it twice for each vector. */
function leadingSubspace(centred: Matrix, count: number) {
  const random = randomStream(1);
  const size = Math.min(count + SPARE, centred.cols);
  let basis = orthonormal(
    Array.from({ length: size }, () => Float64Array.from({ length: centred.cols }, () => random() - 0.5)),
  );
  let coordinates = multiply(centred, basis);
  let held = 0;
  for (let i = 0; i < ITERATIONS; i++) {
    basis = orthonormal(multiplyBack(centred, coordinates));
    coordinates = multiply(centred, basis);
    const before = held;
    held = dot(coordinates.data, 0, coordinates.data);
    if (held <= (1 + GAIN) * before) break;
  }
  // The basis is orthonormal, and the coordinates are those of the points along it.
  return { basis, coordinates };
}

/** A row of coordinates along the vectors for each point. */
function multiply({ data, rows, cols }: Matrix, vectors: readonly Float64Array[]): Matrix {
  const product = new Float64Array(rows * vectors.length);
  for (let r = 0; r < rows; r++) {
    for (let v = 0; v < vectors.length; v++) product[r * vectors.length + v] = dot(data, r * cols, vectors[v]);
  }
  return { data: product, rows, cols: vectors.length };
}

/** The sum of the points, each as often as its coordinate along a vector says. */
function multiplyBack({ data, rows, cols }: Matrix, coordinates: Matrix): Float64Array[] {
  const sums = Array.from({ length: coordinates.cols }, () => new Float64Array(cols));
  for (let r = 0; r < rows; r++) {
    for (let v = 0; v < coordinates.cols; v++) {
      const [sum, coordinate] = [sums[v], coordinates.data[r * coordinates.cols + v]];
      for (let x = 0; x < cols; x++) sum[x] += coordinate * data[r * cols + x];
    }
  }
  return sums;
}

function dot(data: Float64Array, at: number, vector: Float64Array): number {
  let sum = 0;
  for (let x = 0; x < vector.length; x++) sum += data[at + x] * vector[x];
  return sum;
}

/** A remainder this much shorter than its vector is rounding. */
const ROUNDING = 1e-12;

/** Vectors of the same space; where they span less, as all points on a line do, coordinate axes take the free slots. */
function orthonormal(vectors: readonly Float64Array[]): Float64Array[] {
  const basis: Float64Array[] = [];
  let next = 0;
  for (const vector of vectors) {
    let rest = remainder(vector, basis);
    while (rest === undefined) {
      const axis = new Float64Array(vector.length);
      axis[next++] = 1;
      rest = remainder(axis, basis);
    }
    basis.push(rest);
  }
  return basis;
}

/** What of a vector no vector of the basis has, of length 1; undefined if nothing is left. */
function remainder(vector: Float64Array, basis: readonly Float64Array[]): Float64Array | undefined {
  const length = Math.sqrt(dot(vector, 0, vector));
  const rest = vector.slice();
  // Twice, because the first time leaves rounding behind.
  for (const other of [...basis, ...basis]) {
    const share = dot(rest, 0, other);
    for (let x = 0; x < rest.length; x++) rest[x] -= share * other[x];
  }
  const left = Math.sqrt(dot(rest, 0, rest));
  return left > ROUNDING * length ? rest.map((x) => x / left) : undefined;
}
