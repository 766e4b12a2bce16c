// Does a strongly coupled run settle, where does it end, and what does it send? Joint steps against rounds without them.

import {
  complete,
  erdosRenyi,
  type FitModel,
  fit,
  type Graph,
  type Matrix,
  paperData,
  randomStream,
  ring,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median } from "./setting.ts";

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
