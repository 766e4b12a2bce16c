// fit with guarded rows: what is sent, what it costs, and what is refused.

import { describe, expect, it } from "vitest";
import { paperData } from "../../src/data/datasets.ts";
import { stack } from "../../src/data/matrix.ts";
import { randomStream } from "../../src/data/random.ts";
import { fit, fitRounds } from "../../src/fit/fit.ts";
import type { FitOptions } from "../../src/fit/fitOptions.ts";
import { complete, erdosRenyi } from "../../src/graph/families.ts";
import { kernelStatistics } from "../../src/kernel/kernel.ts";
import { fastKernel } from "../../src/kernel/wasm.ts";
import { globalCentroidDeviation, objective } from "../../src/measures/measures.ts";
import { kmeans } from "../../src/start/kmeans.ts";

const graph = erdosRenyi(6, 0.7, randomStream(1, "graph"));
const { datasets } = paperData("var", 6, 100, 3);
const guarded: FitOptions = { k: 3, alpha: 1, privacy: "guarded", seed: 1 };

describe("fit with privacy guarded", () => {
  it("says what it held back, and keeps classes of at least the minimum", () => {
    const { guarded: summary, converged } = fit(datasets, graph, guarded);
    expect(converged).toBe(true);
    expect(summary?.minimum).toBe(10);
    expect(summary?.smallestClass).toBeGreaterThanOrEqual(10);
    expect(summary?.rowsHeldBack).toBeLessThan(30);
    expect(summary?.rowsLeftOut).toBe(0);
    expect(fit(datasets, graph, { k: 3, alpha: 1 })).not.toHaveProperty("guarded");
  });

  it("says the objective and the inertia of its centroids, in which every row counts with its nearest one", () => {
    const [all] = paperData("var", 1, 160, 1).datasets;
    const parts = [0, 1, 2, 3].map((i) => ({ data: all.data.slice(80 * i, 80 * (i + 1)), rows: 40, cols: 2 }));
    const { objective: reached, inertia, history, centroids, guarded: summary } = fit(parts, complete(4), guarded);
    expect(summary?.rowsHeldBack).toBeGreaterThan(0);
    expect(reached / objective(parts, centroids, complete(4), { alpha: 1 })).toBeCloseTo(1, 12);
    expect(history.at(-1)?.objective).toBe(reached);
    const losses = parts.map((points, i) => kernelStatistics(fastKernel.prepare(points), centroids[i]).loss);
    expect(inertia / losses.reduce((sum, loss) => sum + loss, 0)).toBeCloseTo(1, 12);
  });

  it("comes nearer to the pooled answer than devices alone, from every start that it takes", () => {
    const pooled = kmeans(stack(datasets), { k: 3 }).centroids;
    const alone = globalCentroidDeviation(fit(datasets, graph, { ...guarded, alpha: 0 }).centroids, pooled);
    for (const init of ["federated", "local", datasets.map(() => pooled)] as const) {
      const { centroids } = fit(datasets, graph, { ...guarded, init });
      expect(globalCentroidDeviation(centroids, pooled)).toBeLessThan(alone / 10);
    }
  });

  it("is at most twice as far from the pooled answer as open runs are, in the median of 11 networks", () => {
    const found = Array.from({ length: 11 }, (_, seed) => {
      const { datasets: drawn } = paperData("var", 10, 200, seed);
      const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
      const pooled = kmeans(stack(drawn), { k: 3, seed }).centroids;
      return [guarded, { k: 3, alpha: 1 }].map((options) =>
        globalCentroidDeviation(fit(drawn, network, { ...options, seed }).centroids, pooled),
      );
    });
    const [own, open] = [0, 1].map((at) => found.map((pair) => pair[at]).sort((a, b) => a - b)[5]);
    expect(own).toBeLessThan(2 * open);
  });

  it("sends no row, and no mean of fewer rows than the minimum, where a device's own k-means has such a cluster", () => {
    const near = { data: datasets[0].data.slice(), rows: 100, cols: 2 };
    const far = [40, 40, 40.5, 40, 40, 40.5];
    near.data.set(far, 0);
    const other = [near, ...datasets.slice(1)];
    for (const init of ["federated", "local"] as const) {
      for (const { centroids } of fitRounds(other, graph, { ...guarded, k: 4, init })) {
        for (let c = 0; c < 4; c++) expect(centroids[0].data[2 * c]).toBeLessThan(30);
      }
    }
  });

  it("lets a device with too few rows to hide in follow without them", () => {
    const few = { data: datasets[0].data.slice(0, 58), rows: 29, cols: 2 };
    const { guarded: summary, centroids } = fit([few, ...datasets.slice(1)], graph, guarded);
    expect(summary?.rowsLeftOut).toBe(29);
    expect(centroids[0].rows).toBe(3);
  });

  it("refuses what would send rows, losses or sums over the network", () => {
    const said = (options: Partial<FitOptions>) => () => fit(datasets, graph, { ...guarded, ...options });
    expect(said({ init: "auto" })).toThrow('init must be "federated", "local" or a matrix');
    expect(said({ init: "kmeans++" })).toThrow("init must be");
    expect(said({ empty: "farthest" })).toThrow("empty must be");
    expect(said({ freshStarts: 1 })).toThrow("freshStarts must be 0");
    expect(said({ jointSteps: true })).toThrow("jointSteps must be false");
    expect(said({ penalty: "norm", init: "local" })).toThrow("penalty must be");
    expect(said({ relaxation: 1.5 })).toThrow("relaxation must be 1");
    expect(said({ minimum: 1 })).toThrow("minimum must be");
    expect(said({ privacy: "private" as "open" })).toThrow("privacy must be");
  });
});

describe("a neighbour that knows all other centroids", () => {
  it("never sees coordinates finer than the grid", () => {
    const pair = complete(2);
    const two = datasets.slice(0, 2);
    const rounds = [...fitRounds(two, pair, { ...guarded, init: "local" })];
    const all = stack(two);
    for (const column of [0, 1]) {
      const values = Array.from({ length: all.rows }, (_, r) => all.data[2 * r + column]);
      const step = (Math.max(...values) - Math.min(...values)) * 2 ** -20;
      for (const { centroids } of rounds) {
        for (let c = 0; c < 3; c++) {
          const steps = centroids[0].data[2 * c + column] / step;
          expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-3);
        }
      }
    }
  });
});
