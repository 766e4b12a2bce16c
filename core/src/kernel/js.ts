// The reference engine of (E1): plain loops, explicit differences. Other engines are held to its bits.

import { exactSumGrids, largestMagnitudes } from "../data/exactSums.ts";
import { type Numbers, type Points, squaredDistance } from "../data/matrix.ts";
import { gatherStatistics, type Kernel, type PreparedPoints } from "./kernel.ts";

/** Distances in plain JavaScript: the reference, with the same bits as WebAssembly. */
export const jsKernel: Kernel = { name: "js", prepare };

/** Rows whose losses are added up before the next block begins; four lanes share the rows of a block. */
export const LOSS_BLOCK = 1024;

export interface GriddedPoints {
  readonly points: Points;
  readonly weights: Float64Array | undefined;
  readonly grids: Float64Array;
}

function prepare(points: Points, weights?: Float64Array): PreparedPoints {
  const { data, rows, cols } = points;
  const gridded: GriddedPoints = { points, weights, grids: exactSumGrids(largestMagnitudes(points, weights), rows) };
  return {
    statistics(centroids, into, withLoss = true) {
      // Sized by the centroids: no points need not know their columns.
      const parts = new Float64Array(2 * (into.counts.length + into.sums.length));
      const loss = addStatisticsParts(gridded, centroids, parts);
      gatherStatistics(parts, 0, into);
      into.loss = withLoss ? loss : Number.NaN;
    },
    labels(centroids, into) {
      for (let r = 0; r < rows; r++) into[r] = nearest(data, r * cols, cols, centroids);
    },
    squaredDistances(centroid, into) {
      for (let r = 0; r < rows; r++) into[r] = squaredDistance(data, r * cols, centroid, 0, cols);
    },
    release() {},
  };
}

/** Adds every row to the parts of its cluster (see data/exactSums.ts) and returns the loss. */
export function addStatisticsParts(
  gridded: GriddedPoints,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number {
  return (gridded.points.cols === 2 ? statistics2 : statistics)(gridded, centroids, parts);
}

function statistics(
  { points, weights, grids }: GriddedPoints,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number {
  const { data, rows, cols } = points;
  const width = cols + 1;
  const lanes = new Float64Array(4);
  let loss = 0;
  for (let r = 0, x = 0; r < rows; r++, x += cols) {
    const label = nearest(data, x, cols, centroids);
    const weight = weights === undefined ? 1 : weights[r];
    const at = label * 2 * width;
    for (let c = 0; c <= cols; c++) {
      const value = c === cols ? weight : weight * data[x + c];
      const high = value + grids[c] - grids[c];
      parts[at + c] += high;
      parts[at + width + c] += value - high + grids[width + c] - grids[width + c];
    }
    lanes[r & 3] += weight * squaredDistance(data, x, centroids, label * cols, cols);
    if (r % LOSS_BLOCK === LOSS_BLOCK - 1 || r === rows - 1) loss += drain(lanes);
  }
  return loss;
}

/** The same bits with the two coordinates in registers: the paper's data are planar. */
function statistics2(
  { points, weights, grids }: GriddedPoints,
  centroids: Float64Array,
  /* IN OUT */ parts: Float64Array,
): number {
  const { data, rows } = points;
  const [coarseX, coarseY, coarseWeight, fineX, fineY, fineWeight] = grids;
  const lanes = new Float64Array(4);
  let loss = 0;
  for (let r = 0; r < rows; r++) {
    const weight = weights === undefined ? 1 : weights[r];
    let x = data[2 * r];
    let y = data[2 * r + 1];
    let best = Number.POSITIVE_INFINITY;
    let at = 0;
    for (let c = 0; c < centroids.length; c += 2) {
      const dx = x - centroids[c];
      const dy = y - centroids[c + 1];
      const square = dx * dx + dy * dy;
      if (square < best) {
        best = square;
        at = 3 * c;
      }
    }
    x *= weight;
    y *= weight;
    const highX = x + coarseX - coarseX;
    const highY = y + coarseY - coarseY;
    const highWeight = weight + coarseWeight - coarseWeight;
    parts[at] += highX;
    parts[at + 1] += highY;
    parts[at + 2] += highWeight;
    parts[at + 3] += x - highX + fineX - fineX;
    parts[at + 4] += y - highY + fineY - fineY;
    parts[at + 5] += weight - highWeight + fineWeight - fineWeight;
    lanes[r & 3] += weight * best;
    if (r % LOSS_BLOCK === LOSS_BLOCK - 1 || r === rows - 1) loss += drain(lanes);
  }
  return loss;
}

/** The sum of the four lanes, which start again from zero. */
function drain(/* IN OUT */ lanes: Float64Array): number {
  const sum = lanes[0] + lanes[1] + (lanes[2] + lanes[3]);
  lanes.fill(0);
  return sum;
}

/** Index of the centroid nearest to the row at `x`; the lowest on ties. */
function nearest(data: Numbers, x: number, cols: number, centroids: Float64Array): number {
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
