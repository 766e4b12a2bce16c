// Rows that stay where they are, for instance in a database: what a run knows of them, and what it may ask.

import { exactSumGrids } from "../data/exactSums.ts";
import { extremesOf, type Matrix, stack, takeRows } from "../data/matrix.ts";
import { randomRows } from "../data/random.ts";
import {
  checkKernelStatistics,
  emptyStatistics,
  gatherStatistics,
  type PreparedPoints,
  type Statistics,
} from "../kernel/kernel.ts";
import { addKernelBlock, fastKernel } from "../kernel/wasm.ts";

/** (E1) before its sums are added up: for each cluster the coarse and the fine parts of data/exactSums.ts, and the loss. */
export interface StatisticsParts {
  /** k rows of 2 (cols + 1) numbers: coarse sums, coarse count, fine sums, fine count. */
  readonly sums: Float64Array;
  readonly loss: number;
}

/** The rows must stay the same during a run, and all of their numbers must be finite. */
export interface Source {
  readonly rows: number;
  readonly cols: number;
  /** The smallest and the largest value of every column. */
  readonly least: Float64Array;
  readonly most: Float64Array;
  /** (E1) on given grids, so that parts of several sources, of blocks and of shards add up exactly. */
  parts(centroids: Matrix, grids: Float64Array, signal?: AbortSignal): Promise<StatisticsParts>;
  /** At most `size` rows, spread over all of them: the same ones every time, and all if there are no more. */
  sample(size: number, signal?: AbortSignal): Promise<Matrix>;
  /** All rows that can leave their cluster if no centroid goes farther than `margin`; undefined if they are more than `most`. */
  nearBorders(centroids: Matrix, margin: number, most: number, signal?: AbortSignal): Promise<Matrix | undefined>;
}

/**
 * The grids of a source: with them its sums have the bits that the kernel gives for the same rows in memory.
 * @example sourceGrids(memorySource(matrix([[0], [2]]))).length // 4
 */
export function sourceGrids({ rows, least, most }: Pick<Source, "rows" | "least" | "most">): Float64Array {
  const largest = least.map((low, c) => Math.max(Math.abs(low), Math.abs(most[c])));
  return exactSumGrids(Float64Array.of(...largest, 1), rows);
}

/**
 * (E1) of a source: the counts and sums of the kernel, to the last bit.
 * @example (await sourceStatistics(memorySource(matrix([[0], [2]])), matrix([[1]]))).loss // 2
 */
export async function sourceStatistics(source: Source, centroids: Matrix, signal?: AbortSignal): Promise<Statistics> {
  const { sums, loss } = await source.parts(centroids, sourceGrids(source), signal);
  const statistics = emptyStatistics(centroids.rows, centroids.cols);
  gatherStatistics(sums, 0, statistics);
  statistics.loss = loss;
  checkKernelStatistics(statistics, source.rows, centroids.rows, centroids.cols);
  return statistics;
}

/**
 * A source of rows in memory, as a peer of databases in tests and simulations.
 * @example memorySource(matrix([[0], [2]])).most // [2]
 */
export function memorySource(points: Matrix): Source {
  const { rows, cols } = points;
  return {
    rows,
    cols,
    ...extremesOf([points]),
    async parts(centroids, grids) {
      const sums = sourceParts(centroids);
      return { sums, loss: addKernelBlock(points, grids, centroids.data, sums) };
    },
    async sample(size) {
      if (size >= rows) return points;
      const middles = randomRows(rows, size, () => 0.5);
      return takeRows(points, middles);
    },
    async nearBorders(centroids, margin, most) {
      const prepared = fastKernel.prepare(points);
      const near = rowsNearBorders(points, prepared, centroids, margin);
      prepared.release();
      return near.rows > most ? undefined : near;
    },
  };
}

/**
 * Several sources as one: the rows of one device from several of them.
 * @example
 * const half = memorySource(matrix([[0], [2]]));
 * joinSources([half, half]).rows // 4
 */
export function joinSources(sources: readonly Source[]): Source {
  const rows = sources.reduce((sum, own) => sum + own.rows, 0);
  const extreme = (side: "least" | "most", pick: (...values: number[]) => number) =>
    sources[0][side].map((_, c) => pick(...sources.map((own) => own[side][c])));
  return {
    rows,
    cols: sources[0].cols,
    least: extreme("least", Math.min),
    most: extreme("most", Math.max),
    async parts(centroids, grids, signal) {
      const all = await Promise.all(sources.map((own) => own.parts(centroids, grids, signal)));
      return all.reduce((total, own) => ({
        sums: total.sums.map((sum, i) => sum + own.sums[i]),
        loss: total.loss + own.loss,
      }));
    },
    async sample(size, signal) {
      const share = Math.min(1, size / rows);
      const all = await Promise.all(sources.map((own) => own.sample(Math.ceil(share * own.rows), signal)));
      return stack(all);
    },
    async nearBorders(centroids, margin, most, signal) {
      const all = await Promise.all(sources.map((own) => own.nearBorders(centroids, margin, most, signal)));
      const found = all.filter((own) => own !== undefined);
      const near = stack(found);
      return found.length < all.length || near.rows > most ? undefined : near;
    },
  };
}

/**
 * Room for exact sums of the rows of so many clusters: two numbers for each sum and count.
 * @example sourceParts(matrix([[0], [10]])).length // 8
 */
export function sourceParts({ rows, cols }: Matrix): Float64Array {
  return new Float64Array(rows * 2 * (cols + 1));
}

// Rows near the borders between clusters. All others keep their cluster while no centroid moves farther than a margin.

/**
 * The rows whose nearest centroid can become another one if none goes farther than `margin`.
 * @example
 * const rows = matrix([[0], [4], [10]]);
 * toRows(rowsNearBorders(rows, fastKernel.prepare(rows), matrix([[0], [10]]), 1)) // [[4]]
 */
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
