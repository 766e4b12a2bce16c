// What the only neighbour of a device can compute from two of its messages: the inversion of step (M). Each centroid of
// device 0 balances the mean of its own points, with the share of points f, against the neighbour's pull. The pull is
// known to whoever sent it, so two rounds give two equations for the two unknowns.

import type { Matrix } from "@fedkm/core";

/** What is learned of one cluster, or what is true of it. */
export interface Learned {
  readonly mean: readonly number[];
  /** The share of the device's points. */
  readonly share: number;
}

/** One message of device 0, and the neighbour's centroids that it had answered. */
export interface Heard {
  readonly own: Matrix;
  readonly neighbour: Matrix;
}

/** Undefined where a cluster did not move: there is nothing to compare. */
export function learnedFrom(first: Heard, second: Heard, alpha: number): (Learned | undefined)[] {
  const { rows, cols } = first.own;
  return Array.from({ length: rows }, (_, c) => {
    const before = pullOn(first, c, alpha);
    const after = pullOn(second, c, alpha);
    const moved = Array.from({ length: cols }, (_, x) => second.own.data[c * cols + x] - first.own.data[c * cols + x]);
    const squared = moved.reduce((sum, move) => sum + move * move, 0);
    if (squared === 0) return undefined;
    const share = moved.reduce((sum, move, x) => sum + (before[x] - after[x]) * move, 0) / squared;
    return { mean: moved.map((_, x) => first.own.data[c * cols + x] + before[x] / share), share };
  });
}

/** alpha (g w - G): what the neighbour pulls a centroid away from the mean of its points, over all matches of (E2) and (E3). */
function pullOn({ own, neighbour }: Heard, c: number, alpha: number): number[] {
  const { cols } = own;
  const matched = Array.from({ length: neighbour.rows }, (_, other) => other).filter(
    (other) => nearest(neighbour, other, own) === c,
  );
  matched.push(nearest(own, c, neighbour));
  return Array.from({ length: cols }, (_, x) => {
    const w = own.data[c * cols + x];
    return matched.reduce((sum, other) => sum + alpha * (w - neighbour.data[other * cols + x]), 0);
  });
}

/** The row of `among` that is nearest to a row of `from`. */
function nearest(from: Matrix, row: number, among: Matrix): number {
  const { cols } = from;
  const away = (other: number) => {
    let sum = 0;
    for (let x = 0; x < cols; x++) sum += (from.data[row * cols + x] - among.data[other * cols + x]) ** 2;
    return sum;
  };
  let best = 0;
  for (let other = 1; other < among.rows; other++) if (away(other) < away(best)) best = other;
  return best;
}

/** The truth, which only the device itself knows. */
export function truthOf(points: Matrix, centroids: Matrix): Learned[] {
  const { rows, cols } = points;
  const sums = Array.from({ length: centroids.rows }, () => ({ count: 0, sum: new Float64Array(cols) }));
  for (let r = 0; r < rows; r++) {
    const cluster = sums[nearest(points, r, centroids)];
    cluster.count++;
    for (let x = 0; x < cols; x++) cluster.sum[x] += points.data[r * cols + x];
  }
  return sums.map(({ count, sum }) => ({ mean: Array.from(sum, (value) => value / count), share: count / rows }));
}
