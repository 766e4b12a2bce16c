// The reference engine of (E1): plain loops, explicit differences, rows in order. Other engines are held to its labels.

import type { Matrix } from "../matrix.ts";
import type { Kernel, PreparedPoints, Statistics } from "./kernel.ts";

export const jsKernel: Kernel = { name: "js", prepare };

function prepare({ data, rows, cols }: Matrix, weights?: Float64Array): PreparedPoints {
  return {
    statistics(centroids, into) {
      into.counts.fill(0);
      into.sums.fill(0);
      if (cols === 2 && weights === undefined) into.loss = assignPlanar(data, rows, centroids, into);
      else into.loss = assign(data, rows, cols, weights, centroids, into);
    },
    labels(centroids, into) {
      for (let r = 0; r < rows; r++) into[r] = nearest(data, r * cols, cols, centroids);
    },
    squaredDistances(centre, into) {
      for (let r = 0; r < rows; r++) into[r] = squaredDistance(data, r * cols, centre, 0, cols);
    },
  };
}

/** Adds every point to its cluster's count and sum; returns the loss. */
function assign(
  data: Float64Array,
  rows: number,
  cols: number,
  weights: Float64Array | undefined,
  centroids: Float64Array,
  { counts, sums }: Statistics,
): number {
  let loss = 0;
  for (let r = 0, x = 0; r < rows; r++, x += cols) {
    const label = nearest(data, x, cols, centroids);
    const weight = weights === undefined ? 1 : weights[r];
    const at = label * cols;
    loss += weight * squaredDistance(data, x, centroids, at, cols);
    counts[label] += weight;
    for (let c = 0; c < cols; c++) sums[at + c] += weight * data[x + c];
  }
  return loss;
}

/** The same numbers in the same order, with both coordinates in registers: the paper's data are planar. */
function assignPlanar(data: Float64Array, rows: number, centroids: Float64Array, { counts, sums }: Statistics): number {
  const end = centroids.length;
  let loss = 0;
  for (let r = 0; r < rows; r++) {
    const x = data[2 * r];
    const y = data[2 * r + 1];
    let best = Number.POSITIVE_INFINITY;
    let at = 0;
    for (let c = 0; c < end; c += 2) {
      const dx = x - centroids[c];
      const dy = y - centroids[c + 1];
      const square = dx * dx + dy * dy;
      if (square < best) {
        best = square;
        at = c;
      }
    }
    loss += best;
    counts[at >> 1] += 1;
    sums[at] += x;
    sums[at + 1] += y;
  }
  return loss;
}

/** Index of the centroid nearest to the row at `x`; the lowest on ties. */
function nearest(data: Float64Array, x: number, cols: number, centroids: Float64Array): number {
  let best = Number.POSITIVE_INFINITY;
  let label = 0;
  for (let c = 0, at = 0; at < centroids.length; c++, at += cols) {
    const square = squaredDistance(data, x, centroids, at, cols);
    if (square < best) {
      best = square;
      label = c;
    }
  }
  return label;
}

export function squaredDistance(a: Float64Array, at: number, b: Float64Array, bt: number, cols: number): number {
  let sum = 0;
  for (let c = 0; c < cols; c++) {
    const difference = a[at + c] - b[bt + c];
    sum += difference * difference;
  }
  return sum;
}
