// The rows of two devices in the cells of common clusters: whether they differ by more than chance, and whether a cell is
// several clusters of one device.

import { ln } from "../data/elementary.ts";
import { type Matrix, takeRows } from "../data/matrix.ts";
import { squaredDistance } from "../kernel/js.ts";
import { nearestCentroids } from "../kernel/model.ts";
import type { KMeansModel } from "../start/kmeans.ts";
import { lnFisher, lnTailOfF } from "./tails.ts";

/** What a device says of its rows that are clearly in one cell. */
export interface Cell {
  readonly count: number;
  readonly mean: Float64Array;
  /** Sum of squared distances to the mean. */
  readonly scatter: number;
  /** In so many directions the rows vary: (sum of eigenvalues)^2 / (sum of their squares) of their covariance. */
  readonly directions: number;
}

/**
 * A row counts where its nearest centroid is at most half as far as the next one. Nearer to the border a cell has rows of
 * clusters beside it, and of these devices have different shares under label skew.
 */
const CLEAR = 0.5;

/** Where the devices' shares of rows in a cell, or their spreads, differ by more than this factor, one lacks the cluster. */
const COMPARABLE = 4;

/** One link in a million goes by chance where all have the same clusters. */
const DIFFERENT = 1e-6;

/** So unlikely must a gap be between two parts of one evenly spread cluster. */
const APART = 1e-3;

/** Rows of a cell that tell in how many directions it varies; more would cost more than they tell. */
const SHAPED_BY = 100;

/** For each cell what a device says of it; nothing of fewer than `minimum` rows. */
export function cellsOf(points: Matrix, common: Matrix, minimum: number): (Cell | undefined)[] {
  const rows = Array.from({ length: common.rows }, (): number[] => []);
  for (let r = 0; r < points.rows; r++) {
    const cell = clearCell(points, r, common);
    if (cell !== undefined) rows[cell].push(r);
  }
  return rows.map((own) => (own.length < minimum || own.length === 0 ? undefined : cellOf(takeRows(points, own))));
}

function clearCell({ data, cols }: Matrix, row: number, common: Matrix): number | undefined {
  let [first, second, cell] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let c = 0; c < common.rows; c++) {
    const distance = squaredDistance(data, row * cols, common.data, c * cols, cols);
    if (distance < first) [first, second, cell] = [distance, first, c];
    else if (distance < second) second = distance;
  }
  return first <= CLEAR * CLEAR * second ? cell : undefined;
}

function cellOf({ data, rows, cols }: Matrix): Cell {
  const mean = new Float64Array(cols);
  for (let x = 0; x < data.length; x++) mean[x % cols] += data[x];
  for (let x = 0; x < cols; x++) mean[x] /= rows;
  let scatter = 0;
  for (let r = 0; r < rows; r++) scatter += squaredDistance(data, r * cols, mean, 0, cols);
  const centred = data.map((value, x) => value - mean[x % cols]);
  const shaping = Array.from({ length: Math.min(rows, SHAPED_BY) }, (_, n) =>
    Math.floor((n * rows) / Math.min(rows, SHAPED_BY)),
  );
  let [trace, squares] = [0, 0];
  // The eigenvalues of the rows' products are those of their covariance.
  for (const a of shaping) {
    for (const b of shaping) {
      let product = 0;
      for (let x = 0; x < cols; x++) product += centred[a * cols + x] * centred[b * cols + x];
      if (a === b) trace += product;
      squares += product * product;
    }
  }
  return { count: rows, mean, scatter, directions: squares > 0 ? (trace * trace) / squares : 1 };
}

/** The cells of a cluster that both devices hold. In the others one has nothing, or the edge of another cluster. */
export function sharedCells(
  lower: readonly (Cell | undefined)[],
  upper: readonly (Cell | undefined)[],
  [rowsOfLower, rowsOfUpper]: readonly [number, number],
): boolean[] {
  return lower.map((a, c) => {
    const b = upper[c];
    if (a === undefined || b === undefined || a.count + b.count < 3) return false;
    if (!areAlike(a.count / rowsOfLower, b.count / rowsOfUpper)) return false;
    // One row has no spread.
    return a.count === 1 || b.count === 1 || areAlike(a.scatter / (a.count - 1), b.scatter / (b.count - 1));
  });
}

function areAlike(x: number, y: number): boolean {
  return x <= COMPARABLE * y && y <= COMPARABLE * x;
}

/** Whether the means of two devices differ, all cells that they share together. */
export function differ(
  lower: readonly (Cell | undefined)[],
  upper: readonly (Cell | undefined)[],
  isShared: readonly boolean[],
): boolean {
  const tails = isShared.flatMap((shared, c) =>
    shared ? [lnTailOfDifference(lower[c] as Cell, upper[c] as Cell)] : [],
  );
  return tails.length > 0 && lnFisher(tails) < ln(DIFFERENT);
}

/**
 * Dempster's test of two means: their squared distance against the rows' spread is about F with as many degrees of
 * freedom as the rows vary in directions. It needs no inverse, so there may be more columns than rows.
 */
function lnTailOfDifference(a: Cell, b: Cell): number {
  const count = a.count + b.count;
  const size = Math.max(squaredLength(a.mean), squaredLength(b.mean));
  // Equal rows leave only rounding.
  const spread = Math.max((a.scatter + b.scatter) / (count - 2), (16 * Number.EPSILON) ** 2 * size);
  const square = ((a.count * b.count) / count) * squaredDistance(a.mean, 0, b.mean, 0, a.mean.length);
  const directions = Math.max(1, (a.count * a.directions + b.count * b.directions) / count);
  return square === 0 ? 0 : lnTailOfF(square / spread, directions, directions * (count - 2));
}

function squaredLength(vector: Float64Array): number {
  return vector.reduce((sum, x) => sum + x * x, 0);
}

/**
 * Whether a cell joins clusters of a device that are apart, each of at least so many rows. `clearRows`: the device's rows
 * in each cell that the devices do not share, else 0. In a shared cell the other joins the same clusters: k is small for
 * both, and no reason to part.
 */
export function isSplit(
  points: Matrix,
  { centroids, labels }: KMeansModel,
  common: Matrix,
  clearRows: readonly number[],
  least: number,
): boolean {
  const cells = nearestCentroids(common, centroids);
  const members = Array.from({ length: centroids.rows }, (): number[] => []);
  labels.forEach((label, r) => {
    members[label].push(r);
  });
  for (let u = 0; u < centroids.rows; u++) {
    for (let v = 0; v < u; v++) {
      const [few, many] = [members[u].length, members[v].length].sort((a, b) => a - b);
      // Where most rows are near a border there are no clusters to give up.
      if (cells[u] !== cells[v] || few < least || 2 * clearRows[cells[u]] < few + many) continue;
      if (!areSideBySide(centroids, u, v)) continue;
      const parts = [u, v].map((c) => cellOf(takeRows(points, members[c])));
      if (lnTailOfGap(points, [members[u], members[v]], [parts[0], parts[1]]) < ln(APART)) return true;
    }
  }
  return false;
}

/** Whether no other centroid is nearer to the middle between two: their rows have a border in common. */
function areSideBySide({ data, rows, cols }: Matrix, u: number, v: number): boolean {
  const middle = Float64Array.from({ length: cols }, (_, x) => (data[u * cols + x] + data[v * cols + x]) / 2);
  const reach = squaredDistance(middle, 0, data, u * cols, cols);
  for (let c = 0; c < rows; c++) {
    if (c !== u && c !== v && squaredDistance(middle, 0, data, c * cols, cols) < reach) return false;
  }
  return true;
}

/**
 * Two halves of an evenly spread line are D apart and each varies by D^2 / 12 along it; those of a normal cluster vary by
 * more, and two clusters by less. An even spread has short tails, so that its variance is known 2.5 times as well as a
 * normal one's. That k-means chose the line among all columns, and the cut on it, takes some of that away.
 */
function lnTailOfGap(
  { data, cols }: Matrix,
  members: readonly (readonly number[])[],
  [u, v]: readonly [Cell, Cell],
): number {
  const count = u.count + v.count;
  const freedom = 2.5 * (count - 4 - cols);
  if (freedom <= 0 || u.count < 2 || v.count < 2) return 0;
  let along = 0;
  [u, v].forEach(({ mean }, part) => {
    for (const r of members[part]) {
      let step = 0;
      for (let x = 0; x < cols; x++) step += (data[r * cols + x] - mean[x]) * (u.mean[x] - v.mean[x]);
      along += step * step;
    }
  });
  const square = squaredDistance(u.mean, 0, v.mean, 0, cols);
  // Means lie apart by chance too, the more columns there are.
  const chance = [u, v].reduce((sum, { scatter, count: n }) => sum + scatter / (n * (n - 1)), 0);
  return lnTailOfF((((square - chance) / 12) * (square * (count - 2))) / along, freedom, freedom);
}
