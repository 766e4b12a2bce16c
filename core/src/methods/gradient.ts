// DGC-KM (Armacki, Bajovic, Jakovetic and Kar 2025): label-wise gradient steps towards the points and the neighbours.

import { checkInteger, checkNetwork, checkNumber, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { largestDifference, type Matrix, squaredDistance } from "../data/matrix.ts";
import { drainRounds, type FitModel, runRounds } from "../fit/fit.ts";
import {
  commitNetworkUpdate,
  createNetwork,
  largestNetworkCoordinate,
  type NetworkState,
  refreshNetworkStatistics,
} from "../fit/network.ts";
import { edges, type Graph } from "../graph/graph.ts";
import { unweightedLaplacianExtremes } from "../graph/spectrum.ts";
import {
  checkMethodOptions,
  type MethodOptions,
  orderMethodSeeds,
  type RoundsMethodOptions,
  roundsOptions,
  roundsSettings,
  seedOrders,
} from "./method.ts";

/** Options of `methods.gradient`. */
export interface GradientOptions extends RoundsMethodOptions, Pick<MethodOptions, "seeds"> {
  /** How much agreement counts against the points: they agree as it grows. Default 1. */
  rho?: number | undefined;
  /** Steps, each with one exchange, before points are labelled anew. Default 3. */
  exchanges?: number | undefined;
}

/** What `methods.gradient` found. */
export interface GradientModel extends FitModel {
  readonly step: number;
  /** What the steps descend on, before the first round and after every one: see `ownObjective`. */
  readonly ownObjective: readonly number[];
}

/** Edge weights have no part in it: every link counts the same. */
export function gradient(datasets: readonly Matrix[], graph: Graph, options: GradientOptions): GradientModel {
  checkMethodOptions(options);
  const { rho = 1, exchanges = 3, seeds = "local", rounds = defaults.rounds, signal } = options;
  checkNumber("rho", rho, (value) => value > 0, "a finite number above 0");
  checkInteger("exchanges", exchanges, 1);
  checkOneOf("seeds", seeds, seedOrders);
  checkNetwork(datasets, graph);
  const state = createNetwork(datasets, graph, options, roundsSettings(options));
  orderMethodSeeds(state, seeds);
  const total = datasets.reduce((sum, { rows }) => sum + rows, 0);
  const most = datasets.reduce((largest, { rows }) => Math.max(largest, rows), 0);
  const pointWeight = 1 / (rho * total);
  const step = safeStep(graph, most * pointWeight);
  const advance = () => runGradientRound(state, exchanges, step, step * pointWeight);
  const loop = runRounds(state, advance, { most: rounds, signal });
  const reached: number[] = [];
  const model = drainRounds(loop, () => reached.push(ownObjective(state, pointWeight)));
  return Object.assign(model, { step, ownObjective: reached });
}

gradient.takes = { ...roundsOptions, rho: ["number"], exchanges: ["number"], seeds: seedOrders };

/** 0.9 over a bound on the curvature: of the points (all of the largest device in one cluster) plus of the links. */
function safeStep(graph: Graph, pointCurvature: number): number {
  return 0.9 / (pointCurvature + (unweightedLaplacianExtremes(graph)?.largest ?? 0));
}

/** Labels are those of the round's start throughout; in every exchange every device sends once. */
function runGradientRound(state: NetworkState, exchanges: number, step: number, pointStep: number) {
  const { size } = state.graph;
  const before = state.sets.data.slice();
  for (let exchange = 0; exchange < exchanges; exchange++) {
    for (let i = 0; i < size; i++) stepDevice(state, i, step, pointStep);
    for (let i = 0; i < size; i++) commitNetworkUpdate(state, i);
  }
  let scale = 0;
  for (let i = 0; i < size; i++) {
    refreshNetworkStatistics(state, i);
    scale = Math.max(scale, largestNetworkCoordinate(state, i));
  }
  const largestMove = largestDifference(state.sets.data, before);
  return { largestMove, converged: largestMove <= state.settings.tol * scale };
}

/** x(i,c) <- (1 - s [V / rho + deg]) x(i,c) + (s / rho) S + s sum_j x(j,c), V and S weighing a point 1 / sum m. */
function stepDevice(state: NetworkState, i: number, step: number, pointStep: number): void {
  const { graph, k, sets, counts, sums, updated } = state;
  const { data, cols } = sets;
  const links = graph.neighbours[i];
  for (let c = 0; c < k; c++) {
    const kept = 1 - pointStep * counts[i * k + c] - step * links.length;
    for (let x = 0; x < cols; x++) {
      const at = (i * k + c) * cols + x;
      let around = 0;
      for (const j of links) around += data[(j * k + c) * cols + x];
      updated[at] = kept * data[at] + pointStep * sums[at] + step * around;
    }
  }
}

/** 1/2 sum over the edges and labels of |x(i,c) - x(j,c)|^2 + 1 / (2 rho sum m) times the loss of all points. */
function ownObjective({ graph, sets, k, losses }: NetworkState, pointWeight: number): number {
  const length = k * sets.cols;
  let apart = 0;
  for (const [i, j] of edges(graph)) apart += squaredDistance(sets.data, i * length, sets.data, j * length, length);
  const loss = losses.reduce((sum, own) => sum + own, 0);
  return (apart + pointWeight * loss) / 2;
}
