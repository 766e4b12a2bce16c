// One problem, five methods: the demo's devices, what each method made of them, and how it got there.

import {
  consensusVariation,
  distributedRounds,
  erdosRenyi,
  type FitModel,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  methods,
  paperData,
  type Round,
  randomStream,
} from "@fedkm/core";

/** From nothing sent to everything sent. */
export const methodNames = ["local", "fedkm", "consensus", "distributed", "pooled"] as const;

export type MethodName = (typeof methodNames)[number];

interface MethodResult {
  readonly model: FitModel;
  /** GCD against the pooled solution. */
  readonly deviation: number;
  /** CV between neighbours. */
  readonly variation: number;
  readonly milliseconds: number;
}

/** GCD after some rounds, and what had been sent by then. */
export interface CurvePoint {
  readonly round: number;
  readonly messages: number;
  readonly deviation: number;
}

export interface Comparison {
  readonly problem: Problem;
  /** The pooled solution. */
  readonly reference: Matrix;
  readonly results: Readonly<Record<MethodName, MethodResult>>;
  readonly curves: Readonly<Record<"fedkm" | "distributed", readonly CurvePoint[]>>;
}

export interface Problem {
  readonly seed: number;
  readonly k: number;
  readonly alpha: number;
  /** At most. */
  readonly rounds: number;
  /** Algorithm 1 as it stands, from each device's own k-means: what the curves show is the method, not a clever start. */
  readonly preset: "paper";
  readonly init: "local";
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
}

export const LINK_PROBABILITY = 0.7;

/** Ten devices with 100 of the paper's iso points each, linked as G(10, 0.7). */
export function demoProblem(seed: number): Problem {
  const { datasets } = paperData("iso", 10, 100, seed);
  const graph = erdosRenyi(10, LINK_PROBABILITY, randomStream(seed, "graph"));
  return { seed, k: 3, alpha: 1, rounds: 200, preset: "paper", init: "local", datasets, graph };
}

export function compare(problem: Problem, onRound: (round: Round) => void): Comparison {
  const { datasets, graph, ...options } = problem;
  // Compiling the code is no part of any method, so each runs once before it is timed.
  for (const name of methodNames) methods[name](datasets, graph, options);
  const pooled = timed(() => {
    const model = methods.pooled(datasets, graph, options);
    // Pooling as the reader knows it: all records go to one place.
    return { ...model, ...model.collector };
  });
  const reference = pooled.model.centroids[0];
  const rounds = { fedkm: [] as Round[], distributed: [] as Round[] };
  const measured = ({ model, milliseconds }: Timed): MethodResult => ({
    model,
    deviation: globalCentroidDeviation(model.centroids, reference),
    variation: consensusVariation(model.centroids, graph),
    milliseconds,
  });
  const results = {
    local: measured(timed(() => methods.local(datasets, graph, options))),
    fedkm: measured(
      timed(() =>
        drain(fitRounds(datasets, graph, options), (round) => {
          rounds.fedkm.push(round);
          onRound(round);
        }),
      ),
    ),
    // Its own start: one common seed is what it stands on.
    consensus: measured(timed(() => methods.consensus(datasets, graph, { ...options, init: "federated" }))),
    distributed: measured(
      timed(() => drain(distributedRounds(datasets, graph, options), (round) => rounds.distributed.push(round))),
    ),
    pooled: measured(pooled),
  };
  const curve = (path: readonly Round[]) => path.map((round) => curvePoint(round, reference));
  const curves = { fedkm: curve(rounds.fedkm), distributed: curve(rounds.distributed) };
  return { problem, reference, results, curves };
}

interface Timed {
  readonly model: FitModel;
  readonly milliseconds: number;
}

function timed(work: () => FitModel): Timed {
  const start = performance.now();
  const model = work();
  return { model, milliseconds: performance.now() - start };
}

function drain(loop: Generator<Round, FitModel, void>, onRound: (round: Round) => unknown): FitModel {
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    onRound(step.value);
  }
}

function curvePoint({ round, messages, centroids }: Round, reference: Matrix): CurvePoint {
  return { round, messages, deviation: globalCentroidDeviation(centroids, reference) };
}
