// Algorithm 1: federated k-means over a network, by minimising GTVMin one device update after the other.

import { checkArray, checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix, Points } from "../data/matrix.ts";
import { checkOptions } from "../data/optionNames.ts";
import { randomStream } from "../data/random.ts";
import { checkedRowWeights, type WeightedRows, weightedRows } from "../data/rowWeights.ts";
import type { Graph } from "../graph/graph.ts";
import { kernelStatistics } from "../kernel/kernel.ts";
import { labellingModel, type ModelRecord } from "../kernel/model.ts";
import { smallestClass } from "../privacy/classes.ts";
import { couplingVariation, type ScaledPenalty } from "../update/coupling.ts";
import { pullRatio } from "../update/updateOptions.ts";
import { type FitOptions, fitOptionNames, fitSettings } from "./fitOptions.ts";
import { createNetwork, type NetworkState, networkCentroids, type RoundResult, runRound } from "./network.ts";
import { roundOrders } from "./schedule.ts";
import { settlingOf } from "./settling.ts";

/** A round in numbers. Round 0 is the start: every device has sent its first centroids. */
export interface RoundSummary {
  readonly round: number;
  /** F: every device's loss per point (times u_i), plus alpha times the total variation. */
  readonly objective: number;
  /** GTV: the sum over the edges of A(i, j) d(W_i, W_j), or of its penalty. */
  readonly totalVariation: number;
  /** Largest change of any coordinate of any centroid in this round. */
  readonly largestMove: number;
  /** So far: how often a device sent to its neighbours, and the centroid bytes that crossed the links. */
  readonly messages: number;
  readonly bytes: number;
}

/** One round of `fitRounds`, while it runs. */
export interface Round extends RoundSummary {
  /** Every device's centroids after this round, a copy. */
  readonly centroids: readonly Matrix[];
}

/** What guarding rows cost. */
export interface GuardedSummary {
  readonly minimum: number;
  /** Rows that nothing sent tells apart, at least. */
  readonly smallestClass: number;
  /** Rows that count for another cluster than their nearest, because too few rows of their class moved. */
  readonly rowsHeldBack: number;
  /** Rows of devices that have fewer than k times `minimum` of them, and take part without rows. */
  readonly rowsLeftOut: number;
}

/** What `fit` found: the centroids of every device, and how it came to them. */
export interface FitModel extends Partial<ModelRecord> {
  readonly centroids: readonly Matrix[];
  readonly objective: number;
  /** The sum of squared distances from every point to the nearest centroid of its own device. */
  readonly inertia: number;
  readonly rounds: number;
  /**
   * Whether every device was visited since the last move above tol, relative to the largest coordinate (or twice the
   * points' range, where that is less), and a joint step, where there are any, would not move them either.
   */
  readonly converged: boolean;
  readonly messages: number;
  readonly bytes: number;
  /** The start and every round: rounds + 1 entries. */
  readonly history: readonly RoundSummary[];
  /** With its scale; absent where links cost their discrepancy. */
  readonly penalty?: ScaledPenalty;
  /** With privacy "guarded": what that cost, and what it kept. */
  readonly guarded?: GuardedSummary;
  /** For every device the cluster of each of its points, computed when asked. */
  labels(): readonly Uint32Array[];
}

/**
 * Algorithm 1 over a whole network in memory: every device's k-means, pulled towards its neighbours' centroids.
 * @example const { centroids } = fit(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3, alpha: 0.1 });
 */
export function fit(datasets: readonly Points[], graph: Graph, options: FitOptions): FitModel {
  checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "k and alpha");
  return fitOn(datasets, graph, options);
}

/** The same on data that were checked. */
export function fitOn(datasets: readonly Points[], graph: Graph, options: FitOptions): FitModel {
  return drainRounds(roundsOf(datasets, graph, options, false));
}

export function drainRounds<R, T>(loop: Generator<R, T, void>, onRound?: (round: R) => void): T {
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
    onRound?.(step.value);
  }
}

/**
 * The one loop, a round at a time, beginning with the start as round 0. Arguments are checked at once.
 * @example [...fitRounds(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3, alpha: 1, rounds: 2 })].length // 3
 */
export function fitRounds(
  datasets: readonly Points[],
  graph: Graph,
  options: FitOptions,
): Generator<Round, FitModel, void> {
  checkNetwork(datasets, graph);
  checkOptions(options, fitOptionNames, "k and alpha");
  return roundsOf(datasets, graph, options, true);
}

/** The rows that are clustered: as often, or as much, as their weights say. */
export function countedRows(datasets: readonly Points[], { weights, minimum = 1, privacy }: FitOptions): WeightedRows {
  if (weights === undefined) return { datasets, weights };
  checkArray("weights", weights, "weights, one list for each device");
  if (weights.length !== datasets.length) {
    throw new RangeError(`weights must have ${datasets.length} lists (one for each device), got ${weights.length}`);
  }
  // A row that counts for ten would pass for ten rows among which it hides.
  if (minimum > 1 || privacy === "guarded") {
    throw new RangeError(`weights must not be used with minimum or privacy "guarded", which count rows`);
  }
  const given = datasets.map(({ rows }, i) =>
    checkedRowWeights(weights[i], rows, `weights[${i}]`, `the rows of datasets[${i}]`),
  );
  return weightedRows(datasets, given);
}

/** The same on rows that were checked, with weights that enter the sums as they are. `labelled` get the labels. */
export function fitWeighted(
  counted: WeightedRows,
  labelled: readonly Points[],
  graph: Graph,
  options: FitOptions,
): FitModel {
  return drainRounds(roundsOf(labelled, graph, options, false, counted));
}

function roundsOf(
  datasets: readonly Points[],
  graph: Graph,
  options: FitOptions,
  isWatched: boolean,
  { datasets: counted, weights } = countedRows(datasets, options),
): Generator<Round, FitModel, void> {
  const { schedule, preset, k, around, init, penalty, settingsOf } = fitSettings(options, graph);
  const { seed = defaults.seed, signal } = options;
  const state = createNetwork(counted, graph, { ...options, weights, k, init }, settingsOf(1), penalty);
  const orders = roundOrders(schedule, graph, randomStream(seed, "schedule"));
  // A listed schedule runs to its end: that is what it was listed for.
  const listed = Array.isArray(schedule);
  const most = options.rounds ?? (listed ? schedule.length : defaults.rounds);
  const { alpha, denominatorFloor, robust } = state.settings;
  // A joint step sums what only single devices may know.
  const { jointSteps = preset !== "paper" && !listed && state.guard === undefined } = options;
  // The printed denominator descends another objective, and other penalties are no quadratic.
  const isQuadratic = denominatorFloor === 0 && state.penalty === "squared" && robust === false;
  const isJoint = jointSteps && alpha > 0 && isQuadratic;
  const settle = settlingOf(state, { isJoint, pullRatio: pullRatio(state.settings, around) });
  const advance = (round: number) => {
    const next = orders.next();
    if (next.done) return undefined;
    const plainMove = runRound(state, next.value, settingsOf(round));
    const { largestMove, converged } = settle(round);
    return { largestMove: Math.max(plainMove, largestMove), converged };
  };
  const isInOrder = schedule === "cyclic" && state.guard === undefined && robust === false;
  const { coupling, weighting = defaults.weighting } = { ...state.settings, weighting: options.weighting };
  const record = { version: 1, options: { k, alpha, seed, coupling, weighting } } as const;
  const ending = { most, stopWhenConverged: !listed, signal };
  return runRounds(state, advance, { labelled: datasets, record, ...ending, isWatched, isInOrder });
}

export interface RoundsOptions {
  /** The rows that get labels, where these are not the ones that count. Default: those of the network. */
  readonly labelled?: readonly Points[];
  /** How the run was made, where a model of its own says it. */
  readonly record?: ModelRecord;
  readonly most: number;
  readonly stopWhenConverged?: boolean;
  readonly signal: AbortSignal | undefined;
  /** Only a loop that is watched keeps the centroids of a round: drained at once, nobody asks for them. Default true. */
  readonly isWatched?: boolean;
  /**
   * Whether a round is all devices' updates in order, which meet the total variation of the round before on their way. Where
   * nobody watches, a round is then summed up during the next. Default false.
   */
  readonly isInOrder?: boolean;
}

/** Rounds until `most`, or until `advance` has no further one, or until nothing moves. */
export function* runRounds(
  state: NetworkState,
  advance: (round: number) => RoundResult | undefined,
  {
    labelled = state.datasets,
    record,
    most,
    stopWhenConverged = true,
    signal,
    isWatched = true,
    isInOrder = false,
  }: RoundsOptions,
): Generator<Round, FitModel, void> {
  signal?.throwIfAborted();
  const isLate = isInOrder && !isWatched;
  const history: RoundSummary[] = [];
  let losses = state.losses;
  let loss = 0;
  const sumUp = (totalVariation: number) => {
    const objective = loss + state.settings.alpha * totalVariation;
    Object.assign(history[history.length - 1], { objective, totalVariation });
  };
  const note = (largestMove: number): Round => {
    const { messages, bytes } = state;
    const unknown = { objective: Number.NaN, totalVariation: Number.NaN };
    const summary = { round: history.length, ...unknown, messages, bytes, largestMove };
    history.push(summary);
    losses = lossesOf(state);
    loss = losses.reduce((sum, own, i) => sum + state.pointScales[i] * own, 0);
    if (!isLate) sumUp(variationOf(state));
    const packed = isWatched ? state.sets.data.slice() : state.sets.data;
    // Matrices are made when asked for.
    return {
      ...summary,
      get centroids() {
        return networkCentroids(state, packed);
      },
    };
  };
  let converged = false;
  try {
    yield note(0);
    while (history.length <= most && !(converged && stopWhenConverged)) {
      signal?.throwIfAborted();
      const result = advance(history.length);
      if (result === undefined) break;
      if (isLate) sumUp(state.running.variation);
      converged = result.converged;
      yield note(result.largestMove);
    }
  } finally {
    for (const points of state.points) points.release();
  }
  if (isLate) sumUp(variationOf(state));
  const { round, objective, messages, bytes } = history[history.length - 1];
  const centroids = networkCentroids(state, state.sets.data);
  const inertia = losses.reduce((sum, own) => sum + own, 0);
  const numbers = { centroids, objective, inertia, rounds: round, converged, messages, bytes, history };
  const penalty = state.penalty === "squared" ? {} : { penalty: state.penalty };
  return labellingModel({ ...record, ...numbers, ...penalty, ...guardedOf(state) }, labelled);
}

/** (E1) at every device's centroids. Guarded rows whose label is held back count with their nearest centroid here. */
function lossesOf(state: NetworkState): Float64Array {
  const { guard, losses, sets } = state;
  if (guard === undefined) return losses;
  const centroids = networkCentroids(state, sets.data);
  return Float64Array.from(centroids, (own, i) => kernelStatistics(guard.exact[i], own).loss);
}

function variationOf({ sets, links, settings, matches, penalty }: NetworkState): number {
  return couplingVariation(sets, links, settings.coupling, matches, penalty);
}

function guardedOf({ guard, datasets }: NetworkState): { readonly guarded?: GuardedSummary } {
  if (guard === undefined) return {};
  const counting = guard.points.filter(({ classes }) => classes.sizes.length > 0);
  const given = datasets.reduce((sum, { rows }) => sum + rows, 0);
  return {
    guarded: {
      minimum: guard.minimum,
      smallestClass: counting.reduce((least, own) => Math.min(least, smallestClass(own.classes)), given),
      rowsHeldBack: counting.reduce((sum, { heldBack }) => sum + heldBack, 0),
      rowsLeftOut: given - counting.reduce((sum, { classes }) => sum + classes.ids.length, 0),
    },
  };
}
