// What is left of private rows after their release: a few weighted points, on which everything else is computed.

import type { Matrix } from "../data/matrix.ts";
import { emptyStatistics, type Kernel } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";

export interface Summary {
  readonly points: Matrix;
  /** Rows that each point stands for, as far as the noise lets it be known. */
  readonly weights: Float64Array;
  /** Squared distances of the rows from their points, all together. */
  readonly within: number;
}

/** Rows that a summary stands for. */
export function summarySize({ weights }: Summary): number {
  return weights.reduce((sum, weight) => sum + weight, 0);
}

/** Answers (E1) as the rows would whose summary it is. It prepares no other points than the summary's. */
export function summaryKernel({ points, weights, within }: Summary): Kernel {
  return {
    name: "summary",
    prepare() {
      const prepared = fastKernel.prepare(points, weights);
      return {
        statistics(centroids, into, withLoss = true) {
          prepared.statistics(centroids, into, withLoss);
          into.loss += within;
        },
        labels: (centroids, into) => prepared.labels(centroids, into),
        squaredDistances: (centre, into) => prepared.squaredDistances(centre, into),
        release: () => prepared.release(),
      };
    },
  };
}

/** The squared distances of the rows that a summary stands for from the nearest centroids, all together. */
export function lossAt(summary: Summary, centroids: Matrix): number {
  const prepared = summaryKernel(summary).prepare(summary.points);
  const statistics = emptyStatistics(centroids.rows, centroids.cols);
  prepared.statistics(centroids.data, statistics);
  prepared.release();
  return statistics.loss;
}
