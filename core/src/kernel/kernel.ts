// What every engine of the assignment step (E1) offers. Points are prepared once, then asked about many centroids.

import type { Matrix } from "../data/matrix.ts";

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
  /** Squared distance of every point to one centre. */
  squaredDistances(centre: Float64Array, /* OUT */ into: Float64Array): void;
  /** Gives memory back before the garbage collector would. The points must not be asked again. */
  release(): void;
}

export interface Kernel {
  readonly name: string;
  prepare(points: Matrix, weights?: Float64Array): PreparedPoints;
}

export function emptyStatistics(k: number, cols: number): Statistics {
  return { counts: new Float64Array(k), sums: new Float64Array(k * cols), loss: 0 };
}
