// A trial depends on its cell alone, and measures what it says.

import {
  communities,
  communityData,
  erdosRenyi,
  fit,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  methods,
  paperData,
  randomStream,
  stack,
} from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { cellBatches, type StudyCell, seedOfRun } from "../src/cell.ts";
import { trials } from "../src/trial/trial.ts";
import { aloneCell, testCell } from "./cells.ts";

const drawn = { dataset: "var", pointsPerDevice: 60, seed: 4, rounds: 20 };
const cell = testCell(drawn);

describe("trials", () => {
  const cells: StudyCell[] = [
    aloneCell(drawn),
    cell,
    { ...cell, start: "auto" },
    { ...cell, start: "auto", graph: "er:0.4" },
    testCell({ ...drawn, method: "distributed", alpha: null }),
    { ...cell, start: "kmeans++" },
  ];
  const rows = trials(cells);

  test("give a cell the same row alone and among others", () => {
    for (const [i, one] of cells.entries()) expect(trials([one])).toEqual([rows[i]]);
  });

  test("run Algorithm 1 as fit does, and measure GCD against pooled k-means", () => {
    const { datasets } = paperData("var", 10, 60, 4);
    const network = erdosRenyi(10, 0.7, randomStream(4, "graph"));
    const options = { k: 3, alpha: 1, seed: 4, rounds: 20 };
    const [reference] = methods.pooled(datasets, network, options).centroids;
    const paper = fit(datasets, network, { ...options, preset: "paper" });
    expect(rows[1].gcd).toBe(globalCentroidDeviation(paper.centroids, reference));
    expect(rows[1].objective).toBe(paper.objective);
    const raw = fit(datasets, network, { ...options, preset: "paper", init: "kmeans++" });
    expect(rows[5].objective).toBe(raw.objective);
    expect(raw.objective).not.toBe(paper.objective);
    const dependable = fit(datasets, network, options);
    expect(rows[2].gcd).toBe(globalCentroidDeviation(dependable.centroids, reference));
    // 10 devices, a message each, in every round; the start is not counted.
    expect([rows[1].messages, rows[1].rounds]).toEqual([200, 20]);
  });

  test("leave empty what a method does not know", () => {
    expect(rows[0]).toMatchObject({ cv: null, alpha: null, start: null, edge_probability: null, objective: null });
    expect(rows[4]).toMatchObject({ alpha: null, objective_rises: null, nmi: null });
  });

  test("count the wrong devices: none at the pooled solution, all with one centroid too few", () => {
    const given = { ...drawn, dataset: "iris", pointsPerDevice: null };
    expect(trials([aloneCell({ ...given, method: "pooled" })])[0]).toMatchObject({
      gcd: 0,
      wrong_devices: 0,
      cost_ratio: 1,
    });
    expect(trials([{ ...cell, k: 1 }])[0]).toMatchObject({ wrong_devices: 0 });
    // Alone with 4 points each, devices are far from the pooled centroids.
    expect(Number(trials([aloneCell({ ...drawn, pointsPerDevice: 4 })])[0].wrong_devices)).toBeGreaterThan(5);
  });
});

test("trials on two communities measure each against its own pooled solution", () => {
  const [row] = trials([
    { ...cell, dataset: "communities", pointsPerDevice: 50, graph: "communities:0.1", alpha: 0.1 },
  ]);
  const { datasets } = communityData(5, 50, 4);
  const network = communities([5, 5], 0.8, 0.1, randomStream(4, "graph"));
  const { centroids } = fit(datasets, network, { k: 3, alpha: 0.1, seed: 4, rounds: 20, preset: "paper" });
  const halves = [0, 5].map((from) => {
    const reference = kmeans(stack(datasets.slice(from, from + 5)), { k: 3, restarts: 20, seed: 4, maxIter: 10_000 });
    return globalCentroidDeviation(centroids.slice(from, from + 5), reference.centroids);
  });
  expect(row.gcd).toBeCloseTo((halves[0] + halves[1]) / 2, 12);
});

test("trials run all devices at once as asked for, also where the objective rises", () => {
  const rising = (schedule: string) =>
    Array.from(
      { length: 12 },
      (_, seed) =>
        trials([
          { ...cell, dataset: "aniso", pointsPerDevice: 10, graph: "er:0.2", options: { passes: 100, schedule }, seed },
        ])[0],
    ).reduce((sum, row) => sum + Number(row.objective_rises), 0);
  expect(rising("cyclic")).toBe(0);
  expect(rising("simultaneous")).toBeGreaterThan(0);
});

test("cellBatches puts cells of one problem together and keeps their order", () => {
  const other = { ...cell, seed: 5 };
  const cells = [cell, other, { ...cell, alpha: 0 }];
  expect(cellBatches(cells)).toEqual([[cell, { ...cell, alpha: 0 }], [other]]);
});

test("seedOfRun differs between runs, sizes and seeds", () => {
  const seeds = [seedOfRun(1, 1), seedOfRun(1, 2), seedOfRun(2, 1), seedOfRun(1, 1, 50), seedOfRun(1, 1, 100)];
  expect(new Set(seeds).size).toBe(5);
});

test("trials with the auto start are the defaults of fit, also where own clusters are the better start", () => {
  const { datasets } = communityData(5, 50, 4);
  const network = communities([5, 5], 0.8, 0.1, randomStream(4, "graph"));
  for (const alpha of [0, 0.01, 1]) {
    const on = { dataset: "communities", pointsPerDevice: 50, graph: "communities:0.1", start: "auto" } as const;
    const [row] = trials([{ ...cell, ...on, alpha }]);
    expect(row.objective, `alpha ${alpha}`).toBe(
      fit(datasets, network, { k: 3, alpha, seed: 4, rounds: 20 }).objective,
    );
  }
});

test("trials run distributed k-means for all its rounds, down to rounding", () => {
  const on = { dataset: "iso", pointsPerDevice: 50, graph: "er:1", rounds: 200, seed: 1 };
  const [row] = trials([testCell({ ...on, method: "distributed", alpha: null })]);
  expect(row.rounds).toBe(200);
  expect(row.cv).toBeLessThan(1e-29);
});

test("trials on a geometric network are connected, and measure CV", () => {
  const on = { graph: "geometric", devices: 30, pointsPerDevice: 20, rounds: 3 };
  const [row] = trials([{ ...cell, ...on }]);
  expect(row.cv).toBeGreaterThan(0);
  // 30 devices of mean degree 4.867 or a little more: at least 146 numbers of 6 doubles a round.
  expect(Number(row.bytes) / 3 / 48).toBeGreaterThanOrEqual(146);
});

test("trials of fedkm-ot couple by transport, gradient takes rho and distributed eta", () => {
  const { datasets } = paperData("var", 10, 60, 4);
  const network = erdosRenyi(10, 0.7, randomStream(4, "graph"));
  const options = { k: 3, alpha: 1, seed: 4, rounds: 20, preset: "paper", coupling: "transport" } as const;
  const [moved, slow, fast] = trials([
    { ...cell, method: "fedkm-ot", options: { coupling: "transport" } },
    testCell({ ...drawn, method: "gradient", alpha: null, options: { rho: 100 } }),
    testCell({ ...drawn, method: "distributed", alpha: null, options: { eta: 1 } }),
  ]);
  expect(moved.objective).toBe(fit(datasets, network, options).objective);
  const init = fit(datasets, network, { ...options, rounds: 0 }).centroids;
  const common = { k: 3, alpha: 1, rounds: 20, init };
  const [reference] = methods.pooled(datasets, network, { k: 3, alpha: 1, seed: 4 }).centroids;
  const gcd = (centroids: readonly Matrix[]) => globalCentroidDeviation(centroids, reference);
  expect(slow.gcd).toBe(gcd(methods.gradient(datasets, network, { ...common, rho: 100 }).centroids));
  expect(fast.gcd).toBe(gcd(methods.distributed(datasets, network, { ...common, eta: 1 }).centroids));
});
