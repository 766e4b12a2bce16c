// All devices of a simulated network in packed memory, which grows with points, centroids and edges and nothing else.

import { checkInteger, checkOneOf, checkSeed, checkSignal } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { datasetRange, type Matrix, type Points, widenPoints } from "../data/matrix.ts";
import { type Random, randomStream } from "../data/random.ts";
import { rowMasses } from "../data/rowWeights.ts";
import { type Graph, type PackedLinks, packGraph } from "../graph/graph.ts";
import { sumTraffic, type Traffic } from "../graph/traffic.ts";
import type { PreparedPoints } from "../kernel/kernel.ts";
import { type GuardState, guardDevices, publishGuardedUpdate } from "../privacy/guarded.ts";
import { emptyRules } from "../start/kmeans.ts";
import { type Start, start } from "../start/start.ts";
import {
  type CentroidSets,
  emptyMatches,
  type Matches,
  type Penalty,
  type PenaltyOption,
  prefetchSets,
  scaledPenalty,
} from "../update/coupling.ts";
import { runUpdate } from "../update/update.ts";
import { drawUpdateSeeds } from "../update/updateDevice.ts";
import type { UpdateSettings } from "../update/updateOptions.ts";
import { emptyUpdate, type RunningVariation, type UpdateState } from "../update/updateState.ts";
import { type FitOptions, givenStart, type Weighting } from "./fitOptions.ts";
import type { RoundOrder } from "./schedule.ts";

/** The functions of this file and the methods write to it. */
export interface NetworkState {
  readonly graph: Graph;
  /** Of the graph, where a step from device to device is one in memory too. */
  readonly links: PackedLinks;
  readonly datasets: readonly Points[];
  /** How much the rows of each device count together: their number, but for weights. */
  readonly masses: Float64Array;
  readonly points: readonly PreparedPoints[];
  /** Where rows are guarded: `points` again, with what was published of them. */
  readonly guard: GuardState | undefined;
  readonly settings: UpdateSettings;
  /** Of the fresh starts. */
  readonly random: Random;
  /** u_i / m_i; 0 without points. */
  readonly pointScales: Float64Array;
  /** Of all points: the largest difference in a column. */
  readonly range: number;
  /** Of every device; the largest where they differ. */
  readonly k: number;
  /** What every device has sent last. */
  readonly sets: CentroidSets;
  /** What the devices of a step will send when it ends. */
  readonly updated: Float64Array;
  /** (E1) at every device's centroids, kept from one visit to the next. */
  readonly counts: Float64Array;
  readonly sums: Float64Array;
  readonly losses: Float64Array;
  /** Room for every device's updates; devices with the same k share it. */
  readonly updates: readonly UpdateState[];
  readonly running: RunningVariation;
  readonly matches: Matches;
  penalty: Penalty;
  /** Device i has not moved since the last moving step if stillSince[i] = movingSteps; stillCount counts these. */
  readonly stillSince: Float64Array;
  movingSteps: number;
  stillCount: number;
  messages: number;
  bytes: number;
}

/** Sets the devices at their start, by options that every method over a network takes. The data were checked. */
export function createNetwork(
  datasets: readonly Points[],
  graph: Graph,
  options: Omit<FitOptions, "alpha" | "weights"> & { readonly weights?: readonly Float64Array[] | undefined },
  settings: UpdateSettings,
  penalty: PenaltyOption = "squared",
): NetworkState {
  const { k, rounds = defaults.rounds, weighting = defaults.weighting, weights } = options;
  const init = givenStart(options.init, graph.size) ?? "local";
  const { empty = "keep", restarts = defaults.restarts, privacy = "open", seed = defaults.seed } = options;
  const { minimum = privacy === "guarded" ? defaults.guardedMinimum : defaults.minimum } = options;
  if (!Array.isArray(k)) checkInteger("k", k, 1);
  checkInteger("rounds", rounds, 0);
  checkInteger("restarts", restarts, 1);
  checkInteger("minimum", minimum, 1);
  checkSeed(seed);
  checkSignal(options.signal);
  checkOneOf("empty", empty, emptyRules);
  checkOneOf("weighting", weighting, ["device", "sample"]);
  const { alpha, coupling, kernel } = settings;
  const links = packGraph(graph);
  const clustersOf = (i: number) => (typeof k === "number" ? k : k[i]);
  const guard =
    privacy === "guarded" ? guardDevices(datasets.map(widenPoints), clustersOf, minimum, kernel) : undefined;
  const points = guard?.points ?? datasets.map((own, i) => kernel.prepare(own, weights?.[i]));
  const masses = rowMasses({ datasets: guard?.datasets ?? datasets, weights });
  const scales = networkPointScales(masses, weighting);
  const devices = { datasets, weights, points, graph, links, ...guard };
  const begun = start(devices, { k, init, empty, restarts, minimum, seed, alpha, coupling, pointScales: scales });
  const random = randomStream(seed, "fresh");
  const given = { datasets, masses, points, guard, graph, links, settings, pointScales: scales, random };
  const state = networkAt(given, begun);
  for (let i = 0; i < graph.size; i++) refreshNetworkStatistics(state, i);
  setPenalty(state, penalty);
  return state;
}

type GivenState = Pick<
  NetworkState,
  "datasets" | "masses" | "points" | "guard" | "graph" | "links" | "settings" | "pointScales" | "random"
>;

function networkAt(given: GivenState, { sets, traffic }: Start): NetworkState {
  const { datasets, masses, points, guard, graph, links, settings, pointScales, random } = given;
  const { size } = graph;
  const clusters = Uint32Array.from({ length: size }, (_, i) => sets.starts[i + 1] - sets.starts[i]);
  const k = clusters.reduce((most, own) => Math.max(most, own), 0);
  const running = { variation: 0 };
  const room = new Map<number, UpdateState>();
  for (const rows of clusters) {
    if (room.has(rows)) continue;
    const update = emptyUpdate(rows, sets.cols, settings, k, running);
    update.sets = sets;
    update.links = links;
    room.set(rows, update);
  }
  // Field by field: what a spread makes is a sixth slower to run on.
  return {
    graph,
    links,
    datasets,
    masses,
    settings,
    random,
    points,
    guard,
    pointScales,
    range: datasetRange(datasets),
    k,
    sets,
    updated: sets.data.slice(),
    counts: new Float64Array(sets.starts[size]),
    sums: new Float64Array(sets.data.length),
    losses: new Float64Array(size),
    updates: Array.from(clusters, (own) => room.get(own) as UpdateState),
    running,
    matches: emptyMatches(k),
    penalty: "squared",
    stillSince: new Float64Array(size).fill(-1),
    movingSteps: 0,
    stillCount: 0,
    messages: traffic.messages,
    bytes: traffic.bytes,
  };
}

/** Where the devices have to find the scale, they add up two numbers. */
function setPenalty(state: NetworkState, option: PenaltyOption): void {
  state.penalty = scaledPenalty(option, () => chanceDiscrepancy(state));
  for (const update of state.updates) update.penalty = state.penalty;
  if (state.penalty === option) return;
  countNetworkTraffic(state, sumTraffic(state.graph, 2));
}

export function countNetworkTraffic(state: NetworkState, { messages, bytes }: Traffic): void {
  state.messages += messages;
  state.bytes += bytes;
}

/**
 * The discrepancy that two devices with the same clusters have by chance: a mean of n points errs by their variance / n.
 * Devices count by their points, because those of few know their variance badly.
 */
function chanceDiscrepancy({ masses, sets: { starts }, counts, losses, settings }: NetworkState): number {
  let [errors, points] = [0, 0];
  masses.forEach((rows, i) => {
    const own = counts.subarray(starts[i], starts[i + 1]);
    if (rows <= own.length) return;
    const variance = losses[i] / (rows - own.length);
    errors += rows * variance * own.reduce((sum, count) => (count > 0 ? sum + 1 / count : sum), 0);
    points += rows;
  });
  if (points === 0) return 0;
  // Both ends err, and "nearest" counts every pair from both sides.
  return ((settings.coupling === "nearest" ? 4 : 2) * errors) / points;
}

/**
 * (E1) at the centroids that device i has sent.
 * @example
 * methodOfRounds((network) => {
 *   refreshNetworkStatistics(network, 0);
 *   return () => ({ largestMove: 0, converged: true });
 * })([matrix([[1], [3]])], path(1), { k: 2 }).rounds // 1
 */
export function refreshNetworkStatistics(state: NetworkState, i: number): void {
  loadDevice(state, i);
  const { centroids, statistics } = state.updates[i];
  state.points[i].statistics(centroids, statistics);
  storeDevice(state, i);
}

/** u_i / m_i of every device, by how much its points count together. */
export function networkPointScales(masses: Float64Array, weighting: Weighting): Float64Array {
  const total = masses.reduce((sum, mass) => sum + mass, 0);
  return masses.map((mass) => {
    if (mass === 0) return 0;
    return weighting === "sample" ? masses.length / total : 1 / mass;
  });
}

/** What one round did. */
export interface RoundResult {
  readonly largestMove: number;
  readonly converged: boolean;
}

/** Runs the steps of a round with the given settings; returns the largest move of a coordinate. */
export function runRound(state: NetworkState, { order, ends }: RoundOrder, settings: UpdateSettings): number {
  let largest = 0;
  state.running.variation = 0;
  for (let s = 0, from = 0; s < ends.length; from = ends[s++]) {
    let moved = false;
    for (let at = from; at < ends[s]; at++) {
      prefetchSets(state.sets, state.links, order, at);
      visit(state, order[at], settings);
    }
    for (let at = from; at < ends[s]; at++) {
      const move = commitNetworkUpdate(state, order[at]);
      if (move > largest) largest = move;
      if (!moved && move > 0) moved = move > largestRestingMove(state, order[at]);
    }
    if (moved) noteNetworkMove(state);
    else for (let at = from; at < ends[s]; at++) noteStill(state, order[at]);
  }
  return largest;
}

const NO_STARTS: readonly Float64Array[] = [];

/** One device update from the state before the step; its result waits in `updated`. */
function visit(state: NetworkState, i: number, settings: UpdateSettings): void {
  loadDevice(state, i);
  const update = state.updates[i];
  update.settings = settings;
  update.firstLink = state.links.starts[i];
  update.endLink = state.links.starts[i + 1];
  update.device = i;
  update.pointScale = state.pointScales[i];
  update.freshStarts = settings.freshStarts > 0 ? drawUpdateSeeds(state.datasets[i], update, state.random) : NO_STARTS;
  runUpdate(update, state.points[i]);
  if (state.guard !== undefined) publishGuardedUpdate(update, state.guard.points[i], state.guard.resolution);
  storeDevice(state, i);
}

function loadDevice({ sets, counts, sums, losses, updates }: NetworkState, i: number): void {
  const update = updates[i];
  const { centroids, statistics, k } = update;
  const start = sets.starts[i];
  // Plain loops: for a handful of numbers they are faster than making views.
  for (let x = 0, at = start * sets.cols; x < centroids.length; x++, at++) {
    centroids[x] = sets.data[at];
    statistics.sums[x] = sums[at];
  }
  for (let c = 0; c < k; c++) statistics.counts[c] = counts[start + c];
  statistics.loss = losses[i];
  update.isAssigned = true;
}

function storeDevice({ sets, updated, counts, sums, losses, updates }: NetworkState, i: number): void {
  const { centroids, statistics, k } = updates[i];
  const start = sets.starts[i];
  for (let x = 0, at = start * sets.cols; x < centroids.length; x++, at++) {
    updated[at] = centroids[x];
    sums[at] = statistics.sums[x];
  }
  for (let c = 0; c < k; c++) counts[start + c] = statistics.counts[c];
  losses[i] = statistics.loss;
}

/**
 * Sends device i's update; returns the largest move.
 * @example
 * const begin = (state: NetworkState) => () => ({ largestMove: commitNetworkUpdate(state, 0), converged: true });
 * methodOfRounds(begin)([matrix([[1], [3]])], path(1), { k: 2 }).rounds // 1
 */
export function commitNetworkUpdate(state: NetworkState, i: number): number {
  countNetworkMessage(state, i);
  return adoptNetworkUpdate(state, i);
}

/** Makes device i's update its own, before it sends it; returns the largest move. */
export function adoptNetworkUpdate({ sets, updated }: NetworkState, i: number): number {
  const end = sets.starts[i + 1] * sets.cols;
  let largest = 0;
  for (let at = sets.starts[i] * sets.cols; at < end; at++) {
    const move = Math.abs(updated[at] - sets.data[at]);
    if (move > largest) largest = move;
    sets.data[at] = updated[at];
  }
  return largest;
}

/** Everybody is to be visited again before the network counts as still. */
export function noteNetworkMove(state: NetworkState): void {
  state.movingSteps++;
  state.stillCount = 0;
}

function noteStill(state: NetworkState, i: number): void {
  if (state.stillSince[i] === state.movingSteps) return;
  state.stillSince[i] = state.movingSteps;
  state.stillCount++;
}

/** One message to all neighbours; every link carries the centroids once. */
export function countNetworkMessage(state: NetworkState, i: number): void {
  const degree = state.links.starts[i + 1] - state.links.starts[i];
  if (degree > 0) state.messages++;
  state.bytes += degree * state.updates[i].centroids.length * 8;
}

/** Every device's centroids out of a packed copy, as matrices of their own. */
export function networkCentroids({ sets: { starts, cols }, graph }: NetworkState, packed: Float64Array): Matrix[] {
  return Array.from({ length: graph.size }, (_, i) => ({
    data: packed.slice(starts[i] * cols, starts[i + 1] * cols),
    rows: starts[i + 1] - starts[i],
    cols,
  }));
}

/**
 * The largest move of device i that counts as rest: tol times its largest coordinate or, for data far from 0, twice the
 * points' range, as far as a coordinate has bits for that.
 */
export function largestRestingMove(state: NetworkState, i: number): number {
  const { tol } = state.settings;
  const largest = largestNetworkCoordinate(state, i);
  return Math.min(tol * largest, Math.max(2 * tol * state.range, LAST_BITS * largest));
}

/** As a share of a coordinate: what the rounding of an update can move, with relaxation and many neighbours. */
export const LAST_BITS = 64 * Number.EPSILON;

/**
 * What tolerances are relative to.
 * @example
 * const begin = (state: NetworkState) => () => ({ largestMove: largestNetworkCoordinate(state, 0), converged: true });
 * methodOfRounds(begin)([matrix([[1], [3]])], path(1), { k: 2 }).history[1].largestMove // 3
 */
export function largestNetworkCoordinate({ sets }: Pick<NetworkState, "sets">, i: number): number {
  const end = sets.starts[i + 1] * sets.cols;
  let largest = 0;
  for (let at = sets.starts[i] * sets.cols; at < end; at++) largest = Math.max(largest, Math.abs(sets.data[at]));
  return largest;
}
