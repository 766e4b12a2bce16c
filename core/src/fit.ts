// Algorithm 1: federated k-means over a network, by minimising GTVMin one device update after the other.

import { checkInteger, checkNetwork, checkOneOf, checkSeed } from "./check.ts";
import { defaults } from "./defaults.ts";
import type { Graph } from "./graph.ts";
import type { Matrix } from "./matrix.ts";
import { type Network, network, pointScales, runRound, summarise, unpack, type Weighting } from "./network.ts";
import { type Preset, settingsOfRounds, type UpdateOptions, type UpdateSettings } from "./options.ts";
import { checkPenalty, type PenaltyOption, type ScaledPenalty } from "./penalty.ts";
import { randomStream } from "./random.ts";
import { checkSchedule, roundOrders, type Schedule } from "./schedule.ts";
import { type Clusters, type Init, start } from "./start.ts";

export interface FitOptions extends Omit<UpdateOptions, "weight" | "edgeWeights"> {
  /** Clusters of every device, or a list with those of each. */
  k: Clusters;
  /** Default "dependable": what is not said otherwise is chosen for the right answer, not as in the paper. */
  preset?: Preset;
  /** At most this many rounds, each of n device updates. Default 200. */
  rounds?: number;
  /** Default "cyclic". */
  schedule?: Schedule;
  /** Default "device". */
  weighting?: Weighting;
  /** What a link costs. A name alone scales "norm" and "truncated" by what clusters differ by chance. Default "squared". */
  penalty?: PenaltyOption;
  /** Default "auto", or "local" with alpha 0, with preset "paper" or with another penalty than "squared". */
  init?: Init;
  /** Starts of the k-means that `init` needs. Default 10. */
  restarts?: number;
  /** No centroid of fewer points is flooded (`init: "federated"`, and methods that flood centroids). Default 1. */
  minimum?: number;
  /** Default 0. */
  seed?: number;
  signal?: AbortSignal;
}

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

export interface Round extends RoundSummary {
  /** Every device's centroids after this round, a copy. */
  readonly centroids: readonly Matrix[];
}

export interface FitModel {
  readonly centroids: readonly Matrix[];
  readonly objective: number;
  readonly rounds: number;
  /** Whether every device was visited since the last move above tol (relative to the largest coordinate). */
  readonly converged: boolean;
  readonly messages: number;
  readonly bytes: number;
  /** The start and every round: rounds + 1 entries. */
  readonly history: readonly RoundSummary[];
  /** With its scale; absent where links cost their discrepancy. */
  readonly penalty?: ScaledPenalty;
}

export function fit(datasets: readonly Matrix[], graph: Graph, options: FitOptions): FitModel {
  checkNetwork(datasets, graph);
  return fitOn(datasets, graph, options);
}

/** The same on data that were checked. */
export function fitOn(datasets: readonly Matrix[], graph: Graph, options: FitOptions): FitModel {
  return drain(roundsOf(datasets, graph, options, false));
}

/** Runs a loop to its end. */
export function drain<T>(loop: Generator<unknown, T, void>): T {
  for (;;) {
    const step = loop.next();
    if (step.done) return step.value;
  }
}

/** The one loop, a round at a time, beginning with the start as round 0. Arguments are checked at once. */
export function fitRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  options: FitOptions,
): Generator<Round, FitModel, void> {
  checkNetwork(datasets, graph);
  return roundsOf(datasets, graph, options, true);
}

function roundsOf(
  datasets: readonly Matrix[],
  graph: Graph,
  options: FitOptions,
  isWatched: boolean,
): Generator<Round, FitModel, void> {
  const { schedule = defaults.schedule, preset = defaults.preset, seed = defaults.seed } = options;
  checkSchedule(schedule, graph.size);
  const k = checkedClusters(options, graph.size);
  const given = typeof k === "number" ? options : { ...options, candidates: false };
  const settingsOf = settingsOfRounds(given, preset, schedule, { k: meanClusters(k), degree: meanDegree(graph) });
  const { penalty = defaults.penalty } = options;
  const init = options.init ?? defaultInit(preset, options.alpha, k, penalty);
  checkStart(penalty, init);
  const state = startNetwork(datasets, graph, { ...options, k, init }, settingsOf(1), penalty);
  const orders = roundOrders(schedule, graph, randomStream(seed, "schedule"));
  // A listed schedule runs to its end: that is what it was listed for.
  const listed = Array.isArray(schedule);
  const most = options.rounds ?? (listed ? schedule.length : defaults.rounds);
  const advance = (round: number) => {
    const next = orders.next();
    if (next.done) return undefined;
    const largestMove = runRound(state, next.value, settingsOf(round));
    return { largestMove, converged: state.stillCount === graph.size };
  };
  return runRounds(state, advance, { most, stopWhenConverged: !listed, signal: options.signal, isWatched });
}

/** The mean over the devices of sum_j A(i, j). */
function meanDegree({ size, weights }: Graph): number {
  return weights.reduce((sum, row) => sum + row.reduce((a, b) => a + b, 0), 0) / size;
}

/** One number where all are the same. Whatever pairs clusters one to one, or takes over a neighbour's, needs that. */
function checkedClusters({ k, coupling, candidates }: FitOptions, devices: number): Clusters {
  if (!Array.isArray(k)) {
    checkInteger("k", k, 1);
    return k;
  }
  if (k.length !== devices) {
    throw new RangeError(`k must have ${devices} numbers (one for each device), got ${k.length}`);
  }
  k.forEach((own, i) => {
    checkInteger(`k[${i}]`, own, 1);
  });
  if (k.every((own) => own === k[0])) return k[0];
  if (coupling === "transport" || candidates) {
    throw new RangeError(`k must be one number with coupling "transport" or candidates, got ${k.join(", ")}`);
  }
  return k;
}

function meanClusters(k: Clusters): number {
  return typeof k === "number" ? k : k.reduce((a, b) => a + b) / k.length;
}

function defaultInit(preset: Preset, alpha: number, k: Clusters, penalty: PenaltyOption): Init {
  // The paper's "initialized with k-means++" is most likely k-means run to its end, see docs/paper.md#the-start.
  if (preset === "paper") return "local";
  // Alone means alone: nothing is flooded either. And clusters of different numbers have no common seed.
  return alpha === 0 || typeof k !== "number" || penalty !== "squared" ? "local" : "auto";
}

/** From a common start no link costs anything, and these penalties would hold all devices there. */
function checkStart(penalty: PenaltyOption, init: Init): void {
  checkPenalty(penalty);
  if (penalty === "squared" || (init !== "auto" && init !== "federated")) return;
  const name = typeof penalty === "string" ? penalty : penalty.name;
  const rule = '"local", "kmeans++", "classic kmeans++" or a matrix for each device';
  throw new RangeError(`init must be ${rule} (with penalty "${name}" a common start is not left), got "${init}"`);
}

/** Sets the devices at their start, by options that every method over a network takes. The data were checked. */
export function startNetwork(
  datasets: readonly Matrix[],
  graph: Graph,
  options: FitOptions,
  settings: UpdateSettings,
  penalty: PenaltyOption = "squared",
): Network {
  const { k, rounds = defaults.rounds, weighting = defaults.weighting, init = "local" } = options;
  const { restarts = defaults.restarts, minimum = defaults.minimum, seed = defaults.seed } = options;
  if (!Array.isArray(k)) checkInteger("k", k, 1);
  checkInteger("rounds", rounds, 0);
  checkInteger("restarts", restarts, 1);
  checkInteger("minimum", minimum, 1);
  checkSeed(seed);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  const points = datasets.map((own) => settings.kernel.prepare(own));
  const scales = pointScales(datasets, weighting);
  const { alpha, coupling } = settings;
  const begun = start(
    { datasets, points, graph },
    { k, init, restarts, minimum, seed, alpha, coupling, pointScales: scales },
  );
  const random = randomStream(seed, "fresh");
  return network({ datasets, points, graph, start: begun, settings, pointScales: scales, random, penalty });
}

/** What one round did. */
export interface RoundResult {
  readonly largestMove: number;
  readonly converged: boolean;
}

export interface RoundsOptions {
  readonly most: number;
  /** Default true. */
  readonly stopWhenConverged?: boolean;
  readonly signal: AbortSignal | undefined;
  /** Only a loop that is watched keeps the centroids of a round: drained at once, nobody asks for them. Default true. */
  readonly isWatched?: boolean;
}

/** Rounds until `most`, or until `advance` has no further one, or until nothing moves. */
export function* runRounds(
  state: Network,
  advance: (round: number) => RoundResult | undefined,
  { most, stopWhenConverged = true, signal, isWatched = true }: RoundsOptions,
): Generator<Round, FitModel, void> {
  signal?.throwIfAborted();
  const history: RoundSummary[] = [];
  const note = (largestMove: number): Round => {
    const summary = { round: history.length, ...summarise(state), largestMove };
    history.push(summary);
    const packed = isWatched ? state.sets.data.slice() : state.sets.data;
    // Matrices are made when asked for.
    return {
      ...summary,
      get centroids() {
        return unpack(state, packed);
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
      converged = result.converged;
      yield note(result.largestMove);
    }
  } finally {
    for (const points of state.points) points.release();
  }
  const { round, objective, messages, bytes } = history[history.length - 1];
  const centroids = unpack(state, state.sets.data);
  const model = { centroids, objective, rounds: round, converged, messages, bytes, history };
  return state.penalty === "squared" ? model : { ...model, penalty: state.penalty };
}
