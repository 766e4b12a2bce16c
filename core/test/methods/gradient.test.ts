// gradient (DGC-KM) against the answers of an independent implementation, and its descent on any problem.

import { readdirSync, readFileSync } from "node:fs";
import {
  consensusVariation,
  distortion,
  type Edge,
  globalCentroidDeviation,
  graph,
  type Matrix,
  matrix,
  objective,
  paperData,
  path,
  ring,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type GradientOptions, gradient } from "../../src/methods/gradient.ts";
import { forAllProblems, integerFrom } from "../problems.ts";

type Rows = number[][];

interface Case {
  about: string;
  edges: Edge[];
  points: Rows[];
  start: Rows[];
  pooled: Rows;
  cols: number;
  options: Omit<GradientOptions, "alpha">;
  expected: Record<
    "step" | "deviation" | "variation" | "alignedDeviation" | "alignedVariation" | "distortion",
    number
  > & { ownObjective: number[]; centroids: Rows[] };
}

const folder = new URL("../fixtures/methods/", import.meta.url);
const cases: Case[] = readdirSync(folder)
  .filter((file) => file.startsWith("gradient-"))
  .map((file) => JSON.parse(readFileSync(new URL(file, folder), "utf8")));

/** A device without points has no rows to tell its columns from. */
function matrices(sets: Rows[], cols: number): Matrix[] {
  return sets.map((rows) => (rows.length === 0 ? { data: new Float64Array(0), rows: 0, cols } : matrix(rows)));
}

function expectClose(got: readonly number[], expected: readonly number[], what: string): void {
  expect(got.length, what).toBe(expected.length);
  const apart = expected.map((value, i) => Math.abs(got[i] - value) / Math.max(1, Math.abs(value)));
  expect(Math.max(...apart), what).toBeLessThanOrEqual(1e-9);
}

describe("gradient: answers of an independent implementation", () => {
  it("has both cases", () => {
    expect(cases.length).toBe(2);
  });

  for (const { about, edges, points, start, pooled, cols, options, expected } of cases) {
    it(about, () => {
      const datasets = matrices(points, cols);
      const network = graph(points.length, edges);
      const reference = matrix(pooled);
      const model = gradient(datasets, network, { ...options, alpha: 0.5, init: matrices(start, cols) });
      const { centroids } = model;
      expect(model.rounds).toBe(options.rounds);
      expectClose([model.step], [expected.step], "step");
      expectClose(model.ownObjective, expected.ownObjective, "own objective after every round");
      expectClose(centroids.map(toRows).flat(2), expected.centroids.flat(2), "centroids");
      const measured = [
        globalCentroidDeviation(centroids, reference),
        consensusVariation(centroids, network),
        globalCentroidDeviation(centroids, reference, "transport"),
        consensusVariation(centroids, network, "transport"),
        distortion(datasets, centroids),
      ];
      const { deviation, variation, alignedDeviation, alignedVariation } = expected;
      const wanted = [deviation, variation, alignedDeviation, alignedVariation, expected.distortion];
      expectClose(measured, wanted, "GCD, CV, aligned, distortion");
      expect(model.objective).toBeCloseTo(objective(datasets, centroids, network, { alpha: 0.5 }), 9);
    });
  }
});

describe("gradient(datasets, graph, options)", () => {
  const { datasets } = paperData("iso", 6, 50, 2);
  const options = { k: 3, alpha: 1, seed: 2 };

  it("never raises its own objective", () => {
    forAllProblems("gradient descends", 100, ({ datasets, network, init, k, alpha, random }) => {
      const rho = 10 ** (4 * random() - 2);
      const exchanges = integerFrom(random, 1, 4);
      const { ownObjective } = gradient(datasets, network, { k, alpha, init, rho, exchanges, rounds: 12 });
      ownObjective.forEach((value, t) => {
        expect(Number.isFinite(value)).toBe(true);
        if (t > 0) expect(value).toBeLessThanOrEqual(ownObjective[t - 1] * (1 + 1e-12));
      });
    });
  });

  it("counts one tell for every exchange of every device, after the first of the start", () => {
    const model = gradient(datasets, ring(6), { ...options, rounds: 4, exchanges: 5 });
    expect(model.messages).toBe(6 * (1 + 4 * 5));
    expect(model.bytes).toBe(model.messages * 2 * (3 * 2 * 8));
    expect(model.history.length).toBe(5);
  });

  it("ends at a fixed point, and agrees the better the larger rho is", () => {
    const spread = [0.1, 1, 10].map((rho) => {
      const model = gradient(datasets, ring(6), { ...options, seeds: "aligned", rho, exchanges: 30, rounds: 20_000 });
      expect(model.converged).toBe(true);
      return consensusVariation(model.centroids, ring(6));
    });
    expect(spread[1]).toBeLessThan(spread[0]);
    expect(spread[2]).toBeLessThan(spread[1]);
  });

  it("alone, without any link, goes to the mean of the points", () => {
    const model = gradient([datasets[0]], path(1), { k: 1, alpha: 0, init: [matrix([[50, -50]])] });
    const { rows, data } = datasets[0];
    const mean = [0, 1].map((column) => data.reduce((sum, x, at) => sum + (at % 2 === column ? x : 0), 0) / rows);
    expect(model.converged).toBe(true);
    expectClose(toRows(model.centroids[0]).flat(), mean, "mean");
    expect([model.messages, model.bytes]).toEqual([0, 0]);
  });

  it("refuses what it cannot use, in one line", () => {
    const run = (more: object) => () => gradient(datasets, ring(6), { ...options, ...more });
    expect(run({ rho: 0 })).toThrow("rho must be a finite number above 0, got 0");
    expect(run({ exchanges: 0 })).toThrow("exchanges must be an integer of at least 1, got 0");
    expect(run({ seeds: "none" })).toThrow('seeds must be one of local, shared, aligned, got "none"');
  });
});
