// From the features' units, in which data and results are given, to the numbers that are clustered and sent, and back.

import { type Matrix, takeRows } from "@fedkm/core";
import type { Study } from "./study.ts";

/** Rows in the features' units to the numbers that are clustered and sent. Rows out of bounds are left out. */
export function scaleRows(study: Study, rows: Matrix): Matrix {
  return dividedByScale(study, rowsInside(study, rows));
}

/** The rows within the study's bounds, as they are. */
export function rowsInside(study: Study, rows: Matrix): Matrix {
  return takeRows(rows, rowsWithin(study, rows));
}

/** The places of the rows that count: those within the study's bounds, or none if they are too few to hide in. */
export function rowsThatCount(study: Study, rows: Matrix): number[] {
  const within = rowsWithin(study, rows);
  return within.length >= (study.leastK ?? study.k) * study.minimum ? within : [];
}

/** The places of the rows within the study's bounds. */
export function rowsWithin({ features }: Study, { data, rows, cols }: Matrix): number[] {
  const d = features.length;
  if (cols !== d) throw new RangeError(`rows must have ${d} columns (the features of the study), got ${cols}`);
  const within: number[] = [];
  for (let r = 0; r < rows; r++) {
    if (features.every(({ min, max }, f) => data[r * d + f] >= min && data[r * d + f] <= max)) within.push(r);
  }
  return within;
}

/** Rows divided by the scales of the study's features. */
export function dividedByScale({ features }: Study, { data, rows, cols }: Matrix): Matrix {
  return { data: data.map((value, i) => value / features[i % cols].scale), rows, cols };
}

/** Centroids in the features' units again. */
export function unscale({ features }: Study, { data, rows, cols }: Matrix): Matrix {
  return { data: data.map((value, i) => value * features[i % cols].scale), rows, cols };
}
