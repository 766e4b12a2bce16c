import {
  consensusRounds,
  globalCentroidDeviation,
  graph,
  kmeans,
  methods,
  paperData,
  path,
  ring,
  splitBySizes,
  stack,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { runs } from "../../../test/runs.ts";
import { forAllProblems } from "../problems.ts";

describe("methods.consensus", () => {
  it("ends at a fixed point of pooled k-means, the same on every device, also with unequal sizes", () => {
    for (let seed = 1; seed <= 10; seed++) {
      const drawn = paperData("var", 1, 400, seed);
      const sizes = [10, 20, 30, 40, 60, 60, 80, 100];
      const { datasets } = splitBySizes({ points: drawn.datasets[0], labels: drawn.labels[0] }, sizes, seed);
      const model = methods.consensus(datasets, ring(8), { k: 3, alpha: 1, seed });
      expect(model.converged).toBe(true);
      const again = kmeans(stack(datasets), { k: 3, init: model.centroids[0], maxIter: 1 }).centroids;
      for (const { data } of model.centroids) {
        data.forEach((x, i) => {
          expect(Math.abs(x - again.data[i])).toBeLessThan(1e-9);
        });
      }
    }
  });

  it("the multipliers of every cluster sum to 0 over each component", () => {
    forAllProblems(
      "consensus multipliers",
      runs({ short: 100, long: 1000 }),
      ({ datasets, network, init, k, cols, alpha }) => {
        const { multipliers } = methods.consensus(datasets, network, { k, alpha, init, rounds: 20 });
        for (let x = 0; x < k * cols; x++) {
          const sum = multipliers.reduce((total, { data }) => total + data[x], 0);
          const size = multipliers.reduce((total, { data }) => total + Math.abs(data[x]), 1);
          expect(Math.abs(sum) / size).toBeLessThanOrEqual(1e-12);
        }
      },
    );
  });

  it("agrees on the pooled solution of each component where the network is apart", () => {
    const { datasets } = paperData("iso", 4, 90, 2);
    const model = methods.consensus(
      datasets,
      graph(4, [
        [0, 1],
        [2, 3],
      ]),
      { k: 3, alpha: 1 },
    );
    for (const half of [
      [0, 1],
      [2, 3],
    ]) {
      const [reference] = methods.pooled(
        half.map((i) => datasets[i]),
        path(2),
        { k: 3, alpha: 1 },
      ).centroids;
      expect(
        globalCentroidDeviation(
          half.map((i) => model.centroids[i]),
          reference,
        ),
      ).toBeLessThan(1e-20);
    }
  });

  it("is average consensus for k = 1", () => {
    const { datasets } = paperData("iso", 5, 40, 3);
    const { centroids } = methods.consensus(datasets, path(5), { k: 1, alpha: 1, init: "local" });
    const { data } = kmeans(stack(datasets), { k: 1 }).centroids;
    for (const own of centroids) expect(Math.hypot(own.data[0] - data[0], own.data[1] - data[1])).toBeLessThan(1e-9);
  });

  it("consensusRounds yields the sweeps that consensus runs", () => {
    const { datasets } = paperData("aniso", 6, 50, 4);
    const options = { k: 3, alpha: 1, seed: 4, init: "local", rounds: 4 } as const;
    const rounds = [...consensusRounds(datasets, ring(6), options)];
    expect(rounds.map(({ round }) => round)).toEqual([0, 1, 2, 3, 4]);
    expect(rounds[4].centroids).toEqual(methods.consensus(datasets, ring(6), options).centroids);
  });

  it("refuses a step of 0 and a settle that is no sweep", () => {
    const { datasets } = paperData("iso", 3, 20, 1);
    const run = (options: object) => () => methods.consensus(datasets, path(3), { k: 2, alpha: 1, ...options });
    expect(run({ beta: 0 })).toThrow("beta must be a finite number above 0, got 0");
    expect(run({ settle: -1 })).toThrow("settle must be an integer of at least 0, got -1");
  });
});
