// The judge knows the truth: whether what an attacker computed is so, and to how many digits.

import { type Matrix, predict } from "@fedkm/core";
import { type ClusterSnapshot, type PublicRules, readingsOf, sumsOf } from "./inversion.ts";
import type { ObservedMessage } from "./observation.ts";
import type { PublishedGroup } from "./rowSpace.ts";
import type { RowClaim } from "./rowTracking.ts";

/** Rows in the scaled units of the study, and the ranges of the features in them. */
export interface Truth {
  readonly points: Matrix;
  readonly ranges: Float64Array;
  /** Where rows are guarded: the class of each. Rows of one class have one label. */
  readonly classes?: ArrayLike<number> | undefined;
}

/** Shares of a feature's range. A claim is right below the first, or within its own error if that is below the second. */
const RIGHT = 1e-6;
const MOST_ERROR = 1e-3;

/** The distance of a claim from the nearest true row; undefined: it is no row, or too rough to be one. */
export function rowError(
  { values, error }: Pick<RowClaim, "values" | "error">,
  { points, ranges }: Truth,
): number | undefined {
  const { data, rows, cols } = points;
  let least = Number.POSITIVE_INFINITY;
  for (let r = 0; r < rows; r++) {
    let most = 0;
    for (let d = 0; d < cols; d++) most = Math.max(most, Math.abs(data[r * cols + d] - values[d]) / ranges[d]);
    least = Math.min(least, most);
  }
  return least <= allowedError(error, ranges) ? least : undefined;
}

/** The largest error of a cluster's mean in a snapshot; undefined: some share or mean is wrong. */
export function groupsError(snapshot: ClusterSnapshot, message: ObservedMessage, truth: Truth): number | undefined {
  const { points, ranges, classes } = truth;
  const allowed = allowedError(snapshot.error / Math.min(...snapshot.counts), ranges);
  for (const labels of labelsOf(message, points, classes)) {
    const { counts, sums } = countedSums(labels, points, snapshot.counts.length);
    const isShared = counts.every((count, c) => count * snapshot.rows === snapshot.counts[c] * points.rows);
    const errors = sums.flatMap((sum, c) =>
      Array.from(sum, (x, d) => Math.abs(snapshot.sums[c][d] / snapshot.counts[c] - x / counts[c]) / ranges[d]),
    );
    if (isShared && Math.max(...errors) <= allowed) return Math.max(...errors);
  }
  return undefined;
}

/** Of a claim whose coordinates can be off by `error`. Rows are dense: where much is allowed, chance finds one. */
function allowedError(error: number, ranges: Float64Array): number {
  const allowed = Math.max(RIGHT, (2 * error) / Math.min(...ranges));
  return allowed <= MOST_ERROR ? allowed : -1;
}

/** The largest error of centroids as means of the rows nearest to them; undefined: they are not. */
export function meansError(centroids: Matrix, { points, ranges }: Truth): number | undefined {
  const { counts, sums } = countedSums(predict(centroids, points), points, centroids.rows);
  const { cols } = centroids;
  const errors = sums.flatMap((sum, c) =>
    Array.from(sum, (x, d) => Math.abs(x / counts[c] - centroids.data[c * cols + d]) / ranges[d]),
  );
  const most = Math.max(...errors);
  return most <= MOST_ERROR ? most : undefined;
}

/** Labels that a message can rest on: at the centroids before it, or at its own. */
function labelsOf({ before, centroids }: ObservedMessage, points: Matrix, classes?: ArrayLike<number>): Uint32Array[] {
  const nearest = [before, centroids].flatMap((at) => (at === undefined ? [] : [predict(at, points)]));
  if (classes === undefined) return nearest;
  return classes.length === points.rows ? nearest.map((labels) => withinClasses(labels, classes, centroids.rows)) : [];
}

function countedSums(labels: Uint32Array, { data, cols }: Matrix, k: number) {
  const counts = new Array<number>(k).fill(0);
  const sums = Array.from({ length: k }, () => new Float64Array(cols));
  labels.forEach((label, r) => {
    counts[label]++;
    for (let d = 0; d < cols; d++) sums[label][d] += data[r * cols + d];
  });
  return { counts, sums };
}

/**
 * The groups that a message published: labels from which (M) gives its centroids. undefined: no labels that come to mind
 * explain the message.
 */
export function publishedGroups(
  message: ObservedMessage,
  { points, classes }: Pick<Truth, "points" | "classes">,
  rules: PublicRules,
): PublishedGroup[] | undefined {
  const k = message.centroids.rows;
  const readings = readingsOf(message, rules);
  for (const labels of labelsOf(message, points, classes)) {
    const { counts, sums } = countedSums(labels, points, k);
    const unit = rules.typicalRows ?? points.rows;
    const isExplained = readings.some((equations) => {
      const found = sumsOf(equations, counts, unit, rules.grain);
      return found.sums.every((sum, c) => sum.every((x, d) => Math.abs(x - sums[c][d]) <= 4 * found.error));
    });
    if (!isExplained) continue;
    const groups: number[][] = Array.from({ length: k }, () => []);
    labels.forEach((label, r) => {
      groups[label].push(r);
    });
    return groups.filter(({ length }) => length > 0);
  }
  return undefined;
}

/** Every row gets the label that most rows of its class have. */
function withinClasses(labels: Uint32Array, classes: ArrayLike<number>, k: number): Uint32Array {
  const votes = new Map<number, Uint32Array>();
  labels.forEach((label, r) => {
    const known = votes.get(classes[r]) ?? new Uint32Array(k);
    known[label]++;
    votes.set(classes[r], known);
  });
  return labels.map((_, r) => {
    const counts = votes.get(classes[r]) as Uint32Array;
    return counts.indexOf(Math.max(...counts));
  });
}
