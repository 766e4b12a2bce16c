// How near the devices come to pooled k-means, in how few messages, and whether strongly coupled runs settle.

import {
  complete,
  erdosRenyi,
  type FitModel,
  fit,
  type Graph,
  globalCentroidDeviation,
  kmeans,
  type Matrix,
  methods,
  paperData,
  randomStream,
  ring,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median, relativeCost, setting } from "./problems.ts";

// Does a strongly coupled run settle, where does it end, and what does it send? Joint steps against rounds without them.

const SEEDS = 20;
const sizes = [10, 50, 100, 200];
const alphas = [0.1, 1, 10, 100, 1000, 10_000];

/** So many rounds without joint steps are enough for all of these. */
const MANY_ROUNDS = 20_000;

const networks: readonly ((seed: number) => Graph)[] = [
  ...[0.4, 0.7, 1].map((p) => (seed: number) => erdosRenyi(10, p, randomStream(seed, "graph"))),
  () => ring(10),
];

export function settling(first: number): void {
  const rows = alphas.map((alpha) => {
    const outcomes = Array.from({ length: SEEDS }, (_, s) => networks.map((make) => outcomeOf(first + s, make, alpha)));
    const all = outcomes.flat();
    const of = (count: number) => `${count} of ${all.length}`;
    const others = all.filter(({ apart }) => apart > 1e-9);
    return [
      String(alpha),
      of(all.filter(({ model }) => model.converged).length),
      String(median(all.map(({ model }) => model.rounds))),
      String(Math.max(...all.map(({ model }) => model.rounds))),
      of(all.filter(({ settlesAlone }) => settlesAlone).length),
      of(all.length - others.length),
      others.map(({ higher }) => higher.toExponential(0)).join(", "),
      of(all.filter(({ model }) => rises(model)).length),
    ];
  });
  print(`settling: iso, var and aniso, 10 to 200 points, p = 0.4, 0.7, 1 and a ring, ${SEEDS} seeds each`, [
    [
      ...["alpha", "settled", "median rounds", "most", "without joint steps"],
      ...["same fixed point to 1e-9", "else its objective is higher by", "rises"],
    ],
    ...rows,
  ]);
  settlingTraffic(first);
}

function outcomeOf(seed: number, make: (seed: number) => Graph, alpha: number) {
  const { datasets } = paperData(kinds[seed % 3], 10, sizes[seed % 4], seed);
  const options = { k: 3, alpha, seed };
  const model = fit(datasets, make(seed), options);
  const alone = { ...options, jointSteps: false };
  const long = fit(datasets, make(seed), { ...alone, tol: 1e-14, rounds: MANY_ROUNDS });
  return {
    model,
    settlesAlone: fit(datasets, make(seed), alone).converged,
    apart: apart(model.centroids, long.centroids),
    higher: model.objective / long.objective - 1,
  };
}

/** Largest difference of a coordinate, relative to the largest. */
function apart(a: readonly Matrix[], b: readonly Matrix[]): number {
  const [left, right] = [a, b].map((sets) => sets.flatMap(({ data }) => Array.from(data)));
  const scale = Math.max(...right.map(Math.abs));
  return Math.max(...left.map((x, at) => Math.abs(x - right[at]))) / scale;
}

function rises({ history }: FitModel): boolean {
  return history.some(({ objective }, t) => t > 0 && objective > history[t - 1].objective * (1 + 1e-12));
}

/** Joint steps cost sums over the network, which take long ways on a long ring. */
function settlingTraffic(seed: number): void {
  const cases: readonly (readonly [string, number, Graph])[] = [
    ["10 devices, p = 0.4", 10, erdosRenyi(10, 0.4, randomStream(seed, "graph"))],
    ["40 devices, all linked", 40, complete(40)],
    ["a ring of 200", 200, ring(200)],
  ];
  const rows = cases.flatMap(([name, devices, network]) =>
    [10, 100, 10_000].map((alpha) => {
      const { datasets } = paperData("iso", devices, 50, seed);
      const [joint, alone] = [true, false].map((jointSteps) =>
        fit(datasets, network, { k: 3, alpha, seed, jointSteps, rounds: MANY_ROUNDS }),
      );
      const figures = ({ rounds, messages, bytes }: FitModel) =>
        [rounds, messages, Math.round(bytes / 1000)].map(String);
      return [name, String(alpha), ...figures(joint), ...figures(alone)];
    }),
  );
  const figures = ["rounds", "messages", "kB"];
  print("what settling takes: iso, 50 points, with joint steps and without, the start included", [
    ["network", "alpha", ...figures, ...figures.map((name) => `${name} without`)],
    ...rows,
  ]);
}

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
