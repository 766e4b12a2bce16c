// Distributed k-means (Forero, Cano and Giannakis 2011): label-wise hard consensus by ADMM, all devices at once.

import { checkNetwork, checkNumber, checkOneOf } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { drainRounds, type FitModel, type Round, runRounds } from "../fit/fit.ts";
import {
  commitNetworkUpdate,
  createNetwork,
  largestNetworkCoordinate,
  type NetworkState,
  networkCentroids,
  refreshNetworkStatistics,
} from "../fit/network.ts";
import type { Graph } from "../graph/graph.ts";
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

/** Options of `methods.distributed`. */
export interface DistributedOptions extends RoundsMethodOptions, Pick<MethodOptions, "eta" | "seeds"> {}

/** What `methods.distributed` found. */
export interface DistributedModel extends FitModel {
  readonly eta: number;
  /** p: private to each device, never sent; they sum to 0 over the devices. */
  readonly multipliers: readonly Matrix[];
}

export function distributed(datasets: readonly Matrix[], graph: Graph, options: DistributedOptions): DistributedModel {
  return drainRounds(distributedRounds(datasets, graph, options));
}

distributed.takes = { ...roundsOptions, eta: ["number", "tuned"], seeds: seedOrders };

/**
 * A round at a time, as `fitRounds`. Edge weights have no part in it: every link counts the same.
 * @example [...distributedRounds(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3, rounds: 2 })].length // 3
 */
export function distributedRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  options: DistributedOptions,
): Generator<Round, DistributedModel, void> {
  checkMethodOptions(options);
  const { eta: wanted = 2, seeds = "local", rounds = defaults.rounds, signal } = options;
  checkOneOf("seeds", seeds, seedOrders);
  if (wanted !== "tuned") checkNumber("eta", wanted, (value) => value > 0, 'a finite number above 0, or "tuned"');
  checkNetwork(datasets, graph);
  const state = createNetwork(datasets, graph, options, roundsSettings(options));
  orderMethodSeeds(state, seeds);
  const eta = wanted === "tuned" ? tunedEta(datasets, graph, state.k) : wanted;
  const multipliers = new Float64Array(state.sets.data.length);
  const loop = runRounds(state, () => runAdmmRound(state, multipliers, eta), { most: rounds, signal });
  return withMethodParts(loop, () => ({ eta, multipliers: networkCentroids(state, multipliers) }));
}

/** The loop, whose model gets further parts at its end. */
export function* withMethodParts<Parts extends object>(
  loop: Generator<Round, FitModel, void>,
  partsAtEnd: () => Parts,
): Generator<Round, FitModel & Parts, void> {
  return Object.assign(yield* loop, partsAtEnd());
}

/** mean(m) / (2 k sqrt(l2 ln)): the step that suits the graph, where the paper's is the same for all. */
function tunedEta(datasets: readonly Matrix[], graph: Graph, k: number): number {
  const extremes = unweightedLaplacianExtremes(graph);
  const pace = extremes === undefined ? 1 : Math.sqrt(extremes.smallest * extremes.largest);
  const meanRows = datasets.reduce((sum, { rows }) => sum + rows, 0) / datasets.length;
  return meanRows / (2 * k * pace);
}

function runAdmmRound(state: NetworkState, /* IN OUT */ multipliers: Float64Array, eta: number) {
  const { size } = state.graph;
  for (let j = 0; j < size; j++) moveToConsensus(state, multipliers, eta, j);
  let largestMove = 0;
  let scale = 0;
  for (let j = 0; j < size; j++) {
    largestMove = Math.max(largestMove, commitNetworkUpdate(state, j));
    scale = Math.max(scale, largestNetworkCoordinate(state, j));
  }
  let disagreement = 0;
  for (let j = 0; j < size; j++) {
    refreshNetworkStatistics(state, j);
    disagreement = Math.max(disagreement, stepAdmmMultipliers(state, multipliers, eta, j, false));
  }
  // Multipliers stand still only in agreement, so a still round alone is no end.
  return { largestMove, converged: Math.max(largestMove, disagreement) <= state.settings.tol * scale };
}

/** m(j,c) <- [S - p + eta sum_i (m(j,c) + m(i,c))] / [N + 2 eta |N(j)|], from what everyone sent last. */
function moveToConsensus(
  { links, k, sets, counts, sums, updated }: NetworkState,
  p: Float64Array,
  eta: number,
  j: number,
) {
  const { data, cols } = sets;
  const length = k * cols;
  const [first, end] = [links.starts[j], links.starts[j + 1]];
  const degree = end - first;
  for (let c = 0; c < k; c++) {
    const weight = counts[j * k + c] + 2 * eta * degree;
    for (let x = c * cols; x < (c + 1) * cols; x++) {
      const at = j * length + x;
      let around = degree * data[at];
      for (let n = first; n < end; n++) around += data[links.devices[n] * length + x];
      updated[at] = weight > 0 ? (sums[at] - p[at] + eta * around) / weight : data[at];
    }
  }
}

/**
 * p(j,c) <- p(j,c) + step sum_i A(j, i) (m(j,c) - m(i,c)), or with every link counted the same; returns the largest difference to
 * a neighbour.
 */
export function stepAdmmMultipliers(
  { links, k, sets }: NetworkState,
  /* IN OUT */ p: Float64Array,
  step: number,
  j: number,
  isWeighted: boolean,
): number {
  const { data, cols } = sets;
  const length = k * cols;
  const [first, end] = [links.starts[j], links.starts[j + 1]];
  let largest = 0;
  for (let x = 0; x < length; x++) {
    const own = data[j * length + x];
    let sum = 0;
    for (let n = first; n < end; n++) {
      const difference = own - data[links.devices[n] * length + x];
      const gap = Math.abs(difference);
      if (gap > largest) largest = gap;
      sum += isWeighted ? links.weights[n] * difference : difference;
    }
    p[j * length + x] += step * sum;
  }
  return largest;
}
