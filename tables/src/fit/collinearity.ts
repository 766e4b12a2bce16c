// Whether rows differ along one direction alone, so that clusters are slices along it: columns that measure one thing.

import { principalAxes } from "@fedkm/pictures";
import type { FittedRows } from "../model/outcome.ts";
import { sampleOf, sampleRows } from "../model/sampleRows.ts";

/** So much of the variance along one direction is all of it. */
const ALL = 0.99;

/**
 * k slices of rows that lie evenly along a line leave 1 / k^2 of their variance within the slices, and slices of a heap
 * leave more. Clusters that are apart leave far less: they are no slices, even if they lie on a line.
 */
const EVEN = 0.8;

/** A column with so much of a direction is that direction. */
const LEADING = 0.9;

type Fit = Pick<FittedRows, "datasets" | "labels" | "sums"> & {
  readonly model: Pick<FittedRows["model"], "columns" | "scaling" | "study">;
};

export function collinearityWarnings({ datasets, labels, sums, model }: Fit): string[] {
  const { columns, scaling, study } = model;
  if (columns.length < 2 || sums.k < 2) return [];
  const { axes, shares, means } = principalAxes(sampleOf(datasets, columns.length), 1);
  const [axis] = axes;
  if (!(shares[0] >= ALL) || withinAlong(axis, means, { datasets, labels, sums }) * sums.k ** 2 < EVEN) return [];
  const share = `${(100 * shares[0]).toFixed(1)} % of the variance`;
  const named = Array.from(axis.keys()).filter((c) => axis[c] ** 2 > (1 - LEADING) / columns.length);
  const leading = named.find((c) => axis[c] ** 2 >= LEADING);
  if (leading === undefined) {
    const names = named.slice(0, MOST_NAMES).map((c) => JSON.stringify(columns[c]));
    return [
      `${share} lies along one direction, in which ${names.join(", ")}${named.length > MOST_NAMES ? " and others" : ""} ` +
        "rise and fall together: clusters are slices along it; leave out columns that measure the same thing",
    ];
  }
  // Without scaling, its deviation was warned of; with --scale standard no column has more than another; and the scales
  // of a study are agreed on.
  if (scaling.kind !== "bounds" || study !== undefined) return [];
  return [
    `column ${JSON.stringify(columns[leading])} has ${share} between its bounds; give all columns the same say with ` +
      "--scale standard",
  ];
}

const MOST_NAMES = 5;

const MOST_ROWS = 20_000;

/** The share of the variance along the axis that is left around the means of clusters on their devices. */
function withinAlong(axis: Float64Array, centre: Float64Array, { datasets, labels, sums }: Omit<Fit, "model">): number {
  const { k, cols, means } = sums;
  let [within, all] = [0, 0];
  for (const { device, row } of sampleRows(datasets, MOST_ROWS)) {
    const { data } = datasets[device];
    const from = (device * k + labels[device][row]) * cols;
    let [own, common] = [0, 0];
    for (let x = 0; x < cols; x++) {
      own += axis[x] * (data[row * cols + x] - means[from + x]);
      common += axis[x] * (data[row * cols + x] - centre[x]);
    }
    within += own * own;
    all += common * common;
  }
  return within / all;
}
