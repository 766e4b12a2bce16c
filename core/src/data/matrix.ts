// Rows of numbers in one flat array: the one shape in which points and centroids travel.

import { describeArgument, isList } from "./optionNames.ts";

/** Numbers of points. Those in float32 stay as they are; all that is computed from them is what float64 ones would give. */
export type Numbers = Float64Array | Float32Array;

/** Rows of numbers, flat. `matrix(rows)` makes one. */
export interface Matrix<Data extends Numbers = Float64Array> {
  /** Row r is data[r * cols] ... data[(r + 1) * cols - 1]. */
  readonly data: Data;
  readonly rows: number;
  readonly cols: number;
}

/** A matrix of points: float64, or float32 to take half the memory. */
export type Points = Matrix<Numbers>;

/** Numbers one after the other, such as a list or a typed array, and how many make a row. */
export interface FlatRows {
  readonly data: ArrayLike<number>;
  readonly cols: number;
}

/**
 * A matrix from nested rows or from flat numbers, copied; a Float32Array stays one. Rows must be of one length and hold
 * finite numbers only.
 * @example
 * matrix([[1, 2], [3, 4]]).data // [1, 2, 3, 4]
 * matrix({ data: [1, 2, 3, 4], cols: 2 }).rows // 2
 */
export function matrix(rows: ArrayLike<ArrayLike<number>>): Matrix;
export function matrix(rows: { readonly data: Float32Array; readonly cols: number }): Matrix<Float32Array>;
export function matrix(rows: ArrayLike<ArrayLike<number>> | FlatRows): Matrix;
export function matrix(rows: ArrayLike<ArrayLike<number>> | FlatRows): Points {
  if (isFlat(rows)) return fromFlat(rows);
  if (!isList(rows)) {
    throw new TypeError(
      `rows must be a list of rows, or { data, cols } with flat numbers, got ${describeArgument(rows)}`,
    );
  }
  const cols = isList(rows[0]) ? rows[0].length : 0;
  const data = new Float64Array(rows.length * cols);
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r];
    if (!isList(row)) {
      throw new TypeError(
        `row ${r} must be a list of numbers (flat numbers: matrix({ data, cols })), got ${describeArgument(row)}`,
      );
    }
    if (row.length !== cols) {
      throw new RangeError(`row ${r} must have ${cols} numbers (the length of row 0), got ${row.length}`);
    }
    for (let c = 0; c < cols; c++) data[r * cols + c] = finite(row[c], r, c);
  }
  return { data, rows: rows.length, cols };
}

function fromFlat({ data, cols }: FlatRows): Points {
  const given = isNumbered(data) ? Object.values(data) : data;
  if (!isList(given)) throw new TypeError(`data must be a list of numbers, got ${describeArgument(given)}`);
  if (!Number.isSafeInteger(cols) || cols < 1 || given.length % cols !== 0) {
    throw new RangeError(
      `cols must be an integer that divides ${given.length} (the numbers of data), got ${describeArgument(cols)}`,
    );
  }
  const copy = given instanceof Float32Array ? new Float32Array(given.length) : new Float64Array(given.length);
  for (let i = 0; i < copy.length; i++) copy[i] = finite(given[i], Math.floor(i / cols), i % cols);
  return { data: copy, rows: copy.length / cols, cols };
}

/** JSON turns a typed array into an object with the names 0, 1, 2 and so on. */
function isNumbered(data: unknown): data is Record<string, number> {
  if (typeof data !== "object" || data === null || isList(data)) return false;
  return Object.keys(data).every((name, at) => name === String(at));
}

/** A typed array would turn null, text and holes into a number without a word. */
function finite(value: unknown, row: number, column: number): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  throw new RangeError(`row ${row}, column ${column} must be a finite number, got ${describeArgument(value)}`);
}

function isFlat(value: unknown): value is FlatRows {
  return typeof value === "object" && value !== null && "data" in value && "cols" in value;
}

/** The parts of a matrix are there; `check.ts` looks at the numbers as well. Points may be in float32. */
export function checkIsMatrix(name: string, value: Points): void {
  const { data, rows, cols } = value ?? {};
  const isFloat = data instanceof Float64Array || data instanceof Float32Array;
  if (!isFloat || !Number.isSafeInteger(rows) || !Number.isSafeInteger(cols)) {
    throw new TypeError(`${name} must be a Matrix { data: Float64Array, rows, cols }; matrix(rows) makes one`);
  }
}

/**
 * The rows of a matrix as nested arrays, copied: the inverse of `matrix`.
 * @example toRows(matrix([[1, 2], [3, 4]])) // [[1, 2], [3, 4]]
 */
export function toRows(points: Points): number[][] {
  checkIsMatrix("points", points);
  return Array.from({ length: points.rows }, (_, r) =>
    Array.from(points.data.subarray(r * points.cols, (r + 1) * points.cols)),
  );
}

/**
 * All rows of the given matrices in one matrix, in order; those without rows may have any number of columns.
 * @example toRows(stack([matrix([[1, 2]]), matrix([[3, 4]])])) // [[1, 2], [3, 4]]
 */
export function stack(parts: readonly Points[]): Matrix {
  if (!Array.isArray(parts)) throw new TypeError(`parts must be a list of matrices, got ${describeArgument(parts)}`);
  for (const [i, part] of parts.entries()) checkIsMatrix(`parts[${i}]`, part);
  const filled = parts.filter((part) => part.rows > 0);
  const cols = (filled.at(0) ?? parts.at(0))?.cols ?? 0;
  const other = filled.find((part) => part.cols !== cols);
  if (other !== undefined) throw new RangeError(`matrices must have ${cols} columns (as the first), got ${other.cols}`);
  const rows = parts.reduce((total, part) => total + part.rows, 0);
  const data = new Float64Array(rows * cols);
  let at = 0;
  for (const part of parts) {
    data.set(part.data, at);
    at += part.data.length;
  }
  return { data, rows, cols };
}

/** The columns of datasets of which one at least has rows; those without rows may say anything. */
export function datasetColumns(datasets: readonly Points[]): number {
  return datasets.find(({ rows }) => rows > 0)?.cols ?? 0;
}

/**
 * The rows with these numbers, in this order, copied.
 * @example toRows(takeRows(matrix([[1], [2], [3]]), [0, 2])) // [[1], [3]]
 */
export function takeRows<Data extends Numbers>(points: Matrix<Data>, rows: ArrayLike<number>): Matrix<Data> {
  checkIsMatrix("points", points);
  if (!isList(rows)) throw new TypeError(`rows must be a list of numbers, got ${describeArgument(rows)}`);
  const { cols } = points;
  const size = rows.length * cols;
  const data = (points.data instanceof Float32Array ? new Float32Array(size) : new Float64Array(size)) as Data;
  for (let r = 0; r < rows.length; r++) {
    data.set(points.data.subarray(rows[r] * cols, (rows[r] + 1) * cols), r * cols);
  }
  return { data, rows: rows.length, cols };
}

/** The same numbers in float64, for what knows no other; copied only if they are not. */
export function widenPoints({ data, rows, cols }: Points): Matrix {
  return { data: data instanceof Float64Array ? data : Float64Array.from(data), rows, cols };
}

/** The rows over and over until there are `count`. */
export function repeatRows(points: Matrix, count: number): Matrix {
  return takeRows(
    points,
    Array.from({ length: count }, (_, r) => r % points.rows),
  );
}

export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}

/** Of a number, in size. */
export function largestMagnitude(data: Float64Array): number {
  return data.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
}

/** Of two numbers at the same place, in size. */
export function largestDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((most, x, at) => Math.max(most, Math.abs(x - b[at])), 0);
}

/** Takes out of a row what it has along a direction of length 1. */
export function removeProjection(direction: Float64Array, /* IN OUT */ row: Float64Array): void {
  const along = dot(row, direction);
  for (let i = 0; i < row.length; i++) row[i] -= along * direction[i];
}

/** Largest difference between two points in any column; 0 without points. */
export function datasetRange(datasets: readonly Points[]): number {
  return datasetColumnRanges(datasets).reduce((largest, range) => Math.max(largest, range), 0);
}

/** The same of each column. */
export function datasetColumnRanges(datasets: readonly Points[]): Float64Array {
  const { least, most } = extremesOf(datasets);
  return most.map((high, c) => Math.max(0, high - least[c]));
}

/** The smallest and the largest value of each column. */
export function extremesOf(datasets: readonly Points[]): { readonly least: Float64Array; readonly most: Float64Array } {
  const cols = datasets.reduce((most, own) => Math.max(most, own.cols), 0);
  const least = new Float64Array(cols).fill(Number.POSITIVE_INFINITY);
  const most = new Float64Array(cols).fill(Number.NEGATIVE_INFINITY);
  for (const { data } of datasets) {
    for (let at = 0; at < data.length; ) {
      for (let c = 0; c < cols; c++, at++) {
        const value = data[at];
        if (value < least[c]) least[c] = value;
        if (value > most[c]) most[c] = value;
      }
    }
  }
  return { least, most };
}

export function squaredDistance(a: Numbers, at: number, b: Numbers, bt: number, cols: number): number {
  // The paper's data are planar: the same bits without a loop.
  if (cols === 2) {
    const dx = a[at] - b[bt];
    const dy = a[at + 1] - b[bt + 1];
    return dx * dx + dy * dy;
  }
  let sum = 0;
  for (let c = 0; c < cols; c++) {
    const difference = a[at + c] - b[bt + c];
    sum += difference * difference;
  }
  return sum;
}
