// A part of the rows of every device, where there are more of them than the choice of k and alpha needs.

import { checkInteger } from "../data/check.ts";
import { type Matrix, takeRows } from "../data/matrix.ts";
import { randomStream } from "../data/random.ts";

/** Rows of all devices together that are looked at unless `sample` says otherwise. */
const ENOUGH_ROWS = 20_000;

/** Nobody with fewer rows than this gives only a part of them. */
const LEAST_ROWS = 1_000;

/** What was looked at. */
export interface SampledRows {
  readonly rows: number;
  /** Of so many. */
  readonly of: number;
}

export interface Sampled {
  readonly datasets: readonly Matrix[];
  /** Absent where all rows were looked at. */
  readonly sampled?: SampledRows;
}

/** About `most` rows, the same share of every large device, spread over its rows. */
export function sampleRows(datasets: readonly Matrix[], seed: number, most = ENOUGH_ROWS): Sampled {
  checkInteger("sample", most, 1);
  const all = datasets.reduce((sum, { rows }) => sum + rows, 0);
  if (all <= most) return { datasets };
  const taken = datasets.map((points, i) => {
    const size = Math.min(points.rows, Math.max(LEAST_ROWS, Math.ceil((most / all) * points.rows)));
    return size === points.rows ? points : spreadRows(points, size, seed, i);
  });
  return { datasets: taken, sampled: { rows: taken.reduce((sum, { rows }) => sum + rows, 0), of: all } };
}

/** A random row of each of `size` equal parts. */
function spreadRows(points: Matrix, size: number, seed: number, device: number): Matrix {
  const random = randomStream(seed, "sample", device);
  const chosen = Uint32Array.from({ length: size }, (_, at) => Math.floor(((at + random()) * points.rows) / size));
  return takeRows(points, chosen);
}
