// The reference engine of (E1) is held to the definition, written out here the slow way; engines.test.ts holds the others
// to the reference.

import { jsKernel, randomStream } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { emptyStatistics } from "../../src/kernel/kernel.ts";
import { integerFrom, pickFrom, randomMatrix } from "../problems.ts";

describe("jsKernel", () => {
  it("gives the labels, counts, sums and loss of the definition", () => {
    const random = randomStream(8, "kernel test");
    for (let trial = 0; trial < 1000; trial++) {
      const rows = integerFrom(random, 0, 40);
      const cols = integerFrom(random, 1, 5);
      const k = integerFrom(random, 1, 7);
      const points = randomMatrix(random, rows, cols);
      const { data: centroids } = randomMatrix(random, k, cols, 4);
      // Ties and duplicates: some coordinates on a coarse grid.
      if (random() < 0.3) {
        for (const array of [points.data, centroids]) array.set(array.map((x) => Math.round(x / 4)));
      }
      const weights =
        random() < 0.5 ? undefined : Float64Array.from({ length: rows }, () => pickFrom(random, [0, 1, 2.5]));
      const square = (r: number, c: number) => {
        let sum = 0;
        for (let i = 0; i < cols; i++) sum += (points.data[r * cols + i] - centroids[c * cols + i]) ** 2;
        return sum;
      };
      const expected = emptyStatistics(k, cols);
      const labels = Uint32Array.from({ length: rows }, (_, r) => {
        const squares = Array.from({ length: k }, (_, c) => square(r, c));
        const label = squares.indexOf(Math.min(...squares));
        const weight = weights?.[r] ?? 1;
        expected.counts[label] += weight;
        for (let i = 0; i < cols; i++) expected.sums[label * cols + i] += weight * points.data[r * cols + i];
        expected.loss += weight * squares[label];
        return label;
      });
      const prepared = jsKernel.prepare(points, weights);
      // What was there before must not matter.
      const found = { counts: new Float64Array(k).fill(9), sums: new Float64Array(k * cols).fill(9), loss: 9 };
      prepared.statistics(centroids, found);
      expect(found.counts).toEqual(expected.counts);
      // Sums are exact and rounded once; adding in sequence is not.
      found.sums.forEach((sum, i) => {
        expect(sum).toBeCloseTo(expected.sums[i], 11);
      });
      expect(found.loss).toBeCloseTo(expected.loss, 10);
      const foundLabels = new Uint32Array(rows);
      prepared.labels(centroids, foundLabels);
      expect(foundLabels).toEqual(labels);
      const distances = new Float64Array(rows);
      prepared.squaredDistances(centroids.subarray(0, cols), distances);
      expect(Array.from(distances)).toEqual(Array.from({ length: rows }, (_, r) => square(r, 0)));
    }
  });
});
