// The real sets are whole, and cells get their points dealt.

import { expect, test } from "vitest";
import { paperSetting } from "../src/cell.ts";
import { givenTrialPoints, trialPartition } from "../src/trial/datasets.ts";

test("iris has 150 flowers, 50 of each species", () => {
  const { points, labels } = givenTrialPoints("iris", undefined);
  expect([points.rows, points.cols]).toEqual([150, 4]);
  expect([0, 1, 2].map((species) => labels.filter((label) => label === species).length)).toEqual([50, 50, 50]);
  const sums = [0, 1, 2, 3].map((c) => points.data.reduce((sum, x, at) => (at % 4 === c ? sum + x : sum), 0));
  expect(sums).toEqual([876.5, 458.6, 563.7, 179.9].map((sum) => expect.closeTo(sum, 9)));
});

test("digits has scikit-learn's 1,797 pictures of ten digits", () => {
  const { labels } = givenTrialPoints("digits", undefined);
  const counts = Array.from({ length: 10 }, (_, digit) => labels.filter((label) => label === digit).length);
  expect(counts).toEqual([178, 182, 177, 183, 181, 182, 181, 179, 174, 180]);
});

const cell = {
  ...paperSetting,
  study: "test",
  dataset: "iris",
  pointsPerDevice: null,
  devices: 4,
  run: 1,
  seed: 5,
} as const;

test("trialPartition deals every point once", () => {
  const { datasets } = trialPartition(cell, undefined);
  expect(datasets.map(({ rows }) => rows)).toEqual([38, 38, 37, 37]);
  const all = datasets.flatMap(({ data }) => Array.from(data)).sort((a, b) => a - b);
  expect(all).toEqual(Array.from(givenTrialPoints("iris", undefined).points.data).sort((a, b) => a - b));
});

test("trialPartition needs the points that a cell names", () => {
  expect(() => trialPartition({ ...cell, dataset: "features" }, undefined)).toThrow(
    "features must be given for cells that name them, got none",
  );
  expect(() => trialPartition({ ...cell, dataset: "iso" }, undefined)).toThrow(
    "pointsPerDevice must be a number for iso data, got null",
  );
});
