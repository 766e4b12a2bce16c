// One device update, line 5 of Algorithm 1: (E1) (E2) (E3) (M) with the neighbours frozen. Nothing here touches points:
// (E1) enters through its statistics, so whoever holds the points may be anywhere and answer when it can.

import { type CentroidSets, emptyMatches, type Matches, match } from "./coupling.ts";
import type { PackedLinks } from "./graph.ts";
import { emptyStatistics, type PreparedPoints, type Statistics } from "./kernel/kernel.ts";
import type { UpdateSettings } from "./options.ts";

/**
 * One device's update in progress. It holds no points: whenever it wants (E1), it asks its owner to fill `statistics`
 * at `centroids`. Reused from update to update, so that an update leaves no garbage.
 */
export interface Update {
  readonly k: number;
  readonly cols: number;
  settings: UpdateSettings;
  /** In: the device's centroids. Out: the updated ones. */
  readonly centroids: Float64Array;
  /** (E1) at `centroids`, before and after. */
  readonly statistics: Statistics;
  /** Everyone's centroids, everyone's links, and which of these are the device's. */
  sets: CentroidSets;
  links: PackedLinks;
  firstLink: number;
  endLink: number;
  /** u_i / m_i. */
  pointScale: number;
  /** Further starts of the solver besides the device's centroids (and its neighbours', with `candidates`). */
  freshStarts: readonly Float64Array[];
  /** Passes of the start at hand, and J after them. */
  passes: number;
  objective: number;
  phase: "passing" | "judging" | "starting" | "finished";
  /** How many starts were tried; the best result so far, with its J. */
  tried: number;
  bestObjective: number;
  readonly best: Float64Array;
  readonly bestStatistics: Statistics;
  readonly matches: Matches;
  /** Per own centroid: the weighted sum and the weight of the neighbours' centroids matched with it. */
  readonly pullSums: Float64Array;
  readonly pullWeights: Float64Array;
  /** The centroids at the start, after the first pass, and what (M) aimed that pass at, with its weights. */
  readonly input: Float64Array;
  readonly firstPass: Float64Array;
  readonly firstTarget: Float64Array;
  readonly firstWeights: Float64Array;
}

const noSets: CentroidSets = { data: new Float64Array(0), starts: new Uint32Array(1), cols: 0 };

const noLinks: PackedLinks = {
  starts: new Uint32Array(1),
  devices: new Uint32Array(0),
  weights: new Float64Array(0),
};

/** Room for updates of devices with k centroids of `cols` numbers, alone until told of neighbours. */
export function emptyUpdate(k: number, cols: number, settings: UpdateSettings, largestNeighbour = k): Update {
  return {
    k,
    cols,
    settings,
    centroids: new Float64Array(k * cols),
    statistics: emptyStatistics(k, cols),
    sets: noSets,
    links: noLinks,
    firstLink: 0,
    endLink: 0,
    pointScale: 1,
    freshStarts: [],
    passes: 0,
    objective: 0,
    phase: "finished",
    tried: 0,
    bestObjective: 0,
    best: new Float64Array(k * cols),
    bestStatistics: emptyStatistics(k, cols),
    matches: emptyMatches(Math.max(k, largestNeighbour)),
    pullSums: new Float64Array(k * cols),
    pullWeights: new Float64Array(k),
    input: new Float64Array(k * cols),
    firstPass: new Float64Array(k * cols),
    firstTarget: new Float64Array(k * cols),
    firstWeights: new Float64Array(k),
  };
}

/**
 * Starts from `centroids` and `statistics` at them. True: fill `statistics` at the new `centroids` and call
 * `continueUpdate`. False: finished, and `statistics` are those of `centroids`.
 */
function beginUpdate(update: Update): boolean {
  const { centroids, input } = update;
  for (let i = 0; i < input.length; i++) input[i] = centroids[i];
  update.tried = 0;
  update.bestObjective = Number.POSITIVE_INFINITY;
  return beginStart(update);
}

function continueUpdate(update: Update): boolean {
  if (update.phase === "finished") return false;
  if (update.phase === "starting") return beginStart(update);
  const before = update.objective;
  update.objective = localObjective(update);
  if (update.phase === "judging") return nextStart(update);
  const { tol } = update.settings;
  // With tol 0 only rest is the end: rounding can keep the objective while centroids still move.
  const isSettled = tol > 0 && before - update.objective <= tol * Math.max(1, Math.abs(before));
  return isSettled ? endStart(update, true) : pass(update);
}

/** Runs an update to its end on points at hand. */
export function runUpdate(update: Update, points: PreparedPoints): void {
  // Where nothing asks how far the objective fell, the loss is wanted at the end only: it can cost a pass of its own.
  const isJudged = update.settings.tol > 0 || hasFurtherStarts(update);
  for (let wanted = beginUpdate(update); wanted; wanted = continueUpdate(update)) {
    points.statistics(update.centroids, update.statistics, isJudged || update.phase === "finished");
  }
}

function hasFurtherStarts({ freshStarts, firstLink, endLink, settings }: Update): boolean {
  return freshStarts.length > 0 || (settings.candidates && endLink > firstLink);
}

function beginStart(update: Update): boolean {
  update.passes = 0;
  update.objective = localObjective(update);
  return pass(update);
}

function pass(update: Update): boolean {
  const remember = update.settings.safeguard && update.tried === 0 && update.passes === 0;
  if (!moveToMeans(update, remember)) return endStart(update, true);
  update.passes++;
  update.phase = "passing";
  return update.passes === update.settings.passes ? endStart(update, false) : true;
}

/** `known`: the statistics are those of the centroids. */
function endStart(update: Update, known: boolean): boolean {
  if (!hasFurtherStarts(update)) return finish(update, known, update.passes > 0);
  update.phase = "judging";
  return known ? nextStart(update) : true;
}

/** Keeps the result at hand if it is the best so far, and goes on to the next start. */
function nextStart(update: Update): boolean {
  const { best, bestStatistics, centroids, statistics } = update;
  // The margin matters: equal optima in another order differ by rounding only.
  if (update.tried === 0 || update.objective < update.bestObjective - 1e-9 * Math.abs(update.bestObjective)) {
    update.bestObjective = update.objective;
    best.set(centroids);
    copyStatistics(statistics, bestStatistics);
  }
  if (loadStart(update, update.tried++)) {
    update.phase = "starting";
    return true;
  }
  centroids.set(best);
  copyStatistics(bestStatistics, statistics);
  return finish(update, true, true);
}

/** Puts further start number `index` into the centroids: the neighbours' sets, then the fresh ones. */
function loadStart(update: Update, index: number): boolean {
  const { centroids, freshStarts, k, cols, links, firstLink, endLink, settings, sets } = update;
  const candidates = settings.candidates ? endLink - firstLink : 0;
  if (index < candidates) {
    const from = sets.starts[links.devices[firstLink + index]] * cols;
    for (let i = 0; i < k * cols; i++) centroids[i] = sets.data[from + i];
    return true;
  }
  if (index - candidates >= freshStarts.length) return false;
  centroids.set(freshStarts[index - candidates]);
  return true;
}

function copyStatistics(from: Statistics, to: Statistics): void {
  to.counts.set(from.counts);
  to.sums.set(from.sums);
  to.loss = from.loss;
}

/** Safeguard, then damping. Returns whether new statistics are wanted. */
function finish(update: Update, known: boolean, moved: boolean): boolean {
  const { centroids, input, settings } = update;
  const refused = settings.safeguard && moved && raisesSurrogate(update);
  if (refused) centroids.set(update.firstPass);
  const damped = settings.damping < 1 && moved;
  if (damped) {
    for (let i = 0; i < centroids.length; i++) {
      centroids[i] = (1 - settings.damping) * input[i] + settings.damping * centroids[i];
    }
  }
  update.phase = "finished";
  return !known || refused || damped || Number.isNaN(update.statistics.loss);
}

/** J: the own loss and the pull of the neighbours, whose matches it renews. */
export function localObjective(update: Update): number {
  return update.pointScale * update.statistics.loss + update.settings.alpha * matchNeighbours(update);
}

/** (E2) and (E3) for all neighbours: fills the pulls and returns the sum of A(i, j) d(W_i, W_j). */
function matchNeighbours(update: Update): number {
  const { k, cols, centroids, matches, links, firstLink, endLink, pullSums, pullWeights } = update;
  const { data, starts } = update.sets;
  const { coupling } = update.settings;
  // Plain loops: for a handful of numbers they are faster than `fill`.
  for (let i = 0; i < k * cols; i++) pullSums[i] = 0;
  for (let c = 0; c < k; c++) pullWeights[c] = 0;
  let total = 0;
  for (let n = firstLink; n < endLink; n++) {
    const start = starts[links.devices[n]];
    const rows = starts[links.devices[n] + 1] - start;
    const weight = links.weights[n];
    total += weight * match(coupling, centroids, 0, k, data, start, rows, cols, matches);
    for (let c = 0; c < k; c++) {
      pullWeights[c] += weight;
      addRow(weight, data, start + matches.toOther[c], pullSums, c, cols);
    }
    if (coupling === "transport") continue;
    for (let c = 0; c < rows; c++) {
      const own = matches.toOwn[c];
      pullWeights[own] += weight;
      addRow(weight, data, start + c, pullSums, own, cols);
    }
  }
  return total;
}

/** Adds a row of `data`, times `weight`, to a row of `sums`. */
function addRow(weight: number, data: Float64Array, row: number, sums: Float64Array, to: number, cols: number): void {
  for (let i = to * cols, from = row * cols; i < (to + 1) * cols; i++, from++) sums[i] += weight * data[from];
}

/** (M), relaxed. Returns whether any centroid moved. */
function moveToMeans(update: Update, remember: boolean): boolean {
  const { k, cols, centroids, pointScale, pullSums, pullWeights } = update;
  const { counts, sums } = update.statistics;
  const { alpha, relaxation, denominatorFloor } = update.settings;
  // (M) divided through by u_i / m_i: with alpha = 0 it is then the plain mean, to the last bit.
  const unit = pointScale > 0 ? pointScale : alpha;
  const pullScale = unit > 0 ? alpha / unit : 0;
  const floor = unit > 0 ? denominatorFloor / unit : 0;
  let moved = false;
  for (let c = 0; c < k; c++) {
    // Differs from the paper: no max(den, 1), and den = 0 keeps the centroid, see docs/paper.md#the-denominator.
    const weight = Math.max(counts[c] + pullScale * pullWeights[c], floor);
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const old = centroids[i];
      const target = weight > 0 ? (sums[i] + pullScale * pullSums[i]) / weight : old;
      centroids[i] = relaxation === 1 ? target : old + relaxation * (target - old);
      if (centroids[i] !== old) moved = true;
      if (remember) update.firstTarget[i] = target;
    }
    if (remember) update.firstWeights[c] = weight;
  }
  if (remember) update.firstPass.set(centroids);
  return moved;
}

/**
 * Whether the result raises J with the labels and matches of the input held fixed. That J is a quadratic with its
 * minimum at the first target t: from the input w it changes by sum_c weight_c (|v - w|^2 - 2 <v - w, t - w>).
 */
function raisesSurrogate({ k, cols, centroids, input, firstTarget, firstWeights }: Update): boolean {
  let change = 0;
  for (let c = 0; c < k; c++) {
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const move = centroids[i] - input[i];
      change += firstWeights[c] * move * (move - 2 * (firstTarget[i] - input[i]));
    }
  }
  return change > 0;
}
