// Consensus: the pooled solution without a server. From a common seed the devices take steps of pooled k-means by sums
// over the network, which only lower the cost. From other starts, or where a step for it is given, they come to agree by
// sweeps: private multipliers shed the bias that a finite alpha leaves, so that agreement is a fixed point as well.

import { checkInteger, checkNetwork, checkNumber } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { largestDifference, type Matrix } from "../data/matrix.ts";
import { normalStream, type Random, randomStream } from "../data/random.ts";
import { drainRounds, type FitModel, type Round, runRounds } from "../fit/fit.ts";
import {
  adoptNetworkUpdate,
  countNetworkMessage,
  countNetworkTraffic,
  createNetwork,
  largestNetworkCoordinate,
  type NetworkState,
  networkCentroids,
  type RoundResult,
  refreshNetworkStatistics,
} from "../fit/network.ts";
import { componentsOf, type Graph } from "../graph/graph.ts";
import { laplacianExtremes } from "../graph/spectrum.ts";
import { addTraffic, sumTraffic } from "../graph/traffic.ts";
import { clusterMeans, emptyStatistics, type Statistics } from "../kernel/kernel.ts";
import { updateSettings } from "../update/updateOptions.ts";
import { stepAdmmMultipliers, withMethodParts } from "./distributed.ts";
import {
  checkMethodOptions,
  type MethodOptions,
  orderMethodSeeds,
  type RoundsMethodOptions,
  roundsOptions,
} from "./method.ts";

/** Options of `methods.consensus`. */
export interface ConsensusOptions extends RoundsMethodOptions, Pick<MethodOptions, "beta" | "settle" | "passes"> {}

/** What `methods.consensus` found. */
export interface ConsensusModel extends FitModel {
  readonly beta: number;
  /** p: private to each device, never sent; per cluster they sum to 0 over each component. */
  readonly multipliers: readonly Matrix[];
}

export function consensus(datasets: readonly Matrix[], graph: Graph, options: ConsensusOptions): ConsensusModel {
  return drainRounds(consensusRounds(datasets, graph, options));
}

consensus.travels = "centroids, counts, sums";
consensus.takes = { ...roundsOptions, beta: ["number"], settle: ["number", "false"], passes: ["number"] };

/**
 * A step or a sweep at a time, as `fitRounds`. Unless `weighting` is given, every point counts the same (weighting
 * "sample").
 * @example [...consensusRounds(paperData("iso", 4, 30, 1).datasets, path(4), { k: 3, rounds: 2 })].length // 2
 */
export function consensusRounds(
  datasets: readonly Matrix[],
  graph: Graph,
  options: ConsensusOptions,
): Generator<Round, ConsensusModel, void> {
  checkMethodOptions(options);
  const { rounds = defaults.consensusRounds, settle = 40, passes = 1, weighting = "sample", signal } = options;
  const { init = "federated", alpha = 0, coupling, tol, kernel } = options;
  if (settle !== false) checkInteger("settle", settle, 0);
  const settings = updateSettings({ alpha, passes, coupling, tol, kernel });
  checkNetwork(datasets, graph);
  const state = createNetwork(datasets, graph, { ...options, rounds, weighting, init }, settings);
  if (init !== "federated") orderMethodSeeds(state, "aligned");
  const beta = options.beta ?? suitedBeta(graph, state.k);
  checkNumber("beta", beta, (value) => value > 0, "a finite number above 0");
  const run = consensusRun(state, beta, settle === false ? Number.POSITIVE_INFINITY : settle);
  // From a common seed a few sums over the network give everybody the pooled means of one labelling.
  if (init === "federated") {
    moveToPooledMeans(state, options.seed ?? defaults.seed);
    holdAtMeans(run);
  }
  const advance = isBySums(options) ? () => exactStep(run) : (round: number) => sweep(run, round - 1);
  const loop = runRounds(state, advance, { most: rounds, signal });
  return withMethodParts(loop, () => ({ beta, multipliers: networkCentroids(state, run.multipliers) }));
}

/** Sums need common centroids. Who says how sweeps are made wants sweeps. */
function isBySums({ init = "federated", settle, beta, passes }: ConsensusOptions): boolean {
  return init === "federated" && settle === undefined && beta === undefined && passes === undefined;
}

/** 1 / (k sqrt(l2 ln)): the step at which labels once fixed agree fastest on every graph tried. */
function suitedBeta(graph: Graph, k: number): number {
  const extremes = laplacianExtremes(graph);
  return 1 / (k * (extremes === undefined ? 1 : Math.sqrt(extremes.smallest * extremes.largest)));
}

type ConsensusRun = ReturnType<typeof consensusRun>;

/** `settle`: the labels of this sweep are kept, and renewed only in agreement: free labels can flip for ever. */
function consensusRun(state: NetworkState, beta: number, settle: number) {
  return {
    state,
    beta,
    settle,
    multipliers: new Float64Array(state.sets.data.length),
    /** Counts and sums of the labels in use. */
    counts: state.counts.slice(),
    sums: state.sums.slice(),
    /** The last renewal of kept labels changed nothing. */
    confirmed: false,
    /** Largest move of the last sweep and largest difference between neighbours, relative to 1 + the largest coordinate. */
    residual: Number.POSITIVE_INFINITY,
  };
}

/** A step of pooled k-means by one sum over the network. It never raises the cost, and comes to rest where labels repeat. */
function exactStep(run: ConsensusRun): RoundResult {
  const { state } = run;
  const largestMove = takePooledMeans(state);
  countNetworkTraffic(state, sumTraffic(state.graph, state.k * (state.sets.cols + 1)));
  holdAtMeans(run);
  let scale = 1;
  for (let i = 0; i < state.graph.size; i++) scale = Math.max(scale, 1 + largestNetworkCoordinate(state, i));
  return { largestMove, converged: largestMove <= state.settings.tol * scale };
}

/**
 * At the pooled means of one labelling these multipliers hold the devices where they are: p = g (S - N w), which sum to 0.
 * Sweeps from here have nothing to undo.
 */
function holdAtMeans({ state, multipliers, counts, sums }: ConsensusRun): void {
  const { graph, k, pointScales, sets } = state;
  counts.set(state.counts);
  sums.set(state.sums);
  for (let i = 0; i < graph.size; i++) {
    for (let x = i * k * sets.cols; x < (i + 1) * k * sets.cols; x++) {
      multipliers[x] = pointScales[i] * (sums[x] - counts[Math.floor(x / sets.cols)] * sets.data[x]);
    }
    refreshNetworkStatistics(state, i);
  }
}

/** Below it a network counts as agreed, and kept labels are renewed. */
const AGREED = 1e-9;

/** One Gauss-Seidel sweep, then one multiplier step. */
function sweep(run: ConsensusRun, index: number): RoundResult {
  const { state, beta, multipliers } = run;
  const { size } = state.graph;
  const kept = index > run.settle;
  if (kept && run.residual <= AGREED) run.confirmed = !renewLabels(run);
  let largestMove = 0;
  for (let i = 0; i < size; i++) {
    largestMove = Math.max(largestMove, kept ? moveToAgreement(run, i) : moveFree(run, i));
    // For the reported objective only: kept labels stay in use.
    if (kept) refreshNetworkStatistics(state, i);
    // However many passes it took.
    countNetworkMessage(state, i);
  }
  let largest = largestMove;
  let scale = 1;
  for (let i = 0; i < size; i++) {
    largest = Math.max(largest, stepAdmmMultipliers(state, multipliers, beta, i, true));
    scale = Math.max(scale, 1 + largestNetworkCoordinate(state, i));
  }
  run.residual = largest / scale;
  // To renew kept labels everybody has to know the largest residual: up a tree and down again, as a sum.
  if (index >= run.settle) countNetworkTraffic(state, sumTraffic(state.graph, 1));
  return { largestMove, converged: run.residual <= state.settings.tol && (!kept || run.confirmed) };
}

/** A visit with labels as they come: each pass labels anew, until labels repeat. */
function moveFree(run: ConsensusRun, i: number): number {
  const { state } = run;
  let largest = 0;
  for (let pass = 0; pass < state.settings.passes; pass++) {
    takeLabels(run, i);
    const move = moveToAgreement(run, i);
    largest = Math.max(largest, move);
    if (move === 0) break;
    refreshNetworkStatistics(state, i);
  }
  return largest;
}

/** Labels of the current centroids come into use. */
function takeLabels({ state, counts, sums }: ConsensusRun, i: number): boolean {
  const { k } = state;
  const { cols } = state.sets;
  let changed = false;
  for (let c = i * k; c < (i + 1) * k; c++) {
    if (counts[c] !== state.counts[c]) changed = true;
    counts[c] = state.counts[c];
    for (let x = c * cols; x < (c + 1) * cols; x++) {
      if (sums[x] !== state.sums[x]) changed = true;
      sums[x] = state.sums[x];
    }
  }
  return changed;
}

function renewLabels(run: ConsensusRun): boolean {
  let changed = false;
  for (let i = 0; i < run.state.graph.size; i++) if (takeLabels(run, i)) changed = true;
  return changed;
}

/** w <- [g S - p + beta sum_j A w_j] / [g N + beta sum_j A], from the neighbours' newest; returns the largest move. */
function moveToAgreement({ state, beta, multipliers, counts, sums }: ConsensusRun, i: number): number {
  const { graph, k, pointScales, sets, updated } = state;
  const { data, cols } = sets;
  const [links, weights] = [graph.neighbours[i], graph.weights[i]];
  for (let c = 0; c < k; c++) {
    let weight = pointScales[i] * counts[i * k + c];
    for (let n = 0; n < links.length; n++) weight += beta * weights[n];
    for (let x = 0; x < cols; x++) {
      const at = (i * k + c) * cols + x;
      let sum = pointScales[i] * sums[at] - multipliers[at];
      for (let n = 0; n < links.length; n++) sum += beta * weights[n] * data[(links[n] * k + c) * cols + x];
      updated[at] = weight > 0 ? sum / weight : data[at];
    }
  }
  return adoptNetworkUpdate(state, i);
}

// Pooled means without pooling: steps of Lloyd by summing over the network, first a few from a common seed and from
// starts around it. Few points leave many fixed points of almost equal cost, and the first one is not always the best.

/** Of 450 problems with 500 points in all, one start missed the best of 20 pooled restarts by 1e-4 in 9, eight in none. */
const STARTS = 8;
const STEPS = 2;

/**
 * Moves every device of a component to the pooled means of one labelling, near the common seed and as cheap as a few
 * steps find. The state's counts and sums are left as those of that labelling, device by device.
 */
function moveToPooledMeans(state: NetworkState, seed: number): void {
  const { graph, k, sets } = state;
  componentsOf(graph).forEach((devices, c) => {
    const labelled = cheapestNearby(state, devices, randomStream(seed, "nearby", c));
    for (const i of devices) {
      sets.data.set(labelled, i * labelled.length);
      refreshNetworkStatistics(state, i);
    }
  });
  takePooledMeans(state);
  // One sum for the seed's means, one for each step of all starts, one to judge them.
  const numbers = k * (sets.cols + 1) + 1;
  const sums = [1, ...new Array<number>(STEPS + 1).fill(STARTS)].map((starts) => sumTraffic(graph, starts * numbers));
  countNetworkTraffic(state, addTraffic(...sums));
}

/**
 * One step of Lloyd on the points of each component: the devices sum counts and sums at their common centroids, and all
 * move to the means. Leaves the state's counts and sums as those of the labelling. Returns the largest move.
 */
function takePooledMeans(state: NetworkState): number {
  const { graph, k, sets, counts, sums, pointScales } = state;
  const length = k * sets.cols;
  let largest = 0;
  for (const devices of componentsOf(graph)) {
    const total = emptyStatistics(k, sets.cols);
    for (const i of devices) {
      for (let c = 0; c < k; c++) total.counts[c] += pointScales[i] * counts[i * k + c];
      for (let x = 0; x < length; x++) total.sums[x] += pointScales[i] * sums[i * length + x];
    }
    const old = sets.data.slice(devices[0] * length, (devices[0] + 1) * length);
    const means = clusterMeans(total, old);
    largest = Math.max(largest, largestDifference(means, old));
    for (const i of devices) sets.data.set(means, i * length);
  }
  return largest;
}

function cheapestNearby(state: NetworkState, devices: readonly number[], random: Random): Float64Array {
  const length = state.k * state.sets.cols;
  const seed = state.sets.data.slice(devices[0] * length, (devices[0] + 1) * length);
  const first = pooledStatistics(state, devices, seed);
  const rows = devices.reduce((sum, i) => sum + state.datasets[i].rows, 0);
  const spread = standardError(first, state.k, state.sets.cols, rows);
  const means = clusterMeans(first, seed);
  const normal = normalStream(random);
  let best = { centroids: means, loss: Number.POSITIVE_INFINITY };
  for (let start = 0; start < STARTS; start++) {
    let centroids = start === 0 ? means : means.map((x) => x + spread * normal());
    for (let step = 0; step < STEPS; step++)
      centroids = clusterMeans(pooledStatistics(state, devices, centroids), centroids);
    const { loss } = pooledStatistics(state, devices, centroids);
    if (loss < best.loss) best = { centroids, loss };
  }
  return best.centroids;
}

/** How far chance alone would move a mean: the scale on which fixed points lie side by side. */
function standardError({ counts, loss }: Statistics, k: number, cols: number, points: number): number {
  const weight = counts.reduce((sum, count) => sum + count, 0);
  return weight === 0 ? 0 : Math.sqrt(loss / (weight * cols)) * Math.sqrt(k / points);
}

function pooledStatistics(
  { k, sets, points, pointScales }: NetworkState,
  devices: readonly number[],
  centroids: Float64Array,
) {
  const total = emptyStatistics(k, sets.cols);
  const own = emptyStatistics(k, sets.cols);
  for (const i of devices) {
    points[i].statistics(centroids, own);
    const scale = pointScales[i];
    for (let c = 0; c < k; c++) total.counts[c] += scale * own.counts[c];
    for (let x = 0; x < centroids.length; x++) total.sums[x] += scale * own.sums[x];
    total.loss += scale * own.loss;
  }
  return total;
}
