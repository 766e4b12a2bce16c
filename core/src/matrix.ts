// Rows of numbers in one flat array: the one shape in which points and centroids travel.

export interface Matrix {
  /** Row r is data[r * cols] ... data[(r + 1) * cols - 1]. */
  readonly data: Float64Array;
  readonly rows: number;
  readonly cols: number;
}

/** A matrix from nested rows, copied. Rows must be of one length and hold finite numbers only. */
export function matrix(rows: ArrayLike<ArrayLike<number>>): Matrix {
  const cols = rows.length === 0 ? 0 : rows[0].length;
  const data = new Float64Array(rows.length * cols);
  for (let r = 0; r < rows.length; r++) {
    const row = rows[r];
    if (row.length !== cols) {
      throw new RangeError(`row ${r} must have ${cols} numbers (the length of row 0), got ${row.length}`);
    }
    for (let c = 0; c < cols; c++) {
      const value = row[c];
      // A typed array would turn null, text and holes into a number without a word.
      if (typeof value !== "number" || !Number.isFinite(value)) {
        throw new RangeError(`row ${r}, column ${c} must be a finite number, got ${String(value)}`);
      }
      data[r * cols + c] = value;
    }
  }
  return { data, rows: rows.length, cols };
}

/** The rows of a matrix as nested arrays, copied: the inverse of `matrix`. */
export function toRows(points: Matrix): number[][] {
  return Array.from({ length: points.rows }, (_, r) =>
    Array.from(points.data.subarray(r * points.cols, (r + 1) * points.cols)),
  );
}

/** All rows of the given matrices in one matrix, in order; those without rows may have any number of columns. */
export function stack(parts: readonly Matrix[]): Matrix {
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
export function columnsOf(datasets: readonly Matrix[]): number {
  return datasets.find(({ rows }) => rows > 0)?.cols ?? 0;
}

/** The chosen rows, in the given order. */
export function takeRows(points: Matrix, rows: ArrayLike<number>): Matrix {
  const { cols } = points;
  const data = new Float64Array(rows.length * cols);
  for (let r = 0; r < rows.length; r++) {
    data.set(points.data.subarray(rows[r] * cols, (rows[r] + 1) * cols), r * cols);
  }
  return { data, rows: rows.length, cols };
}

/** The inner product of two rows. */
export function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += a[i] * b[i];
  return sum;
}
