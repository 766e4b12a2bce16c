// From the features' units, in which data and results are given, to the numbers that are clustered and sent, and back.

import type { Matrix } from "@fedkm/core";
import type { Study } from "./study.ts";

/** Rows in the features' units to the numbers that are clustered and sent. Rows out of bounds are left out. */
export function scaleRows(study: Study, rows: Matrix): Matrix {
  return dividedByScale(study, rowsInside(study, rows));
}

/** The rows within the study's bounds, as they are. */
export function rowsInside(study: Study, rows: Matrix): Matrix {
  const d = study.features.length;
  if (rows.cols !== d)
    throw new RangeError(`rows must have ${d} columns (the features of the study), got ${rows.cols}`);
  const data = new Float64Array(rows.data.length);
  let kept = 0;
  for (let r = 0; r < rows.rows; r++) {
    const isInside = study.features.every(({ min, max }, f) => {
      const value = rows.data[r * d + f];
      return value >= min && value <= max;
    });
    if (!isInside) continue;
    for (let f = 0; f < d; f++) data[kept * d + f] = rows.data[r * d + f];
    kept++;
  }
  return { data: data.slice(0, kept * d), rows: kept, cols: d };
}

export function dividedByScale({ features }: Study, { data, rows, cols }: Matrix): Matrix {
  return { data: data.map((value, i) => value / features[i % cols].scale), rows, cols };
}

/** Centroids in the features' units again. */
export function unscale(study: Study, centroids: Matrix): Matrix {
  const { rows, cols } = centroids;
  const data = centroids.data.map((value, i) => value * study.features[i % cols].scale);
  return { data, rows, cols };
}
