// The few directions that hold most of the variance of points with many columns, by subspace iteration.

import { type Matrix, randomStream } from "@fedkm/core";

/** More vectors than are asked for: the iteration is then slow only if all of these directions matter equally. */
const SPARE = 4;
const ITERATIONS = 30;
/** The eye sees no smaller gain of variance. */
const GAIN = 1e-4;

interface Subspace {
  /** Orthonormal. */
  readonly basis: readonly Float64Array[];
  /** The points' places along the basis. */
  readonly coordinates: Matrix;
}

/** `centred` is never multiplied with itself: a step costs as much as reading it twice for each vector. */
export function leadingSubspace(centred: Matrix, count: number): Subspace {
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
  return { basis, coordinates };
}

/** A row of places along the vectors for each point. */
function multiply({ data, rows, cols }: Matrix, vectors: readonly Float64Array[]): Matrix {
  const product = new Float64Array(rows * vectors.length);
  for (let r = 0; r < rows; r++) {
    for (let v = 0; v < vectors.length; v++) product[r * vectors.length + v] = dot(data, r * cols, vectors[v]);
  }
  return { data: product, rows, cols: vectors.length };
}

/** The sum of the points, each as often as its place along a vector says. */
function multiplyBack({ data, rows, cols }: Matrix, places: Matrix): Float64Array[] {
  const sums = Array.from({ length: places.cols }, () => new Float64Array(cols));
  for (let r = 0; r < rows; r++) {
    for (let v = 0; v < places.cols; v++) {
      const [sum, place] = [sums[v], places.data[r * places.cols + v]];
      for (let x = 0; x < cols; x++) sum[x] += place * data[r * cols + x];
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

/** Vectors of the same space; where they span less, as all points on a line do, coordinate axes take the free places. */
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
