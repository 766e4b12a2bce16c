// Points whose statistics may be published: (E1) with the labels of few rows held back, and the grid that numbers which
// leave a device are on.

import { datasetColumnRanges, type Matrix, squaredDistance } from "../data/matrix.ts";
import { type Kernel, type PreparedPoints, type Statistics, twoNearest } from "../kernel/kernel.ts";
import type { UpdateState } from "../update/updateState.ts";
import { type Classes, leaveOutSmallParts, leftClasses, mergeSmallParts, oneClass, splitClasses } from "./classes.ts";

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

/**
 * `mayLeaveOut`: rows of clusters with too few of them may count nowhere, instead of in another cluster. Longer than 60
 * lines: its functions share the classes.
 */
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
    const hold = mayLeaveOut ? leaveOutSmallParts : mergeSmallParts;
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
      const found = leftClasses(classes, labels, k);
      // The same object where nothing has changed, so that nobody writes it down again.
      classes = !isSplit && found.left?.every((is, id) => is === (before.left?.[id] ?? 0)) ? before : found;
      return isSplit;
    },
    publishCores(centroids) {
      const k = centroids.length / cols;
      prepared.labels(centroids, nearest);
      const cores = guardedCores(points, centroids, nearest, minimum);
      mergeSmallParts(classes, cores, k + 1, minimum);
      split(cores, k + 1);
      return sumsOf(points, cores, k);
    },
    labels: (centroids, into) => prepared.labels(centroids, into),
    squaredDistances: (centroid, into) => prepared.squaredDistances(centroid, into),
    release: () => prepared.release(),
  };
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

/** The nearest numbers of the grid. */
export function roundGuarded(resolution: Float64Array, /* IN OUT */ numbers: Float64Array): void {
  for (let i = 0; i < numbers.length; i++) {
    const step = resolution[i % resolution.length];
    if (step > 0) numbers[i] = Math.round(numbers[i] / step) * step;
  }
}

/**
 * Moves from `before` by whole steps of the grid, and never further than was meant: two devices that round to the
 * nearest number could exchange their places for ever.
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

// The cores of clusters: the few rows of each cluster that a guarded device publishes first, before it knows its
// neighbours.

/** The share of a cluster that is its core, where the minimum is less: a smaller one errs more in many columns. */
const CORE_SHARE = 1 / 8;

/** The share of a cluster, nearest to its mean, that a core is taken from: the others may belong elsewhere later. */
const POOL_SHARE = 3 / 4;

/** Of the square root of a core's size: how many rows are chosen by what the mean still lacks. They outweigh chance. */
const BALANCING = 4;

/** So many rows are looked at for each that is chosen. */
const CANDIDATES = 16;

/**
 * In standard deviations of a row: how well the sum of a cluster may be guessed from its core. An error uniform over this
 * width deviates as much as a row does, so that even if one row alone changes its cluster later, it stays unknown.
 */
const BLUR = Math.sqrt(12);

/**
 * The labels of core rows, and k for all others. A cluster with too few other rows to hide in is a core as a whole; the
 * labels of all rows where that holds for all clusters together.
 */
export function guardedCores(
  points: Matrix,
  centroids: Float64Array,
  labels: Uint32Array,
  minimum: number,
): Uint32Array {
  const { rows, cols } = points;
  const k = centroids.length / cols;
  const clusters = Array.from({ length: k }, (): number[] => []);
  labels.forEach((label, row) => {
    clusters[label].push(row);
  });
  const found = new Uint32Array(rows).fill(k);
  let others = rows;
  clusters.forEach((own, c) => {
    if (own.length < minimum) return;
    const isWhole = own.length < 2 * minimum;
    const core = isWhole ? own : coreOf(points, own, centroids.subarray(c * cols, (c + 1) * cols), minimum);
    for (const row of core) found[row] = c;
    others -= core.length;
  });
  return others > 0 && others < minimum ? labels.slice() : found;
}

/**
 * Rows near the mean of their cluster whose own mean is nearly the same: the nearest ones and then, one after the other,
 * the row that brings the sum nearest to where it should be.
 */
function coreOf({ data, cols }: Matrix, own: readonly number[], mean: Float64Array, minimum: number): number[] {
  const size = Math.max(minimum, Math.ceil(CORE_SHARE * own.length));
  const nearest = own
    .map((row) => ({ row, distance: squaredDistance(data, row * cols, mean, 0, cols) }))
    .sort((a, b) => a.distance - b.distance || a.row - b.row)
    .slice(0, Math.max(size, Math.ceil(POOL_SHARE * own.length)));
  const chosen = Math.min(size, Math.ceil(BALANCING * Math.sqrt(size)));
  const core = nearest.slice(0, size - chosen).map(({ row }) => row);
  const left = nearest.slice(size - chosen);
  const every = Math.max(1, Math.floor(left.length / (CANDIDATES * chosen)));
  const pool = left.filter((_, at) => at % every === 0).map(({ row }) => row);
  const target = blurred({ data, cols }, own, mean);
  const lacking = new Float64Array(cols);
  const take = (row: number) => {
    for (let i = 0; i < cols; i++) lacking[i] += target[i] - data[row * cols + i];
  };
  core.forEach(take);
  const wanted = new Float64Array(cols);
  while (core.length < size) {
    for (let i = 0; i < cols; i++) wanted[i] = lacking[i] + target[i];
    let [best, least] = [0, Number.POSITIVE_INFINITY];
    pool.forEach((row, at) => {
      const distance = squaredDistance(data, row * cols, wanted, 0, cols);
      if (distance < least) [best, least] = [at, distance];
    });
    const [row] = pool.splice(best, 1);
    core.push(row);
    take(row);
  }
  return core;
}

/** The mean, on a grid so coarse that one row can move by a standard deviation and more without moving it. */
function blurred({ data, cols }: Pick<Matrix, "data" | "cols">, own: readonly number[], mean: Float64Array) {
  return mean.map((at, i) => {
    const squares = own.reduce((sum, row) => sum + (data[row * cols + i] - at) ** 2, 0);
    const step = (BLUR * Math.sqrt(squares / own.length)) / own.length;
    return step > 0 ? Math.round(at / step) * step : at;
  });
}
