// Points whose statistics may be published: (E1) with the labels of few rows held back, and the grid that numbers which
// leave a device are on.

import type { Matrix } from "../data/matrix.ts";
import { squaredDistance } from "../kernel/js.ts";
import type { PreparedPoints, Statistics } from "../kernel/kernel.ts";
import type { UpdateState } from "../update/updateState.ts";
import { type Classes, holdBack, holdOrLeave, leftOut, oneClass, splitClasses } from "./classes.ts";
import { coresOf } from "./cores.ts";

/**
 * Answers (E1) as other points do, but that no cluster tells apart fewer than `minimum` rows of a class. The loss is that
 * of the same labels: it is never sent, but the cap on a drift shows how far rows are from their means. What is asked is
 * tentative: only `publish` changes the classes, so whoever sends a result must publish the labels that it rests on.
 */
export interface GuardedPoints extends PreparedPoints {
  readonly classes: Classes;
  /** Rows whose published label is not that of their nearest centroid, in the last publication. */
  readonly heldBack: number;
  /** The labels at these centroids count as published. Returns whether that split a class. */
  publish(centroids: Float64Array): boolean;
  /**
   * Publishes counts and sums of a few rows of each cluster, its core: what a device says first, alone, before it knows
   * its neighbours. Whose label was published keeps it unless `minimum` rows change theirs together. These rows hardly
   * ever will; all others stay free. The better the cores' means are, the fewer of those change after their first label.
   */
  publishCores(centroids: Float64Array): Pick<Statistics, "counts" | "sums">;
}

/** What was published of the rows of several devices, and how. */
export interface Guard {
  readonly points: readonly GuardedPoints[];
  readonly minimum: number;
  /** Of each column: what coordinates are rounded to. */
  readonly resolution: Float64Array;
}

/** `mayLeaveOut`: rows of clusters with too few of them may count nowhere, instead of in another cluster. */
export function guardPoints(
  points: Matrix,
  prepared: PreparedPoints,
  minimum: number,
  published: Classes = oneClass(points.rows),
  mayLeaveOut = false,
): GuardedPoints {
  const { rows, cols } = points;
  const nearest = new Uint32Array(rows);
  const labels = new Uint32Array(rows);
  let classes = published;
  let means = meansOf(points, classes);
  let heldBack = 0;
  // A class that is not divided follows its mean, which its sums show anyway. If most of its rows decided, a neighbour
  // that moves a border to and fro would see which border a single row is on, and from several borders the row.
  const assign = (centroids: Float64Array): number => {
    prepared.labels(centroids, nearest);
    labels.set(nearest);
    const hold = mayLeaveOut ? holdOrLeave : holdBack;
    return hold(classes, labels, centroids.length / cols, minimum, nearestOf(means, centroids, cols));
  };
  const split = (into: Uint32Array, k: number): boolean => {
    const before = classes;
    classes = splitClasses(before, into, k);
    if (classes !== before) means = meansOf(points, classes);
    return classes !== before;
  };
  return {
    get classes() {
      return classes;
    },
    get heldBack() {
      return heldBack;
    },
    statistics(centroids, into, withLoss = true) {
      prepared.statistics(centroids, into, withLoss);
      if (assign(centroids) > 0) moveHeld(points, centroids, { nearest, labels }, into);
    },
    publish(centroids) {
      heldBack = assign(centroids);
      const k = centroids.length / cols;
      if (!mayLeaveOut) return split(labels, k);
      const before = classes;
      const isSplit = split(labels, k + 1);
      const found = leftOut(classes, labels, k);
      // The same object where nothing has changed, so that nobody writes it down again.
      classes = !isSplit && found.left?.every((is, id) => is === (before.left?.[id] ?? 0)) ? before : found;
      return isSplit;
    },
    publishCores(centroids) {
      const k = centroids.length / cols;
      prepared.labels(centroids, nearest);
      const cores = coresOf(points, centroids, nearest, minimum);
      holdBack(classes, cores, k + 1, minimum);
      split(cores, k + 1);
      return sumsOf(points, cores, k);
    },
    labels: (centroids, into) => prepared.labels(centroids, into),
    squaredDistances: (centre, into) => prepared.squaredDistances(centre, into),
    release: () => prepared.release(),
  };
}

function meansOf(points: Matrix, { ids, sizes }: Classes): Float64Array {
  const { sums } = sumsOf(points, ids, sizes.length);
  return sums.map((sum, i) => sum / sizes[Math.floor(i / points.cols)]);
}

/** The nearest centroid of each mean, the lowest among equals. */
function nearestOf(means: Float64Array, centroids: Float64Array, cols: number): Uint32Array {
  return Uint32Array.from({ length: means.length / cols }, (_, id) => {
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    for (let c = 0; c < centroids.length / cols; c++) {
      const square = squaredDistance(means, id * cols, centroids, c * cols, cols);
      if (square < least) [best, least] = [c, square];
    }
    return best;
  });
}

/** Of the rows with labels below k. */
function sumsOf({ data, cols }: Matrix, labels: Uint32Array, k: number): Pick<Statistics, "counts" | "sums"> {
  const [counts, sums] = [new Float64Array(k), new Float64Array(k * cols)];
  labels.forEach((label, row) => {
    if (label === k) return;
    counts[label]++;
    for (let c = 0; c < cols; c++) sums[label * cols + c] += data[row * cols + c];
  });
  return { counts, sums };
}

/** Rows whose label is held back count where it says, not with their nearest centroid. */
function moveHeld(
  { data, rows, cols }: Matrix,
  centroids: Float64Array,
  { nearest, labels }: { readonly nearest: Uint32Array; readonly labels: Uint32Array },
  /* IN OUT */ statistics: Statistics,
): void {
  const { counts, sums } = statistics;
  for (let r = 0; r < rows; r++) {
    const [from, to] = [nearest[r], labels[r]];
    if (from === to) continue;
    counts[from]--;
    for (let c = 0; c < cols; c++) sums[from * cols + c] -= data[r * cols + c];
    statistics.loss -= squaredDistance(data, r * cols, centroids, from * cols, cols);
    // Left out.
    if (to === counts.length) continue;
    counts[to]++;
    for (let c = 0; c < cols; c++) sums[to * cols + c] += data[r * cols + c];
    statistics.loss += squaredDistance(data, r * cols, centroids, to * cols, cols);
  }
  // What subtracting leaves of a cluster without rows are the last bits of these rows.
  for (let c = 0; c < counts.length; c++) if (counts[c] === 0) sums.fill(0, c * cols, (c + 1) * cols);
}

/** What leaves a device is on a grid of this share of a column's range. */
export const RESOLUTION_SHARE = 2 ** -20;

/** The nearest numbers of the grid. */
export function roundTo(resolution: Float64Array, /* IN OUT */ numbers: Float64Array): void {
  for (let i = 0; i < numbers.length; i++) {
    const step = resolution[i % resolution.length];
    if (step > 0) numbers[i] = Math.round(numbers[i] / step) * step;
  }
}

/**
 * Moves from `before` by whole steps of the grid, and never further than was meant: two devices that round to the
 * nearest number could exchange their places for ever.
 */
export function roundMoves(before: Float64Array, resolution: Float64Array, /* IN OUT */ after: Float64Array): void {
  for (let i = 0; i < after.length; i++) {
    const step = resolution[i % resolution.length];
    if (step > 0) after[i] = before[i] + Math.trunc((after[i] - before[i]) / step) * step;
  }
}

/** After an update whose result is sent: publishes the labels it rests on, rounds it, and asks (E1) again at it. */
export function publishUpdate(/* IN OUT */ update: UpdateState, points: GuardedPoints, resolution: Float64Array): void {
  points.publish(update.basis);
  roundMoves(update.input, resolution, update.centroids);
  points.statistics(update.centroids, update.statistics);
}
