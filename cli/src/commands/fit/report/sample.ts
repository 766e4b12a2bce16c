// Some of the rows of all places, where all of them would cost too much and tell no more.

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

/** The same rows as places of their own, with their labels. */
export function sampledPlaces(datasets: readonly Matrix[], labels: readonly Uint32Array[], most: number): Sampled {
  const chosen: number[][] = datasets.map(() => []);
  for (const { device, row } of sampleRows(datasets, most)) chosen[device].push(row);
  return {
    datasets: datasets.map((points, i) => (chosen[i].length === points.rows ? points : takeRows(points, chosen[i]))),
    labels: labels.map((own, i) => Uint32Array.from(chosen[i], (row) => own[row])),
    rows: chosen.reduce((sum, { length }) => sum + length, 0),
  };
}
