// Some of the rows of all devices, where all of them would cost too much and tell no more.

import { type Matrix, takeRows } from "@fedkm/core";

/** Rows of all devices at even distances, at most so many. */
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

export interface Sampled {
  readonly datasets: readonly Matrix[];
  readonly labels: readonly Uint32Array[];
  /** Of all. */
  readonly rows: number;
}

/** The same rows as devices of their own, with their labels. */
export function sampleRowsByDevice(datasets: readonly Matrix[], labels: readonly Uint32Array[], most: number): Sampled {
  const chosen: number[][] = datasets.map(() => []);
  for (const { device, row } of sampleRows(datasets, most)) chosen[device].push(row);
  return {
    datasets: datasets.map((points, i) => (chosen[i].length === points.rows ? points : takeRows(points, chosen[i]))),
    labels: labels.map((own, i) => Uint32Array.from(chosen[i], (row) => own[row])),
    rows: chosen.reduce((sum, { length }) => sum + length, 0),
  };
}

/** More rows do not change the directions visibly, and a page of wide rows must not take long. */
const MOST_ROWS = 20_000;
const MOST_VALUES = 1_000_000;

/** Some of the rows of all devices, as many as show the directions. */
export function sampleRowsForAxes(datasets: readonly Matrix[], cols: number): Matrix {
  const chosen = [...sampleRows(datasets, Math.min(MOST_ROWS, Math.ceil(MOST_VALUES / cols)))];
  const data = new Float64Array(chosen.length * cols);
  chosen.forEach(({ device, row }, i) => {
    data.set(datasets[device].data.subarray(row * cols, (row + 1) * cols), i * cols);
  });
  return { data, rows: chosen.length, cols };
}
