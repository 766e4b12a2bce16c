// What stands in for the rows of a source between two passes over them: points that answer (E1) from what the last pass
// found, and from a sample.

import type { Matrix } from "../data/matrix.ts";
import { emptyStatistics, type Kernel, type PreparedPoints, type Statistics } from "../kernel/kernel.ts";
import type { Source } from "./source.ts";

/** (E1) of all rows of a source at some centroids. */
export interface Pass {
  readonly centroids: Matrix;
  readonly statistics: Statistics;
}

/** Has the size and the range of a source, and no rows. Only a kernel of `standingIn` knows what it stands for. */
export function standInFor({ rows, cols, least, most }: Source): Matrix {
  return { data: Float64Array.of(...least, ...most), rows, cols };
}

/** A kernel whose points are the given ones, each for its stand-in. */
export function standingIn(standIns: readonly Matrix[], points: readonly PreparedPoints[]): Kernel {
  const known = new Map(standIns.map((standIn, i) => [standIn, points[i]]));
  return { name: "stand-in", prepare: (standIn) => known.get(standIn) as PreparedPoints };
}

/** Every row keeps the cluster that the pass found for it. Then its loss is an upper bound, and touches the true one there. */
export function keptLabels({ centroids: { data: from, cols }, statistics: found }: Pass): PreparedPoints {
  return answering((centroids, /* OUT */ into) => {
    let loss = found.loss;
    for (let c = 0, at = 0; c < found.counts.length; c++) {
      for (let j = 0; j < cols; j++, at++) {
        const way = centroids[at] - from[at];
        loss += way * (found.counts[c] * (way + 2 * from[at]) - 2 * found.sums[at]);
      }
    }
    into.counts.set(found.counts);
    into.sums.set(found.sums);
    into.loss = Math.max(0, loss);
  });
}

/**
 * What the pass found, plus `scale` times what some of the rows change on the way from there. With a sample that is exact
 * at the centroids of the pass, and errs near them by a small share of the way. With all rows near the borders it is exact
 * as far as their margin reaches.
 */
export function movedBy(some: PreparedPoints, scale: number, { centroids: from, statistics: found }: Pass) {
  const before = emptyStatistics(from.rows, from.cols);
  some.statistics(from.data, before);
  const moved = (all: number, then: number, now: number) => (now === then ? all : all + scale * (now - then));
  return answering((centroids, /* OUT */ into) => {
    some.statistics(centroids, into);
    for (let i = 0; i < into.sums.length; i++) into.sums[i] = moved(found.sums[i], before.sums[i], into.sums[i]);
    for (let c = 0; c < from.rows; c++) {
      into.counts[c] = moved(found.counts[c], before.counts[c], into.counts[c]);
      if (into.counts[c] > 0) continue;
      // A sample may take away more rows than there are.
      into.counts[c] = 0;
      into.sums.fill(0, c * from.cols, (c + 1) * from.cols);
    }
    into.loss = Math.max(0, moved(found.loss, before.loss, into.loss));
  });
}

function answering(statistics: (centroids: Float64Array, /* OUT */ into: Statistics) => void): PreparedPoints {
  const refuse = () => {
    throw new TypeError("rows that are elsewhere cannot be labelled here");
  };
  return { statistics, labels: refuse, squaredDistances: refuse, release() {} };
}
