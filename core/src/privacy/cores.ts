// The cores of clusters: the few rows of each cluster that a guarded device publishes first, before it knows its
// neighbours.

import { type Matrix, squaredDistance } from "../data/matrix.ts";
import { type Classes, mergeSmallParts } from "./classes.ts";

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

/** A class belongs to a cluster if this share of its rows is nearest to the centroid. */
const MOSTLY = 0.9;

/** What was published of rows, and where each would be. */
interface PublishedRows {
  readonly classes: Classes;
  /** Of the classes. */
  readonly means: Float64Array;
  readonly nearest: Uint32Array;
}

/**
 * Makes cores such that they may be published. Of a class so small that an eighth of it is less than the minimum no core can
 * be taken. Where such classes belong to a cluster, those nearest to its centroid are its core as a whole, at no price,
 * since they are told apart already. Other cores are parts of classes.
 */
export function coresInClasses(
  { classes, means, nearest }: PublishedRows,
  centroids: Float64Array,
  /* IN OUT */ cores: Uint32Array,
  minimum: number,
): void {
  const { ids, sizes } = classes;
  const cols = sizes.length === 0 ? 1 : means.length / sizes.length;
  const k = centroids.length / cols;
  const votes = new Uint32Array(sizes.length * k);
  const rows = new Uint32Array(k);
  nearest.forEach((label, r) => {
    votes[ids[r] * k + label]++;
    rows[label]++;
  });
  const coreOfClass = new Uint32Array(sizes.length).fill(k);
  const isTaken = new Uint8Array(k);
  for (let c = 0; c < k; c++) {
    const inside = Array.from(sizes.keys())
      .filter((id) => sizes[id] * CORE_SHARE < minimum && votes[id * k + c] >= MOSTLY * sizes[id])
      .map((id) => ({ id, distance: squaredDistance(means, id * cols, centroids, c * cols, cols) }))
      .sort((a, b) => a.distance - b.distance || a.id - b.id);
    const wanted = Math.max(minimum, Math.ceil(CORE_SHARE * rows[c]));
    let taken = 0;
    for (const { id } of inside) {
      // Of rows of which nothing was published a core is a part, as always.
      if (taken >= wanted || sizes.length === 1) break;
      coreOfClass[id] = c;
      taken += sizes[id];
    }
    isTaken[c] = taken > 0 ? 1 : 0;
  }
  for (let r = 0; r < cores.length; r++) if (isTaken[cores[r]] === 1) cores[r] = k;
  mergeSmallParts(classes, cores, k + 1, minimum);
  for (let r = 0; r < cores.length; r++) if (coreOfClass[ids[r]] < k) cores[r] = coreOfClass[ids[r]];
}
