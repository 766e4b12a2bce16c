// What every method takes and gives, so that they can be compared on one problem.

import { checkAtLeastZero, checkOneOf } from "../check.ts";
import { couplings } from "../coupling.ts";
import { defaults } from "../defaults.ts";
import type { FitModel, FitOptions } from "../fit.ts";
import type { Graph } from "../graph.ts";
import type { Matrix } from "../matrix.ts";
import { type JudgedBy, objectiveOf } from "../objective.ts";
import type { Traffic } from "../traffic.ts";

export interface MethodOptions extends Omit<FitOptions, "k"> {
  /** Clusters of every device: only `fit` takes a list. */
  k: number;
  /** Step of `distributed`: a number, or "tuned" from the graph. Default 2, the paper's. */
  eta?: number | "tuned";
  /**
   * Start of the methods that go cluster by cluster: each device's own, one for all, or own ones in one common order.
   * Default "own" for `distributed` and `gradient`, "shared" for `lsp2p` and `epidemic`, whose originals have one start.
   */
  seeds?: "own" | "shared" | "aligned";
  /** Step of `consensus` in sweeps, which it makes from any but the federated start, and where `beta`, `settle` or
   *  `passes` is given; otherwise its rounds are exact sums. Default from the graph. */
  beta?: number;
  /** Sweep of `consensus` (from 0) whose labels are kept until the devices agree; false: none. Default 40. */
  settle?: number | false;
}

export interface MethodModel extends FitModel {
  /**
   * What it would have cost with a collector one hop from everybody; `messages` and `bytes` are those of the network.
   * Absent where a method needs no place that everything reaches.
   */
  readonly collector?: Traffic;
}

/** How an option may look as text: words, of which true and false stand for themselves, and "number" for any number. */
export type SettableOptions = { readonly [option: string]: readonly string[] };

export interface Method {
  (datasets: readonly Matrix[], graph: Graph, options: MethodOptions): MethodModel;
  /** What leaves a device, in words. Default "centroids". */
  readonly travels?: string;
  /** The options that may be set by name. A method that says nothing takes any. */
  readonly settable?: SettableOptions;
}

/** What methods that start their devices by `startNetwork` have in common. */
export const settableStart = {
  init: ["auto", "federated", "local", "kmeans++", "classic kmeans++"],
  restarts: ["number"],
  minimum: ["number"],
  tol: ["number"],
} as const;

/** By what a method's result is judged. Checked here: a wrong one is refused before the work, not after it. */
export function judgedBy(options: MethodOptions): JudgedBy {
  const { alpha, coupling = defaults.coupling, weighting = defaults.weighting } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  return { alpha, coupling, weighting, penalty: "squared" };
}

/** The model of a method without rounds: its centroids, judged by the same objective as the others. */
export function modelWithoutRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  judged: JudgedBy,
  reached: { readonly centroids: readonly Matrix[]; readonly traffic: Traffic; readonly collector?: Traffic },
): MethodModel {
  const { centroids, traffic, collector } = reached;
  const summary = {
    round: 0,
    ...objectiveOf(datasets, centroids, graph, judged),
    largestMove: 0,
    ...traffic,
  };
  const { objective } = summary;
  const model = { centroids, objective, rounds: 0, converged: true, ...traffic, history: [summary] };
  return collector === undefined ? model : { ...model, collector };
}
