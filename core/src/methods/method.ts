// What every method takes and gives, so that they can be compared on one problem.

import type { FitModel, FitOptions } from "../fit.ts";
import type { Graph } from "../graph.ts";
import type { Matrix } from "../matrix.ts";
import { objective, totalVariation } from "../measures.ts";

export interface MethodOptions extends Omit<FitOptions, "k"> {
  /** Clusters of every device: only `fit` takes a list. */
  k: number;
  /** Step of `distributed`: a number, or "tuned" from the graph. Default 2, the paper's. */
  eta?: number | "tuned";
  /** Start of `distributed` and `gradient`: each device's own, one for all, or own ones in one common order. Default "own". */
  seeds?: "own" | "shared" | "aligned";
  /** Step of `consensus`. Default from the graph. */
  beta?: number;
  /** Sweep of `consensus` (from 0) whose labels are kept until the devices agree; false: none. Default 40. */
  settle?: number | false;
}

export type Method = (datasets: readonly Matrix[], graph: Graph, options: MethodOptions) => FitModel;

/** The model of a method without rounds: its centroids, judged by the same objective as the others. */
export function modelWithoutRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  options: MethodOptions,
  centroids: readonly Matrix[],
  traffic: { readonly messages: number; readonly bytes: number },
): FitModel {
  const summary = {
    round: 0,
    objective: objective(datasets, centroids, graph, options),
    totalVariation: totalVariation(centroids, graph, options.coupling),
    largestMove: 0,
    ...traffic,
  };
  return { centroids, objective: summary.objective, rounds: 0, converged: true, ...traffic, history: [summary] };
}
