import { readFileSync } from "node:fs";
import { kmeans, type Matrix, matrix, predict, randomStream, toRows } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { randomMatrix } from "../problems.ts";

interface Answer {
  name: string;
  points: number[][];
  weights: number[] | null;
  start: number[][];
  labels: number[];
  centroids: number[][];
  inertia: number;
}

const fixture = JSON.parse(readFileSync(new URL("../fixtures/sklearn.json", import.meta.url), "utf8"));

describe("kmeans(points, { init }) is scikit-learn's Lloyd from the same start", () => {
  for (const { name, points, weights, start, labels, centroids, inertia } of fixture.problems as Answer[]) {
    it(name, () => {
      const init = matrix(start);
      const model = kmeans(matrix(points), { k: start.length, init, ...(weights === null ? {} : { weights }) });
      expect(Array.from(model.labels)).toEqual(labels);
      expect(Math.abs(model.inertia - inertia)).toBeLessThanOrEqual(1e-12 * Math.max(1, inertia));
      toRows(model.centroids).forEach((row, c) => {
        row.forEach((x, i) => {
          expect(x).toBeCloseTo(centroids[c][i], 10);
        });
      });
      expect(model.converged).toBe(true);
    });
  }
});

describe("kmeans(points, options)", () => {
  const random = randomStream(5, "kmeans test");
  const points = blobs(4, 60);

  function blobs(k: number, each: number): Matrix {
    const centres = toRows(randomMatrix(random, k, 3, 30));
    return matrix(
      centres.flatMap((centre) =>
        toRows(randomMatrix(random, each, 3, 1)).map((row) => row.map((x, i) => x + centre[i])),
      ),
    );
  }

  it("finds separated blobs and labels every point as predict does", () => {
    const model = kmeans(points, { k: 4 });
    expect(model.labels).toEqual(predict(model.centroids, points));
    const sizes = [0, 1, 2, 3].map((c) => model.labels.filter((label) => label === c).length);
    expect(sizes).toEqual([60, 60, 60, 60]);
  });

  it("ends at a fixed point: another iteration changes nothing", () => {
    const model = kmeans(points, { k: 7, seed: 3 });
    const again = kmeans(points, { k: 7, init: model.centroids });
    expect(again.centroids.data).toEqual(model.centroids.data);
    expect(again.inertia).toBe(model.inertia);
    expect(again.iterations).toBe(0);
  });

  it("is never worse with more restarts", () => {
    const best = [1, 3, 10].map((restarts) => kmeans(points, { k: 6, restarts }).inertia);
    expect(best[1]).toBeLessThanOrEqual(best[0]);
    expect(best[2]).toBeLessThanOrEqual(best[1]);
  });

  it("gives the same bytes for the same seed and other draws for another", () => {
    const run = (seed: number) => kmeans(points, { k: 9, restarts: 1, seed });
    expect(run(1)).toEqual(run(1));
    expect(new Set([1, 2, 3, 4, 5].map((seed) => run(seed).inertia)).size).toBeGreaterThan(1);
  });

  it("counts a point of weight 3 as three points, and one of weight 0 not at all", () => {
    const rows = toRows(randomMatrix(random, 30, 2));
    const weights = rows.map((_, r) => r % 4);
    const init = matrix(rows.slice(1, 4));
    const weighted = kmeans(matrix(rows), { k: 3, init, weights });
    const repeated = kmeans(matrix(rows.flatMap((row, r) => Array(weights[r]).fill(row))), { k: 3, init });
    expect(weighted.inertia).toBeCloseTo(repeated.inertia, 9);
    toRows(weighted.centroids)
      .flat()
      .forEach((x, i) => {
        expect(x).toBeCloseTo(repeated.centroids.data[i], 9);
      });
  });

  it("never draws a point of weight 0 as a seed", () => {
    const rows = [[0], [1], [2], [1000]];
    for (let seed = 0; seed < 50; seed++) {
      const { centroids } = kmeans(matrix(rows), { k: 3, weights: [1, 1, 1, 0], seed, restarts: 1 });
      expect(Math.max(...centroids.data)).toBeLessThanOrEqual(2);
    }
  });

  it("keeps a centroid that no point is nearest to", () => {
    const model = kmeans(matrix([[0], [1], [2]]), { k: 2, init: matrix([[1], [500]]) });
    expect(Array.from(model.centroids.data)).toEqual([1, 500]);
  });

  it("takes duplicate points, constant features and k = the number of distinct points without NaN", () => {
    const duplicates = matrix([
      [1, 7],
      [1, 7],
      [1, 7],
      [2, 7],
      [2, 7],
    ]);
    for (const k of [1, 2, 3, 5]) {
      const model = kmeans(duplicates, { k });
      expect(model.centroids.data.every(Number.isFinite)).toBe(true);
      expect(model.inertia).toBe(k === 1 ? 1.2 : 0);
    }
  });

  it("stops at maxIter and says so", () => {
    const { iterations, converged } = kmeans(points, { k: 9, init: matrix(toRows(points).slice(0, 9)), maxIter: 1 });
    expect({ iterations, converged }).toEqual({ iterations: 1, converged: false });
  });

  it("on many rows seeds a sample and runs only the best restart to its end, which is a fixed point of all rows", () => {
    const random = randomStream(4, "many");
    const points = { data: Float64Array.from({ length: 36_000 }, () => random()), rows: 12_000, cols: 3 };
    const model = kmeans(points, { k: 8, seed: 2, restarts: 2 });
    expect(model.converged).toBe(true);
    expect(model.iterations).toBeGreaterThan(20);
    const again = kmeans(points, { k: 8, init: model.centroids });
    expect(again.centroids.data).toEqual(model.centroids.data);
    // A single restart is run to its end at once: the best of two is not much worse than three of these.
    const alone = [5, 6, 7].map((seed) => kmeans(points, { k: 8, seed, restarts: 1 }).inertia);
    expect(model.inertia).toBeLessThan(1.01 * Math.min(...alone));
    expect(kmeans(points, { k: 8, seed: 2, restarts: 2, maxIter: 25 })).toMatchObject({
      converged: false,
      iterations: 25,
    });
  });

  it("of many clusters finds each, on a sample and on few rows, with weights and with the same bytes again", () => {
    const random = randomStream(5, "clusters");
    const centres = Float64Array.from({ length: 500 * 4 }, () => 100 * random());
    for (const rows of [2_000, 20_000]) {
      const data = Float64Array.from({ length: rows * 4 }, (_, i) => centres[i % centres.length] + random());
      const points = { data, rows, cols: 4 };
      const best = kmeans(points, { k: 500, init: { data: centres, rows: 500, cols: 4 } });
      const found = kmeans(points, { k: 500, seed: 1 });
      expect(found.inertia / best.inertia).toBeLessThan(1.0001);
      expect(kmeans(points, { k: 500, seed: 1 })).toEqual(found);
      const weighted = kmeans(points, { k: 500, seed: 1, weights: new Float64Array(rows).fill(0.5) });
      expect(weighted.inertia / best.inertia).toBeLessThan(0.50005);
    }
    // Fewer different rows than clusters: every row is a centroid.
    const few = matrix(Array.from({ length: 600 }, (_, r) => [r % 490]));
    expect(kmeans(few, { k: 500 }).inertia).toBe(0);
  });

  it("gives ties to the lowest index", () => {
    expect(Array.from(predict(matrix([[-1], [1], [1]]), matrix([[0], [1], [-5]])))).toEqual([0, 1, 0]);
  });

  it("predicts nothing for no points", () => {
    expect(predict(matrix([[1, 2]]), matrix([]))).toEqual(new Uint32Array(0));
  });
});
