// The grids are the paper's, cell by cell.

import { randomStream } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { batches } from "../src/cell.ts";
import { studies } from "../src/studies/index.ts";
import { featuresPlan, reducedFeatures } from "../src/studies/real.ts";
import { trials } from "../src/trial.ts";

const options = { runs: 10, seed: 1, starts: ["authors"], quick: false } as const;
const values = (cells: readonly object[], key: string) => [
  ...new Set(cells.map((cell) => (cell as Record<string, unknown>)[key])),
];

describe("studies", () => {
  const { cells } = studies.all(options);

  test("all is the paper's suite: 2,400 runs of Algorithm 1, with distributed and local k-means", () => {
    expect(cells.filter(({ method }) => method === "fedkm").length).toBe(2400);
    expect(cells.filter(({ method }) => method === "distributed").length).toBe(16 * 3 * 10 * 3);
    expect(cells.filter(({ method }) => method === "local").length).toBe(16 * 3 * 10);
    expect(values(cells, "pointsPerDevice")).toEqual(Array.from({ length: 16 }, (_, i) => 50 + 50 * i));
    expect([values(cells, "devices"), values(cells, "k"), values(cells, "rounds")]).toEqual([[10], [3], [200]]);
  });

  test("all has no cell twice", () => {
    expect(new Set(cells.map((cell) => JSON.stringify(cell))).size).toBe(cells.length);
  });

  test("a single figure is part of all", () => {
    const known = new Set(cells.map((cell) => JSON.stringify(cell)));
    for (const figure of ["figure1", "figure2", "figure3", "figure4"]) {
      const own = studies[figure](options).cells;
      expect(own.length, figure).toBe(16 * 3 * 10 * (figure <= "figure2" ? 5 : 7));
      expect(
        own.every((cell) => known.has(JSON.stringify(cell))),
        figure,
      ).toBe(true);
    }
  });

  test("the extended ones have the settings of the extended version", () => {
    const alpha = studies["effect-of-alpha"](options).cells;
    expect(
      values(
        alpha.filter(({ method }) => method === "fedkm"),
        "alpha",
      ),
    ).toEqual([0, 1, 2, 3, 4]);
    expect(values(alpha, "pointsPerDevice")).toEqual([200]);
    const linked = studies.connectivity(options).cells.filter(({ method }) => method === "fedkm");
    expect(values(linked, "edgeProbability")).toEqual([0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]);
    const regimes = studies.regimes(options).cells.map(({ damping, passes }) => `${damping} ${passes}`);
    expect([...new Set(regimes)]).toEqual(["1 10", "1 1", "0.5 10"]);
    const apart = studies.communities(options).cells.filter(({ method }) => method === "fedkm");
    expect([values(apart, "alpha"), values(apart, "edgeProbability"), values(apart, "pointsPerDevice")]).toEqual([
      [0.01, 0.1, 1],
      [0, 0.1],
      [50],
    ]);
    const real = studies["small-real"](options).cells.map(({ dataset, devices, k }) => `${dataset} ${devices} ${k}`);
    expect([...new Set(real)]).toEqual(["iris 5 3", "digits 10 10"]);
  });
});

test("featuresPlan runs the real-data study on points of the user's, reduced to 50 components", () => {
  const random = randomStream(1);
  const classes = Uint32Array.from({ length: 240 }, (_, r) => r % 4);
  // Four classes that differ in 60 columns, with noise.
  const data = Float64Array.from({ length: 240 * 60 }, (_, at) => {
    const [row, column] = [Math.floor(at / 60), at % 60];
    return (column % 4 === classes[row] ? 5 : 0) + random();
  });
  const features = reducedFeatures({ points: { data, rows: 240, cols: 60 }, labels: classes });
  expect([features.points.rows, features.points.cols]).toEqual([240, 50]);
  const { cells, pictures } = featuresPlan(features, 6, { ...options, runs: 2 });
  expect(values(cells, "k")).toEqual([4]);
  expect(pictures.map(({ name }) => name)).toEqual(["features-authors"]);
  const rows = batches(cells).flatMap((own) => trials(own, features));
  const pooled = rows.filter(({ method }) => method === "pooled");
  expect(pooled.map(({ nmi, ari, gcd }) => [nmi, ari, gcd])).toEqual([
    [expect.closeTo(1, 12), 1, 0],
    [expect.closeTo(1, 12), 1, 0],
  ]);
});
