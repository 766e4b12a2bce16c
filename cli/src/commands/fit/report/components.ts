// Where to look at rows of many columns from: the two directions along which they differ most (principal components).

import type { Matrix } from "@fedkm/core";

export interface View {
  readonly names: readonly [string, string];
  /** Of a row or centroid on the model's scale. */
  project(data: Float64Array, at: number): [number, number];
}

/** More rows do not change the directions visibly. */
const MOST_ROWS = 20_000;
const ITERATIONS = 200;

/** Two columns are shown as they are, more by their principal components, a single one along a line. */
export function viewOf(
  datasets: readonly Matrix[],
  columns: readonly string[],
  { offset, scale }: { readonly offset: readonly number[]; readonly scale: readonly number[] },
): View {
  const d = columns.length;
  if (d <= 2) {
    const value = (data: Float64Array, at: number, c: number) => (c < d ? data[at + c] * scale[c] + offset[c] : 0);
    return { names: [columns[0], columns[1] ?? ""], project: (data, at) => [value(data, at, 0), value(data, at, 1)] };
  }
  const { mean, covariance } = momentsOf(datasets, d);
  const { directions, shares } = principal(covariance, d);
  const names = ["first", "second"].map(
    (word, i) => `${word} principal component, ${(100 * shares[i]).toFixed(0)} % of the variance`,
  );
  const along = (direction: Float64Array, data: Float64Array, at: number) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += direction[c] * (data[at + c] - mean[c]);
    return sum;
  };
  return {
    names: [names[0], names[1]],
    project: (data, at) => [along(directions[0], data, at), along(directions[1], data, at)],
  };
}

/** Every so-manieth row of all devices. */
export function* sampleRows(datasets: readonly Matrix[], most: number): Generator<{ device: number; row: number }> {
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const step = Math.max(1, total / most);
  let begin = 0;
  let next = 0;
  for (const [device, { rows }] of datasets.entries()) {
    for (; next < begin + rows; next += step) yield { device, row: Math.floor(next - begin) };
    begin += rows;
  }
}

/** Mean and covariance from sums, as devices would add them up. */
function momentsOf(datasets: readonly Matrix[], d: number) {
  const mean = new Float64Array(d);
  const rows = [...sampleRows(datasets, MOST_ROWS)];
  for (const { device, row } of rows) {
    const { data } = datasets[device];
    for (let c = 0; c < d; c++) mean[c] += data[row * d + c] / rows.length;
  }
  const covariance = new Float64Array(d * d);
  for (const { device, row } of rows) {
    const { data } = datasets[device];
    for (let a = 0; a < d; a++) {
      const x = data[row * d + a] - mean[a];
      for (let b = 0; b < d; b++) covariance[a * d + b] += (x * (data[row * d + b] - mean[b])) / rows.length;
    }
  }
  return { mean, covariance };
}

/** The two leading eigenvectors by orthogonal iteration, each with its largest entry positive. */
function principal(covariance: Float64Array, d: number): { directions: Float64Array[]; shares: number[] } {
  let directions: Float64Array[] = [0, 1].map((i) =>
    Float64Array.from({ length: d }, (_, c) => (c % 2 === i ? 1 : 0.5) / (1 + c)),
  );
  for (let t = 0; t < ITERATIONS; t++) {
    directions = orthonormal(directions.map((direction) => product(covariance, direction)));
  }
  const total = Array.from({ length: d }, (_, c) => covariance[c * d + c]).reduce((a, b) => a + b, 0);
  const shares = directions.map((direction) =>
    total > 0 ? dot(direction, product(covariance, direction)) / total : 0,
  );
  for (const direction of directions) {
    const largest = direction.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
    if (largest < 0) for (let c = 0; c < d; c++) direction[c] = -direction[c];
  }
  return { directions, shares };
}

function product(square: Float64Array, vector: Float64Array): Float64Array {
  const d = vector.length;
  return vector.map((_, a) => dot(square.subarray(a * d, (a + 1) * d), vector));
}

function dot(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, c) => sum + value * b[c], 0);
}

function orthonormal([first, second]: Float64Array[]): Float64Array[] {
  const unit = (vector: Float64Array, fallback: number) => {
    const length = Math.sqrt(dot(vector, vector));
    // All rows in one place, or along one line: any direction will do.
    return length > 0 ? vector.map((value) => value / length) : vector.map((_, c) => (c === fallback ? 1 : 0));
  };
  const a = unit(first, 0);
  const overlap = dot(a, second);
  return [
    a,
    unit(
      second.map((value, c) => value - overlap * a[c]),
      1,
    ),
  ];
}
