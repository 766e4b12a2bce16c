// The real sets are whole, and cells get their points dealt.

import { distortion, type Matrix, paperData, pooledReference, takeRows } from "@fedkm/core";
import { expect, test } from "vitest";
import { bestKnownCentroids, givenTrialPoints, trialPartition } from "../src/trial/datasets.ts";
import { testCell } from "./cells.ts";

test("iris has 150 flowers, 50 of each species", () => {
  const { points, labels } = givenTrialPoints("iris");
  expect([points.rows, points.cols]).toEqual([150, 4]);
  expect([0, 1, 2].map((species) => labels.filter((label) => label === species).length)).toEqual([50, 50, 50]);
  const sums = [0, 1, 2, 3].map((c) => points.data.reduce((sum, x, at) => (at % 4 === c ? sum + x : sum), 0));
  expect(sums).toEqual([876.5, 458.6, 563.7, 179.9].map((sum) => expect.closeTo(sum, 9)));
});

test("digits has scikit-learn's 1,797 pictures of ten digits", () => {
  const { labels } = givenTrialPoints("digits");
  const counts = Array.from({ length: 10 }, (_, digit) => labels.filter((label) => label === digit).length);
  expect(counts).toEqual([178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
});

const cell = testCell({ dataset: "iris", pointsPerDevice: null, devices: 4, seed: 5 });

test("trialPartition deals every point once", () => {
  const { datasets } = trialPartition(cell, {});
  expect(datasets.map(({ rows }) => rows)).toEqual([38, 38, 37, 37]);
  const all = datasets.flatMap(({ data }) => Array.from(data)).sort((a, b) => a - b);
  expect(all).toEqual(Array.from(givenTrialPoints("iris").points.data).sort((a, b) => a - b));
});

test("trialPartition needs the points that a cell names", () => {
  expect(() => trialPartition({ ...cell, dataset: "features" }, {})).toThrow(
    "data must be iso, var, aniso, communities, iris, digits or given, got features",
  );
  expect(() => trialPartition({ ...cell, dataset: "iso" }, {})).toThrow(
    "pointsPerDevice must be a number for iso data, got null",
  );
});

test("trialPartition takes several given parts as devices, deals one, and holds rows back where it is told to", () => {
  const { points, labels } = givenTrialPoints("iris");
  const parts = { datasets: [points, points], labels: [labels, labels] };
  expect(trialPartition({ ...cell, dataset: "own" }, { own: parts }).datasets).toEqual([points, points]);
  const one = { own: { datasets: [points], labels: [labels] } };
  const dealt = trialPartition({ ...cell, dataset: "own", split: "classes:1", heldBack: true }, one);
  expect(dealt.datasets.length).toBe(4);
  for (const own of dealt.labels) expect(new Set(own).size).toBe(1);
  const rows = [...dealt.datasets, ...(dealt.unseen ?? [])].reduce((sum, own) => sum + own.rows, 0);
  expect(rows).toBe(150);
});

test("the best known centroids of a set are a fixed point that no search beats", () => {
  for (const [name, cost] of [
    ["iris", 78.85144142614601],
    ["digits", 848460.4208416857],
  ] as const) {
    const { points } = givenTrialPoints(name);
    const known = bestKnownCentroids(name) as Matrix;
    expect(2 * distortion([points], [known])).toBeCloseTo(cost, 6);
    expect(pooledReference(points, { k: known.rows, seed: 9 }).inertia).toBeGreaterThanOrEqual(cost * (1 - 1e-12));
  }
});

test("the other readings of the paper's data differ where they should", () => {
  const apart = (reading?: "after") =>
    Array.from({ length: 40 }, (_, seed) => {
      const { datasets, labels } = paperData("aniso", 1, 600, seed, reading);
      const means = [0, 1, 2].map((c) => {
        const own = takeRows(
          datasets[0],
          [...labels[0].keys()].filter((r) => labels[0][r] === c),
        );
        return [0, 1].map((x) => own.data.filter((_, at) => at % 2 === x).reduce((a, b) => a + b, 0) / own.rows);
      });
      const gaps = [
        [0, 1],
        [0, 2],
        [1, 2],
      ].map(([a, b]) => Math.hypot(means[a][0] - means[b][0], means[a][1] - means[b][1]));
      return Math.min(...gaps);
    });
  expect(apart("after").every((gap) => gap > 4.7)).toBe(true);
  expect(apart().filter((gap) => gap < 4.7).length).toBeGreaterThan(10);
  const spread = (reading?: "variance") => {
    const { datasets, labels } = paperData("var", 1, 30_000, 1, reading);
    const own = datasets[0].data.filter((_, at) => at % 2 === 0 && labels[0][at / 2] === 1);
    const mean = own.reduce((a, b) => a + b, 0) / own.length;
    return own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / own.length;
  };
  expect(spread()).toBeCloseTo(2.5 ** 2, 0);
  expect(spread("variance")).toBeCloseTo(2.5, 0);
});
