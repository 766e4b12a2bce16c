// Rows near the borders between clusters. The others keep their clusters while no centroid goes farther than a margin.

import { type Matrix, takeRows } from "../data/matrix.ts";
import type { PreparedPoints } from "../kernel/kernel.ts";

/** The rows whose nearest centroid can become another one if none goes farther than `margin`. */
export function rowsNearBorders(points: Matrix, prepared: PreparedPoints, centroids: Matrix, margin: number): Matrix {
  const { rows } = points;
  const { cols } = centroids;
  const first = new Float64Array(rows).fill(Number.POSITIVE_INFINITY);
  const second = first.slice();
  const squares = new Float64Array(rows);
  for (let c = 0; c < centroids.rows; c++) {
    prepared.squaredDistances(centroids.data.subarray(c * cols, (c + 1) * cols), squares);
    for (let r = 0; r < rows; r++) {
      const square = squares[r];
      if (square >= second[r]) continue;
      second[r] = Math.max(square, first[r]);
      if (square < first[r]) first[r] = square;
    }
  }
  const near: number[] = [];
  for (let r = 0; r < rows; r++) if (Math.sqrt(second[r]) <= Math.sqrt(first[r]) + 2 * margin) near.push(r);
  return takeRows(points, near);
}

/** How far the centroid goes that goes farthest. */
export function longestWay(from: Matrix, to: Matrix): number {
  let longest = 0;
  for (let c = 0, at = 0; c < from.rows; c++) {
    let square = 0;
    for (let j = 0; j < from.cols; j++, at++) square += (to.data[at] - from.data[at]) ** 2;
    longest = Math.max(longest, Math.sqrt(square));
  }
  return longest;
}
