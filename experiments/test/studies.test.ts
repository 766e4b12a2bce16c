// The grids are the paper's, cell by cell.

import { randomStream } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { cellBatches } from "../src/cell.ts";
import { featuresPlan, followUpFeatures } from "../src/studies/followUp.ts";
import { studies } from "../src/studies/index.ts";
import { trials } from "../src/trial/trial.ts";

const options = { runs: 10, seed: 1, starts: ["local"], quick: false } as const;
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

  test("the follow-up's have its rounds, its alphas, its densities, its regimes and its communities", () => {
    const of = (study: string, method: string) =>
      studies[study](options).cells.filter((cell) => cell.method === method);
    expect([
      values(of("effect-of-alpha", "fedkm-ot"), "alpha"),
      values(of("effect-of-alpha", "fedkm"), "rounds"),
    ]).toEqual([[0, 1, 2, 3, 4], [800]]);
    expect([values(of("sample-size", "fedkm"), "rounds"), values(of("connectivity", "fedkm"), "rounds")]).toEqual([
      [300],
      [200],
    ]);
    expect(values(of("connectivity", "gradient"), "edgeProbability")).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tenths) => tenths / 10),
    );
    const regimes = studies.regimes(options).cells.map(({ damping, passes }) => `${damping} ${passes}`);
    expect([...new Set(regimes)]).toEqual(["1 10", "1 1", "0.5 10"]);
    const apart = of("communities", "fedkm");
    expect([values(apart, "alpha"), values(apart, "edgeProbability"), values(apart, "pointsPerDevice")]).toEqual([
      [0.01, 0.1, 1],
      [0, 0.1],
      [50],
    ]);
    const sets = studies.comparison(options).cells.map(({ dataset, devices, k }) => `${dataset} ${devices} ${k}`);
    expect([...new Set(sets)]).toEqual(["iso 10 3", "aniso 10 3", "var 10 3", "iris 5 3", "digits 10 10"]);
    expect(values(of("comparison", "gradient"), "rho")).toEqual([1, 10, 100]);
    expect([values(of("comparison", "distributed"), "eta"), values(of("benchmark", "fedkm"), "devices")]).toEqual([
      [1],
      [30],
    ]);
  });

  test("the follow-up's updates are all at once, with its safeguard; the auto start has those of fit", () => {
    const { cells: found } = studies.comparison({ ...options, starts: ["local", "auto"] });
    const [authors, dependable] = found.filter(
      ({ method, run, dataset }) => method === "fedkm" && run === 1 && dataset === "iso",
    );
    expect(authors).toMatchObject({ schedule: "simultaneous", passes: 10, damping: 1, safeguard: true, tol: 1e-6 });
    expect(dependable).toMatchObject({ schedule: "cyclic", passes: null, safeguard: false, tol: null });
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
  const features = followUpFeatures({ points: { data, rows: 240, cols: 60 }, labels: classes });
  expect([features.points.rows, features.points.cols]).toEqual([240, 50]);
  const { cells, pictures } = featuresPlan(features, 6, { ...options, runs: 2 });
  expect(values(cells, "k")).toEqual([4]);
  expect(pictures.map(({ name }) => name)).toEqual(["features-local"]);
  const rows = cellBatches(cells).flatMap((own) => trials(own, features));
  const pooled = rows.filter(({ method }) => method === "pooled");
  expect(pooled.map(({ nmi, ari, gcd }) => [nmi, ari, gcd])).toEqual([
    [expect.closeTo(1, 12), 1, 0],
    [expect.closeTo(1, 12), 1, 0],
  ]);
});
