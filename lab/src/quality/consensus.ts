// How near the devices come to pooled k-means, and in how few messages.

import { fit, globalCentroidDeviation, kmeans, methods } from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median, relativeCost, setting } from "./setting.ts";

/** 150 runs from the federated seed: agreement, the residual of a pooled Lloyd step, cost, and multipliers that sum to 0. */
export function consensusLevel(first: number): void {
  const rows = [50, 200, 800].map((points, p) => {
    const results = Array.from({ length: 50 }, (_, s) => consensusRun(first + 50 * p + s, points, s));
    const count = (ok: (result: (typeof results)[number]) => boolean) => `${results.filter(ok).length} of 50`;
    return [
      String(points),
      count(({ agreement, residual, rounds }) => agreement <= 1e-9 && residual <= 1e-9 && rounds <= 300),
      String(median(results.map(({ rounds }) => rounds))),
      String(Math.max(...results.map(({ rounds }) => rounds))),
      count(({ cost }) => cost <= 1 + 1e-4),
      Math.max(...results.map(({ cost }) => cost - 1)).toExponential(1),
      Math.max(...results.map(({ multipliers }) => multipliers)).toExponential(0),
      median(results.map(({ deviation }) => deviation)).toExponential(0),
      median(results.map(({ admm }) => admm)).toExponential(0),
    ];
  });
  print("consensus: iso, var and aniso in turn, p = 0.7, federated seed", [
    [
      "m",
      "agreed on a Lloyd point",
      "median rounds",
      "most",
      "cost within 1e-4 of pooled",
      "worst cost",
      "largest sum of p",
      "median GCD",
      "GCD of tuned ADMM at as many messages",
    ],
    ...rows,
  ]);
}

function consensusRun(seed: number, points: number, turn: number) {
  const { datasets, network, all, reference, cost } = setting(kinds[turn % 3], points, seed);
  const options = { k: 3, alpha: 1, seed, tol: 1e-12 };
  const { centroids, rounds, messages, multipliers } = methods.consensus(datasets, network, options);
  const step = kmeans(all, { k: 3, init: centroids[0], maxIter: 1 }).centroids;
  const admmRounds = Math.max(1, Math.floor(messages / 10) - 1);
  const admm = methods.distributed(datasets, network, {
    ...options,
    init: "federated",
    eta: "tuned",
    rounds: admmRounds,
  });
  const sums = multipliers[0].data.map((_, x) => Math.abs(multipliers.reduce((sum, { data }) => sum + data[x], 0)));
  return {
    agreement: Math.max(...centroids.map(({ data }) => largestDifference(data, centroids[0].data))),
    residual: largestDifference(step.data, centroids[0].data),
    cost: relativeCost({ all, cost }, centroids[0]),
    rounds,
    multipliers: Math.max(...sums),
    deviation: globalCentroidDeviation(centroids, reference),
    admm: globalCentroidDeviation(admm.centroids, reference),
  };
}

function largestDifference(a: Float64Array, b: Float64Array): number {
  return a.reduce((largest, x, i) => Math.max(largest, Math.abs(x - b[i])), 0);
}

/** Rounds to within 1e-6 of the final objective, from each device's own k-means, with and without relaxation. */
export function relaxationPace(first: number): void {
  const rows = kinds.map((kind) => {
    const results = Array.from({ length: 50 }, (_, s) => {
      const { datasets, network } = setting(kind, 100, first + s);
      const options = {
        k: 3,
        alpha: 1,
        seed: first + s,
        init: "local",
        preset: "paper",
        passes: 1,
        tol: 1e-13,
        rounds: 20_000,
      } as const;
      const plain = fit(datasets, network, options);
      const relaxed = fit(datasets, network, { ...options, relaxation: "auto" });
      const reach = (model: typeof plain) =>
        model.history.findIndex(({ objective }) => objective <= plain.objective * (1 + 1e-6));
      const apart = Math.max(
        ...plain.centroids.map(({ data }, i) => largestDifference(data, relaxed.centroids[i].data)),
      );
      return { plain: reach(plain), relaxed: reach(relaxed), apart };
    });
    const same = results.filter(({ apart }) => apart <= 1e-9);
    return [
      kind,
      String(median(results.map(({ plain }) => plain))),
      String(median(results.map(({ relaxed }) => relaxed))),
      median(results.map(({ plain, relaxed }) => plain / relaxed)).toFixed(1),
      Math.min(...results.map(({ plain, relaxed }) => plain / relaxed)).toFixed(1),
      `${same.length} of ${results.length}`,
    ];
  });
  print("relaxation: median rounds to within 1e-6 of the final objective, m = 100, p = 0.7, alpha = 1, 50 runs", [
    ["data", "without", "auto", "fewer by", "at least", "same fixed point to 1e-9"],
    ...rows,
  ]);
}
