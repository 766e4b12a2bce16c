// The interface of every engine of the assignment step (E1): points are prepared once, then asked about many centroids.

import { checkAtLeastZero, checkNumber, checkNumbers, checkPoints, LARGEST_ORDINARY } from "../data/check.ts";
import { type Matrix, type Numbers, type Points, squaredDistance } from "../data/matrix.ts";
import { describeArgument } from "../data/optionNames.ts";

/** All that (E1) leaves behind for the rest of an update: nothing after it looks at a point. */
export interface Statistics {
  /** Per cluster, the weight of its points (their number, if all weigh 1). */
  readonly counts: Float64Array;
  /** Per cluster, the weighted sum of its points: k rows of d numbers. */
  readonly sums: Float64Array;
  /** The weighted sum of squared distances from each point to its nearest centroid; NaN if it was not asked for. */
  loss: number;
}

export interface LloydResult {
  readonly passes: number;
  readonly loss: number;
}

/** Starts of k-means from seeds that greedy k-means++ draws (seeding.ts). */
export interface SeededStarts {
  /** Of the path of their streams, to which the number of a start is added: see Streams. */
  readonly hash: readonly number[];
  /** Draws for every seed. */
  readonly trials: number;
  readonly starts: number;
}

/** The points of one device, made ready. Centroids come as k flat rows; ties go to the lowest index. */
export interface PreparedPoints {
  /** The largest magnitude in any column, where making the points ready has shown it; infinite or NaN if there is a NaN. */
  readonly largest?: number | undefined;
  /** Of the points around their means, where what statistics say of it must not be used. */
  readonly deviation?: number;
  /** Engines agree on every bit. The loss costs a pass over the points, so it can be left out. */
  statistics(centroids: Float64Array, /* OUT */ into: Statistics, withLoss?: boolean): void;
  /**
   * Lloyd's iteration to its end, if the engine can do it at once; `centroids` become the last ones. The same bits as
   * `runUpdate` without neighbours.
   */
  lloyd?(/* IN OUT */ centroids: Float64Array, most: number, tol: number): LloydResult | undefined;
  /**
   * The same from each of several starts, if the engine can do it at once; `centroids` become those of the lowest loss, the
   * first among equals.
   */
  best?(/* OUT */ centroids: Float64Array, starts: SeededStarts, most: number, tol: number): LloydResult | undefined;
  labels(centroids: Float64Array, /* OUT */ into: Uint32Array): void;
  /** Squared distance of every point to one centroid. */
  squaredDistances(centroid: Numbers, /* OUT */ into: Float64Array): void;
  /** Gives memory back before the garbage collector would. The points must not be asked again. */
  release(): void;
}

/** What computes distances: it prepares points once and answers for many centroids. */
export interface Kernel {
  readonly name: string;
  prepare(points: Points, weights?: Float64Array): PreparedPoints;
}

export function emptyStatistics(k: number, cols: number): Statistics {
  return { counts: new Float64Array(k), sums: new Float64Array(k * cols), loss: 0 };
}

/** (E1) at a matrix of centroids. */
export function kernelStatistics(points: PreparedPoints, { data, rows, cols }: Matrix): Statistics {
  const statistics = emptyStatistics(rows, cols);
  points.statistics(data, statistics);
  return statistics;
}

/** Counts and sums from k rows of coarse and fine parts that start at `from`: the only rounding of a sum happens here. */
export function gatherStatistics(parts: Float64Array, from: number, /* OUT */ into: Statistics): void {
  const { counts, sums } = into;
  const k = counts.length;
  const cols = sums.length / k;
  for (let c = 0, at = from; c < k; c++, at += 2 * (cols + 1)) {
    for (let j = 0; j < cols; j++) sums[c * cols + j] = parts[at + j] + parts[at + cols + 1 + j];
    counts[c] = parts[at + cols] + parts[at + 2 * cols + 1];
  }
}

/** The mean of every cluster; one without points keeps its row of `otherwise`. */
export function clusterMeans(
  { counts, sums }: Pick<Statistics, "counts" | "sums">,
  otherwise: Float64Array,
): Float64Array {
  const cols = sums.length / counts.length;
  return sums.map((sum, at) => {
    const count = counts[Math.floor(at / cols)];
    return count > 0 ? sum / count : otherwise[at];
  });
}

/** The nearest centroid of the row at `at`, the lowest on ties, and the squared distances of the two nearest. */
export function twoNearest(data: Float64Array, at: number, centroids: Matrix) {
  const { rows, cols } = centroids;
  let [label, nearest, next] = [0, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  for (let c = 0; c < rows; c++) {
    const square = squaredDistance(data, at, centroids.data, c * cols, cols);
    if (square < nearest) {
      next = nearest;
      nearest = square;
      label = c;
    } else if (square < next) next = square;
  }
  return { label, nearest, next };
}

export function checkKernel(kernel: unknown): void {
  if (typeof (kernel as Kernel | null)?.prepare !== "function") {
    throw new TypeError(`kernel must be a Kernel { name, prepare }, got ${describeArgument(kernel)}`);
  }
}

/** The same for points that are ready: most kernels have seen all their numbers, and then they are not read again. */
export function checkReadyPoints(name: string, points: Points, { largest }: PreparedPoints): void {
  if (!(largest !== undefined && largest <= LARGEST_ORDINARY)) checkPoints(name, points);
}

/** What (E1) left behind, as somebody else answered it for `rows` rows. */
export function checkKernelStatistics(answer: Statistics, rows: number, k: number, cols: number): void {
  const { counts, sums, loss } = answer ?? {};
  checkNumbers("counts", counts);
  checkNumbers("sums", sums);
  if (counts.length !== k || sums.length !== k * cols) {
    throw new RangeError(
      `statistics must hold ${k} counts and ${k * cols} sums, got ${counts.length} and ${sums.length}`,
    );
  }
  const counted = counts.reduce((total, count) => total + count, 0);
  // Rows that fell out, or came in since, would shift every mean.
  if (counted !== rows) throw new RangeError(`counts must add up to ${rows} (the rows of source), got ${counted}`);
  for (const [i, sum] of sums.entries()) checkNumber(`sums[${i}]`, sum, () => true, "a finite number");
  checkAtLeastZero("loss", loss);
}
