// Guarded rows at the minimum: one row fewer, exactly so many, one more; and what is left of rows that are held back.

import { describe, expect, it } from "vitest";
import { paperData } from "../../src/data/datasets.ts";
import type { Matrix } from "../../src/data/matrix.ts";
import { normalStream, randomStream } from "../../src/data/random.ts";
import { fit } from "../../src/fit/fit.ts";
import { complete } from "../../src/graph/families.ts";
import { emptyStatistics } from "../../src/kernel/kernel.ts";
import { fastKernel } from "../../src/kernel/wasm.ts";
import { mergeSmallParts, oneClass, smallestClass } from "../../src/privacy/classes.ts";
import { guardPoints } from "../../src/privacy/guarded.ts";

const first = ({ data, cols }: Matrix, rows: number): Matrix => ({ data: data.slice(0, rows * cols), rows, cols });

describe("a guarded device", () => {
  const { datasets } = paperData("iso", 3, 100, 1);
  it.each([
    [3, 10, 29, 29],
    [3, 10, 30, 0],
    [3, 10, 31, 0],
    [2, 5, 9, 9],
    [2, 5, 10, 0],
  ])("with %d clusters and a minimum of %d leaves out its %d rows: %d", (k, minimum, rows, leftOut) => {
    const own = [first(datasets[0], rows), datasets[1], datasets[2]];
    const { guarded } = fit(own, complete(3), { k, alpha: 1, privacy: "guarded", minimum, seed: 1 });
    expect(guarded?.rowsLeftOut).toBe(leftOut);
    expect(guarded?.smallestClass).toBeGreaterThanOrEqual(minimum);
  });
});

describe("a part of a class", () => {
  const minimum = 10;
  /** Rows with label 1 and then rows with label 0; where the class as a whole would go is said apart. */
  const given = (ones: number, zeros: number, whole: number) => {
    const labels = Uint32Array.from({ length: ones + zeros }, (_, r) => (r < ones ? 1 : 0));
    const held = mergeSmallParts(oneClass(ones + zeros), labels, 2, minimum, [whole]);
    return { labels: [...new Set(labels)].sort(), held };
  };

  it.each([
    // A row too few on either side: the class stays one, and goes where its mean is, not where most of it is.
    [9, 11, 0, { labels: [0], held: 9 }],
    [9, 11, 1, { labels: [1], held: 11 }],
    [11, 9, 0, { labels: [0], held: 11 }],
    [11, 9, 1, { labels: [1], held: 9 }],
    [10, 9, 0, { labels: [0], held: 10 }],
    [9, 9, 1, { labels: [1], held: 9 }],
    // Exactly enough on both sides: it is divided.
    [10, 10, 0, { labels: [0, 1], held: 0 }],
    [10, 11, 1, { labels: [0, 1], held: 0 }],
  ])("%d rows of label 1 and %d of label 0, whole in %d", (ones, zeros, whole, expected) => {
    expect(given(ones, zeros, whole)).toEqual(expected);
  });
});

describe("guarded points", () => {
  it("leave no bit of rows in the sums of a cluster from which all are held back", () => {
    const normal = normalStream(randomStream(1, "held"));
    for (let run = 0; run < 50; run++) {
      // 40 rows around 0 and 3 far away, too few to be told apart.
      const rows = Array.from({ length: 43 }, (_, r) => [normal() + (r < 3 ? 30 : 0), normal() / 3]);
      const points = { data: Float64Array.from(rows.flat()), rows: 43, cols: 2 };
      const guarded = guardPoints(points, fastKernel.prepare(points), 5);
      const centroids = Float64Array.of(0, 0, 30, 0);
      const statistics = emptyStatistics(2, 2);
      guarded.statistics(centroids, statistics);
      expect(Array.from(statistics.counts)).toEqual([43, 0]);
      expect(Array.from(statistics.sums.subarray(2))).toEqual([0, 0]);
      guarded.publish(centroids);
      expect([guarded.heldBack, smallestClass(guarded.classes)]).toEqual([3, 43]);
    }
  });

  it.each([
    [4, [45, 0], 45],
    [5, [41, 5], 5],
    [6, [41, 6], 6],
  ])("tell %d far rows apart from 41 others only if they are the minimum of 5", (far, counts, smallest) => {
    const normal = normalStream(randomStream(2, "held"));
    const data = Float64Array.from({ length: 41 + far }, (_, r) => normal() + (r < far ? 30 : 0));
    const points = { data, rows: 41 + far, cols: 1 };
    const guarded = guardPoints(points, fastKernel.prepare(points), 5);
    const statistics = emptyStatistics(2, 1);
    guarded.statistics(Float64Array.of(0, 30), statistics);
    expect(Array.from(statistics.counts)).toEqual(counts);
    guarded.publish(Float64Array.of(0, 30));
    expect(smallestClass(guarded.classes)).toBe(smallest);
  });
});
