// The pooled reference: the optimum where that can be computed, and never above a rival.

import {
  distortion,
  type Matrix,
  matrix,
  pooledReference,
  randomStream,
  takeRows,
  unbeatenReference,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { testSeed } from "../../../test/runs.ts";

/** Twice the distortion is the sum of squared distances. */
const costOf = (points: Matrix, centroids: Matrix) => 2 * distortion([points], [centroids]);

/** The cost of a segment by its definition: the mean first, then the squares. */
function segmentCost(values: readonly number[]): number {
  const base = values[0];
  const mean = values.reduce((sum, x) => sum + (x - base), 0) / values.length;
  return values.reduce((sum, x) => sum + (x - base - mean) ** 2, 0);
}

/** Every way to cut the sorted values into k segments, without any shortcut. */
function cheapestCut(sorted: readonly number[], k: number): number {
  let best = sorted.map((_, end) => segmentCost(sorted.slice(0, end + 1)));
  for (let cut = 1; cut < k; cut++) {
    best = sorted.map((_, end) => {
      let least = best[end];
      for (let from = 1; from <= end; from++) {
        least = Math.min(least, best[from - 1] + segmentCost(sorted.slice(from, end + 1)));
      }
      return least;
    });
  }
  return best[best.length - 1];
}

const shapes: readonly ((random: () => number) => number)[] = [
  (random) => random(),
  (random) => Math.floor(6 * random()),
  (random) => Math.floor(random() * 3) * 10 + random(),
  (random) => (-Math.log(1 - random())) ** 3,
  (random) => 1e6 + random(),
  (random) => (random() < 0.1 ? -1e7 : 1) * random(),
];

describe("pooledReference", () => {
  it("is the optimum of 1,000 problems in one dimension", () => {
    for (let problem = 0; problem < 1000; problem++) {
      const random = randomStream(testSeed, "one dimension", problem);
      const shape = shapes[problem % shapes.length];
      const values = Array.from({ length: 4 + Math.floor(36 * random()) }, () => shape(random));
      const k = 1 + Math.floor(random() * Math.min(8, new Set(values).size));
      const points = matrix(values.map((x) => [x]));
      const found = pooledReference(points, { k, seed: problem });
      const optimum = cheapestCut(
        [...values].sort((a, b) => a - b),
        k,
      );
      const scale = Math.max(...values.map(Math.abs)) ** 2 * Number.EPSILON;
      expect(found.isOptimal).toBe(true);
      expect(Math.abs(costOf(points, found.centroids) - optimum), `problem ${problem}`).toBeLessThanOrEqual(
        1e-9 * optimum + scale,
      );
    }
  });

  it("is the optimum of few different points in several dimensions, however often each occurs", () => {
    for (let problem = 0; problem < 15; problem++) {
      const random = randomStream(testSeed, "few points", problem);
      const kinds = Array.from({ length: 7 }, () => [Math.floor(4 * random()), Math.floor(4 * random()), random()]);
      const rows = Array.from({ length: 30 }, () => kinds[Math.floor(7 * random())]);
      const points = matrix(rows);
      const different = [...new Map(rows.map((row) => [row.join(), row])).values()];
      const k = 1 + Math.floor(random() * Math.min(4, different.length));
      const found = pooledReference(points, { k, seed: problem });
      expect(found.isOptimal).toBe(true);
      let least = Number.POSITIVE_INFINITY;
      for (let code = 0; code < k ** different.length; code++) {
        const group = new Map(different.map((row, i) => [row.join(), Math.floor(code / k ** i) % k]));
        let total = 0;
        for (let g = 0; g < k; g++) {
          const own = takeRows(
            points,
            [...rows.keys()].filter((r) => group.get(rows[r].join()) === g),
          );
          if (own.rows === 0) continue;
          const mean = matrix([
            [0, 1, 2].map((x) => own.data.filter((_, at) => at % 3 === x).reduce((a, b) => a + b, 0) / own.rows),
          ]);
          total += costOf(own, mean);
        }
        least = Math.min(least, total);
      }
      expect(costOf(points, found.centroids)).toBeCloseTo(least, 9);
    }
  }, 60_000);

  it("goes on while restarts find something better, and makes as many as it is told to", () => {
    const random = randomStream(5, "lattice");
    const rows = Array.from({ length: 300 }, () => [Math.floor(9 * random()), Math.floor(9 * random())]);
    const points = matrix(rows);
    const few = pooledReference(points, { k: 12, seed: 1, restarts: 20 });
    const many = pooledReference(points, { k: 12, seed: 1 });
    expect(few.restarts).toBe(20);
    expect(many.restarts).toBeGreaterThan(100);
    expect(many.inertia).toBeLessThan(few.inertia);
    expect(many.isOptimal).toBe(false);
    expect(pooledReference(points, { k: 12, seed: 1, bestKnown: few.inertia }).restarts).toBe(20);
  });

  it("a reference that is beaten is replaced by what k-means makes of the rival", () => {
    const random = randomStream(6, "lattice");
    const points = matrix(Array.from({ length: 200 }, () => [Math.floor(8 * random()), Math.floor(8 * random())]));
    const poor = pooledReference(points, { k: 10, seed: 1, restarts: 1 });
    const rich = pooledReference(points, { k: 10, seed: 1 });
    const after = unbeatenReference(points, poor, [["rich", rich.centroids]]);
    expect(rich.inertia).toBeLessThan(poor.inertia);
    expect(after.from).toBe("rich");
    expect(after.inertia).toBeLessThanOrEqual(rich.inertia);
    expect(unbeatenReference(points, rich, [["poor", poor.centroids]])).toBe(rich);
  });
});
