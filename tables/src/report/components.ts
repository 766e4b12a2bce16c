// Where to look at rows of many columns from: the two directions along which they differ most (principal components).

import type { Matrix } from "@fedkm/core";
import { type Scaling, unscaled } from "@fedkm/files";
import { principalAxes } from "@fedkm/pictures";
import { sampleOf } from "../model/sampleRows.ts";

export interface View {
  readonly names: readonly [string, string];
  /** Of a row or centroid on the model's scale. */
  project(data: Float64Array, at: number): [number, number];
}

/** Two columns are shown as they are, more by their principal components, a single one along a line. */
export function viewOf(datasets: readonly Matrix[], columns: readonly string[], scaling: Scaling): View {
  const d = columns.length;
  if (d <= 2) {
    const value = (data: Float64Array, at: number, c: number) => (c < d ? unscaled(scaling, c, data[at + c]) : 0);
    return { names: [columns[0], columns[1] ?? ""], project: (data, at) => [value(data, at, 0), value(data, at, 1)] };
  }
  const { means, axes, shares } = principalAxes(sampleOf(datasets, d), 2);
  const names = ["first", "second"].map(
    (word, i) => `${word} principal component, ${(100 * shares[i]).toFixed(0)} % of the variance`,
  );
  const along = (axis: Float64Array, data: Float64Array, at: number) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += axis[c] * (data[at + c] - means[c]);
    return sum;
  };
  return { names: [names[0], names[1]], project: (data, at) => [along(axes[0], data, at), along(axes[1], data, at)] };
}
