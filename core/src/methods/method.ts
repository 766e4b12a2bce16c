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
  /** Start of `distributed` and `gradient`: each device's own, one for all, or own ones in one common order. Default "own". */
  seeds?: "own" | "shared" | "aligned";
  /** Step of `consensus` in sweeps, which it makes from any but the federated start, and where `beta`, `settle` or
   *  `passes` is given; otherwise its rounds are exact sums. Default from the graph. */
  beta?: number;
  /** Sweep of `consensus` (from 0) whose labels are kept until the devices agree; false: none. Default 40. */
  settle?: number | false;
}

export type Method = (datasets: readonly Matrix[], graph: Graph, options: MethodOptions) => FitModel;

/** By what a method's result is judged. Checked here: a wrong one is refused before the work, not after it. */
export function judgedBy(options: MethodOptions): JudgedBy {
  const { alpha, coupling = defaults.coupling, weighting = defaults.weighting } = options;
  checkAtLeastZero("alpha", alpha);
  checkOneOf("coupling", coupling, couplings);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  return { alpha, coupling, weighting };
}

/** The model of a method without rounds: its centroids, judged by the same objective as the others. */
export function modelWithoutRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  judged: JudgedBy,
  { centroids, traffic }: { readonly centroids: readonly Matrix[]; readonly traffic: Traffic },
): FitModel {
  const summary = {
    round: 0,
    ...objectiveOf(datasets, centroids, graph, judged),
    largestMove: 0,
    ...traffic,
  };
  return { centroids, objective: summary.objective, rounds: 0, converged: true, ...traffic, history: [summary] };
}
