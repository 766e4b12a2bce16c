// The level that Algorithm 1 reaches in the paper's setting, against the tables of an independent implementation.

import { erdosRenyi, fit, globalCentroidDeviation, methods, paperData, randomStream } from "@fedkm/core";
import { expect, it } from "vitest";

const SEEDS = 10;

for (const [points, expected] of [
  [100, 5.8e-5],
  [800, 5.3e-6],
]) {
  it(`iso, m = ${points}, p = 0.7, alpha = 1, 200 cyclic rounds: mean GCD within a factor 2 of ${expected}`, () => {
    let mean = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { datasets } = paperData("iso", 10, points, seed);
      const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
      const options = { k: 3, alpha: 1, seed, rounds: 200, preset: "paper", init: "local" } as const;
      const [reference] = methods.pooled(datasets, network, options).centroids;
      mean += globalCentroidDeviation(fit(datasets, network, options).centroids, reference) / SEEDS;
    }
    console.log(`m = ${points}: mean GCD ${mean.toExponential(2)} over ${SEEDS} seeds, the study's ${expected}`);
    expect(mean / expected).toBeGreaterThan(0.5);
    expect(mean / expected).toBeLessThan(2);
  });
}
