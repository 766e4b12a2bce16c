// The cores of clusters: how near their means are to those of their clusters, and how near they must not be.

import { describe, expect, it } from "vitest";
import { type Matrix, stack } from "../../src/data/matrix.ts";
import { randomStream } from "../../src/data/random.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import { guardedCores } from "../../src/privacy/cores.ts";
import { guardPoints } from "../../src/privacy/guarded.ts";

const MINIMUM = 10;

/** Rows of one cluster, of variance 1, and their mean. */
function cluster(rows: number, cols: number, seed: number, shift = 0): Matrix {
  const random = randomStream(seed, "cluster");
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return { data: Float64Array.from({ length: rows * cols }, () => shift + normal()), rows, cols };
}

function meanOf({ data, rows, cols }: Matrix, isIn: (row: number) => boolean): Float64Array {
  const chosen = Array.from({ length: rows }, (_, row) => row).filter(isIn);
  return Float64Array.from({ length: cols }, (_, c) => {
    return chosen.reduce((sum, row) => sum + data[row * cols + c], 0) / chosen.length;
  });
}

/** The root of the mean squared error of a core's mean in a column, over 40 clusters. */
function coreError(rows: number, cols: number): number {
  const squares = Array.from({ length: 40 }, (_, seed) => {
    const points = cluster(rows, cols, seed);
    const mean = meanOf(points, () => true);
    const cores = guardedCores(points, mean, new Uint32Array(rows), MINIMUM);
    const core = meanOf(points, (row) => cores[row] === 0);
    return core.reduce((sum, at, c) => sum + (at - mean[c]) ** 2, 0) / cols;
  });
  return Math.sqrt(squares.reduce((sum, square) => sum + square, 0) / squares.length);
}

describe("guardedCores(points, centroids, labels, minimum)", () => {
  it("takes the minimum or an eighth of a cluster, with a mean that errs less than half as much as chance", () => {
    const points = cluster(400, 2, 1);
    const cores = guardedCores(
      points,
      meanOf(points, () => true),
      new Uint32Array(400),
      MINIMUM,
    );
    expect(cores.filter((label) => label === 0).length).toBe(50);
    expect(coreError(33, 2)).toBeLessThan(0.5 / Math.sqrt(10));
    expect(coreError(267, 2)).toBeLessThan(0.1 / Math.sqrt(34));
    expect(coreError(267, 20)).toBeLessThan(0.5 / Math.sqrt(34));
  });

  it("gives the sum of the cluster away no better than a row deviates, so no row can be computed by it", () => {
    for (const [rows, cols] of [
      [33, 1],
      [33, 2],
      [267, 1],
      [267, 2],
    ]) {
      expect(rows * coreError(rows, cols)).toBeGreaterThan(1);
    }
  });

  it("takes a cluster as a whole where its other rows would be too few to hide in, and none below the minimum", () => {
    const points = stack([cluster(19, 2, 1), cluster(60, 2, 2, 20), cluster(9, 2, 3, 40)]);
    const labels = Uint32Array.from({ length: 88 }, (_, row) => (row < 19 ? 0 : row < 79 ? 1 : 2));
    const cores = guardedCores(points, Float64Array.of(0, 0, 20, 20, 40, 40), labels, MINIMUM);
    const sizes = [0, 1, 2, 3].map((label) => cores.filter((core) => core === label).length);
    expect(sizes).toEqual([19, 10, 0, 59]);
    expect(cores.subarray(0, 19).every((label) => label === 0)).toBe(true);
  });
});

describe("cores of rows that are in small classes already", () => {
  it("are whole classes: every cluster has one, for classes of 10 to 60 rows", () => {
    for (const size of [10, 12, 15, 20, 30, 60]) {
      const points = stack([cluster(300, 2, 1), cluster(300, 2, 2, 20), cluster(300, 2, 3, 40)]);
      const ids = Uint32Array.from({ length: 900 }, (_, r) => Math.floor(r / size));
      const sizes = new Uint32Array(900 / size).fill(size);
      const guard = guardPoints(points, jsKernel.prepare(points), MINIMUM, { classes: { ids, sizes } });
      const { counts, sums } = guard.publishCores(Float64Array.of(0, 0, 20, 20, 40, 40));
      for (const c of [0, 1, 2]) {
        expect(counts[c]).toBeGreaterThanOrEqual(MINIMUM);
        expect(Math.abs(sums[2 * c] / counts[c] - 20 * c)).toBeLessThan(0.5);
      }
      expect(guard.classes.sizes.length).toBe(900 / size);
    }
  });
});
