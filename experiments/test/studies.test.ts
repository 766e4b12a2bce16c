// The grids are the paper's, cell by cell.

import { randomStream } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { cellBatches } from "../src/cell.ts";
import { noPlugins } from "../src/plugins/plugin.ts";
import { reducedFeatures, studyPlan } from "../src/reproduce.ts";
import { parseSweep } from "../src/studies/file.ts";
import { trials } from "../src/trial/trial.ts";
import { plannedStudy } from "./cells.ts";

const options = { runs: 10, seed: 1, starts: ["local"], quick: false } as const;
const values = (cells: readonly object[], key: string) => [
  ...new Set(cells.map((cell) => (cell as Record<string, unknown>)[key])),
];

describe("studies", () => {
  const { cells } = plannedStudy("all", options);

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
      const own = plannedStudy(figure, options).cells;
      expect(own.length, figure).toBe(16 * 3 * 10 * (figure <= "figure2" ? 5 : 7));
      expect(
        own.every((cell) => known.has(JSON.stringify(cell))),
        figure,
      ).toBe(true);
    }
  });

  test("the follow-up's have its rounds, its alphas, its densities, its regimes and its communities", () => {
    const of = (study: string, method: string) =>
      plannedStudy(study, options).cells.filter((cell) => cell.method === method);
    expect([
      values(of("effect-of-alpha", "fedkm-ot"), "alpha"),
      values(of("effect-of-alpha", "fedkm"), "rounds"),
    ]).toEqual([[0, 1, 2, 3, 4], [800]]);
    expect([values(of("sample-size", "fedkm"), "rounds"), values(of("connectivity", "fedkm"), "rounds")]).toEqual([
      [300],
      [200],
    ]);
    expect(values(of("connectivity", "gradient"), "graph")).toEqual(
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((tenths) => `er:${tenths / 10}`),
    );
    const regimes = plannedStudy("regimes", options).cells.map(({ options: own }) => `${own.damping} ${own.passes}`);
    expect([...new Set(regimes)]).toEqual(["1 10", "1 1", "0.5 10"]);
    const apart = of("communities", "fedkm");
    expect([values(apart, "alpha"), values(apart, "graph"), values(apart, "pointsPerDevice")]).toEqual([
      [0.01, 0.1, 1],
      ["communities:0", "communities:0.1"],
      [50],
    ]);
    const sets = plannedStudy("comparison", options).cells.map(
      ({ dataset, devices, k }) => `${dataset} ${devices} ${k}`,
    );
    expect([...new Set(sets)]).toEqual(["iso 10 3", "aniso 10 3", "var 10 3", "iris 5 3", "digits 10 10"]);
    const settings = of("comparison", "gradient").map(({ options: own }) => own.rho);
    expect([...new Set(settings)]).toEqual([1, 10, 100]);
    expect(of("comparison", "distributed")[0].options).toEqual({ eta: 1 });
    expect(values(of("benchmark", "fedkm"), "devices")).toEqual([30]);
  });

  test("the follow-up's updates are all at once, with its safeguard; the auto start has those of fit", () => {
    const { cells: found } = plannedStudy("comparison", { ...options, starts: ["local", "auto"] });
    const [authors, dependable] = found.filter(
      ({ method, run, dataset }) => method === "fedkm" && run === 1 && dataset === "iso",
    );
    const updates = { schedule: "simultaneous", passes: 10, damping: 1, safeguard: true, tol: 1e-6 };
    expect([authors.options, dependable.options]).toEqual([updates, {}]);
  });
});

test("the study features runs on points of the user's, reduced to 50 components", () => {
  const random = randomStream(1);
  const classes = Uint32Array.from({ length: 240 }, (_, r) => r % 4);
  // Four classes that differ in 60 columns, with noise.
  const data = Float64Array.from({ length: 240 * 60 }, (_, at) => {
    const [row, column] = [Math.floor(at / 60), at % 60];
    return (column % 4 === classes[row] ? 5 : 0) + random();
  });
  const points = reducedFeatures({ data, rows: 240, cols: 60 });
  expect([points.rows, points.cols]).toEqual([240, 50]);
  const given = { features: { datasets: [points], labels: [classes] } };
  const { cells, pictures } = plannedStudy("features", { ...options, runs: 2 }, given);
  expect(values(cells, "k")).toEqual([4]);
  expect(pictures.map(({ name }) => name)).toEqual(["features-local"]);
  const rows = cellBatches(cells).flatMap((own) => trials(own, given));
  const pooled = rows.filter(({ method }) => method === "pooled");
  expect(pooled.map(({ nmi, ari, gcd }) => [nmi, ari, gcd])).toEqual([
    [expect.closeTo(1, 12), 1, 0],
    [expect.closeTo(1, 12), 1, 0],
  ]);
});

const sweep = (text: string) =>
  studyPlan({ sweep: parseSweep(text, "mine"), given: {}, isOpen: false }, { ...options, runs: 2 }, noPlugins);

test("a sweep is the product of its factors, each cell with what its method knows", () => {
  const {
    cells,
    pictures,
    options: swept,
  } = sweep(`
data: [iso, iris]
alpha: [0.1, 1]
graph: [er:0.5, ring]
points: 20
method: [fedkm, local, kfed]
join: [mean, weighted]
`);
  const of = (method: string) => cells.filter((cell) => cell.method === method && cell.run === 1);
  // Two sets times alphas and graphs; k-means alone knows neither, k-FED knows graphs and its three ends.
  expect([of("fedkm").length, of("local").length, of("kfed").length]).toEqual([8, 2, 8]);
  expect(of("kfed")[0]).toMatchObject({ alpha: null, start: null, options: { join: "mean" } });
  expect(values(of("fedkm"), "pointsPerDevice")).toEqual([20, null]);
  expect(swept).toEqual(["join"]);
  expect(pictures.map(({ name }) => name)).toEqual(["mine-local"]);
});

test.each([
  ["points: 3", "sweep mine needs data in every cell"],
  ["[1]", "sweep mine must be a map of factors"],
  ["data: iso\nmethod: fedmk", "sweep mine must name methods of fedkm, .*, got fedmk"],
  [
    "data: iso\nmethod: fedkm\njoin: mean",
    "sweep mine must have factors of data, .* or options of its methods, got join",
  ],
  ["data: iso\nmethod: fedkm\nsplit: odd", "sweep mine must have split even, .*, got odd"],
  ["data: iso\nmethod: fedkm\nstart: there", "sweep mine must have start local, .*, got there"],
  ["data: iso\nmethod: fedkm\nfigures: [{z: 1}]", "sweep mine must have figures of name, .*, got z"],
])("a sweep that says %j is refused in one line", (text, message) => {
  expect(() => sweep(text)).toThrow(new RegExp(message));
});
