// Points whose statistics may be published: (E1) with the labels of few rows held back, and the grid that numbers which
// leave a device are on.

import { ln } from "../data/elementary.ts";
import { datasetColumnRanges, type Matrix, squaredDistance } from "../data/matrix.ts";
import { emptyStatistics, type Kernel, type PreparedPoints, type Statistics, twoNearest } from "../kernel/kernel.ts";
import { deviationOf } from "../update/robustPull.ts";
import type { UpdateState } from "../update/updateState.ts";
import { type Classes, leaveOutSmallParts, leftClasses, mergeSmallParts, oneClass, splitClasses } from "./classes.ts";
import { coresInClasses, guardedCores } from "./cores.ts";

/**
 * Answers (E1) as other points do, but that no cluster tells apart fewer than `minimum` own rows of a class. The loss is
 * that of the same labels, and only the choice between starts rests on it: caps on drifts, which a neighbour can measure,
 * rest on `deviation`. What is asked is tentative: only `publish` changes the classes, so whoever sends a result must
 * publish the labels that it rests on.
 */
export interface GuardedPoints extends PreparedPoints {
  readonly classes: Classes;
  /** Rows whose published label is not that of their nearest centroid, in the last publication. */
  readonly heldBack: number;
  /** Of the rows around their own k-means, in coarse steps; 0 before `publishCores`. Neighbours cannot change it. */
  readonly deviation: number;
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
export interface GuardState {
  /** The rows that count. */
  readonly datasets: readonly Matrix[];
  readonly points: readonly GuardedPoints[];
  /** The same rows, of which nothing is held back: for what is not sent. */
  readonly exact: readonly PreparedPoints[];
  readonly minimum: number;
  /** Of each column: what coordinates are rounded to. */
  readonly resolution: Float64Array;
}

/** A device with fewer than `minimum` rows for each cluster has too few to hide in: it follows its neighbours without any. */
export function guardDevices(
  datasets: readonly Matrix[],
  clustersOf: (device: number) => number,
  minimum: number,
  kernel: Kernel,
): GuardState {
  const counted = datasets.map((own, i) => {
    return own.rows >= clustersOf(i) * minimum ? own : { data: new Float64Array(0), rows: 0, cols: own.cols };
  });
  const exact = counted.map((own) => kernel.prepare(own));
  const points = counted.map((own, i) => guardPoints(own, exact[i], minimum));
  const resolution = datasetColumnRanges(datasets).map((range) => range * RESOLUTION_SHARE);
  return { datasets: counted, points, exact, minimum, resolution };
}

/** What was published of points before. */
interface PublishedBefore {
  readonly classes?: Classes;
  /** Where labels were last published. */
  readonly at?: Float64Array | undefined;
  readonly deviation?: number;
  /** Rows of clusters with too few of them may count nowhere, instead of in another cluster. */
  readonly mayLeaveOut?: boolean;
}

/**
 * Longer than 60 lines: its functions share the classes.
 * @example
 * const rows = matrix([[0], [1], [9]]);
 * guardPoints(rows, fastKernel.prepare(rows), 2).classes.sizes // [3]
 */
export function guardPoints(
  points: Matrix,
  prepared: PreparedPoints,
  minimum: number,
  before: PublishedBefore = {},
): GuardedPoints {
  const { rows, cols } = points;
  const { mayLeaveOut = false, classes: published = oneClass(rows) } = before;
  const nearest = new Uint32Array(rows);
  const labels = new Uint32Array(rows);
  let classes = published;
  let means = meansOf(points, classes);
  let deviation = before.deviation ?? 0;
  // A class that is not divided follows its mean, which its sums show anyway. If most of its rows decided, a neighbour
  // that moves a border to and fro would see which border a single row is on, and from several borders the row.
  const assign = (centroids: Float64Array): number => {
    prepared.labels(centroids, nearest);
    labels.set(nearest);
    const hold = mayLeaveOut ? leaveOutSmallParts : mergeSmallParts;
    return hold(classes, labels, centroids.length / cols, minimum, nearestOf(means, centroids, cols));
  };
  const split = (into: Uint32Array, k: number): boolean => {
    const before = classes;
    classes = splitClasses(before, into, k);
    if (classes !== before) means = meansOf(points, classes);
    return classes !== before;
  };
  let heldBack = before.at === undefined || rows === 0 ? 0 : assign(before.at);
  return {
    get classes() {
      return classes;
    },
    get deviation() {
      return deviation;
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
      const found = leftClasses(classes, labels, k);
      // The same object where nothing has changed, so that nobody writes it down again.
      classes = !isSplit && found.left?.every((is, id) => is === (before.left?.[id] ?? 0)) ? before : found;
      return isSplit;
    },
    publishCores(centroids) {
      const k = centroids.length / cols;
      prepared.labels(centroids, nearest);
      const cores = guardedCores(points, centroids, nearest, minimum);
      coresInClasses({ classes, means, nearest }, centroids, cores, minimum);
      split(cores, k + 1);
      const exact = emptyStatistics(k, cols);
      prepared.statistics(centroids, exact);
      deviation = coarse(deviationOf(exact, centroids, cols));
      return sumsOf(points, cores, k);
    },
    labels: (centroids, into) => prepared.labels(centroids, into),
    squaredDistances: (centroid, into) => prepared.squaredDistances(centroid, into),
    release: () => prepared.release(),
  };
}

/** To the nearest power of the square root of 2: a number of all rows that tells as good as nothing of any group of them. */
function coarse(deviation: number): number {
  if (!(deviation > 0)) return 0;
  const halves = Math.round((2 * ln(deviation)) / ln(2));
  return 2 ** Math.floor(halves / 2) * (halves % 2 === 0 ? 1 : Math.SQRT2);
}

function meansOf(points: Matrix, { ids, sizes }: Classes): Float64Array {
  const { sums } = sumsOf(points, ids, sizes.length);
  return sums.map((sum, i) => sum / sizes[Math.floor(i / points.cols)]);
}

/** The nearest centroid of each mean, the lowest among equals. */
function nearestOf(means: Float64Array, data: Float64Array, cols: number): Uint32Array {
  const centroids = { data, rows: data.length / cols, cols };
  return Uint32Array.from({ length: means.length / cols }, (_, id) => twoNearest(means, id * cols, centroids).label);
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

/**
 * The nearest numbers of the grid.
 * @example
 * const numbers = Float64Array.of(0.3, 0.7);
 * roundGuarded(Float64Array.of(0.5), numbers);
 * numbers // [0.5, 0.5]
 */
export function roundGuarded(resolution: Float64Array, /* IN OUT */ numbers: Float64Array): void {
  for (let i = 0; i < numbers.length; i++) {
    const step = resolution[i % resolution.length];
    if (step > 0) numbers[i] = Math.round(numbers[i] / step) * step;
  }
}

/**
 * Moves from `before` by whole steps of the grid, and never further than was meant: two devices that round to the
 * nearest number could exchange their places for ever.
 * @example
 * const after = Float64Array.of(0.9, 0.2);
 * roundGuardedMoves(Float64Array.of(0, 0), Float64Array.of(0.5), after);
 * after // [0.5, 0]
 */
export function roundGuardedMoves(
  before: Float64Array,
  resolution: Float64Array,
  /* IN OUT */ after: Float64Array,
): void {
  for (let i = 0; i < after.length; i++) {
    const step = resolution[i % resolution.length];
    if (step > 0) after[i] = before[i] + Math.trunc((after[i] - before[i]) / step) * step;
  }
}

/** After an update whose result is sent: publishes the labels it rests on, rounds it, and asks (E1) again at it. */
export function publishGuardedUpdate(
  /* IN OUT */ update: UpdateState,
  points: GuardedPoints,
  resolution: Float64Array,
): void {
  points.publish(update.basis);
  roundGuardedMoves(update.input, resolution, update.centroids);
  points.statistics(update.centroids, update.statistics);
}
