// One device update, line 5 of Algorithm 1: (E1) (E2) (E3) (M) with the neighbours frozen. Nothing here touches points:
// (E1) enters through its statistics, so whoever holds the points may be anywhere and answer when it can.

import { checkMatrix, checkNumber, checkShape, checkWeights } from "./check.ts";
import { type CentroidSets, emptyMatches, type Matches, match, packSets } from "./coupling.ts";
import { emptyStatistics, type PreparedPoints, type Statistics } from "./kernel/kernel.ts";
import type { Matrix } from "./matrix.ts";
import { type UpdateOptions, type UpdateSettings, updateSettings } from "./options.ts";

export interface DeviceUpdate {
  readonly centroids: Matrix;
  /** The local objective J at `centroids`: own loss and the discrepancy to the neighbours. */
  readonly objective: number;
  readonly passes: number;
}

/**
 * One device's update in progress. It holds no points: whenever it wants (E1), it asks its owner to fill `statistics`
 * at `centroids`. Reused from update to update, so that an update leaves no garbage.
 */
export interface Update {
  readonly k: number;
  readonly cols: number;
  readonly settings: UpdateSettings;
  /** In: the device's centroids. Out: the updated ones. */
  readonly centroids: Float64Array;
  /** (E1) at `centroids`, before and after. */
  readonly statistics: Statistics;
  /** Everyone's centroids, which of them are neighbours, and A(i, j) for each. */
  sets: CentroidSets;
  neighbours: Uint32Array;
  edgeWeights: Float64Array;
  /** u_i / m_i. */
  pointScale: number;
  /** Passes so far, and J after them. */
  passes: number;
  objective: number;
  finished: boolean;
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

/** Room for updates of devices with k centroids of `cols` numbers, alone until told of neighbours. */
export function emptyUpdate(k: number, cols: number, settings: UpdateSettings, largestNeighbour = k): Update {
  return {
    k,
    cols,
    settings,
    centroids: new Float64Array(k * cols),
    statistics: emptyStatistics(k, cols),
    sets: noSets,
    neighbours: new Uint32Array(0),
    edgeWeights: new Float64Array(0),
    pointScale: 1,
    passes: 0,
    objective: 0,
    finished: true,
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
  update.input.set(update.centroids);
  update.passes = 0;
  update.finished = false;
  update.objective = localObjective(update);
  return pass(update);
}

function continueUpdate(update: Update): boolean {
  if (update.finished) return false;
  const before = update.objective;
  update.objective = localObjective(update);
  const fell = before - update.objective;
  return fell <= update.settings.tol * Math.max(1, Math.abs(before)) ? finish(update, true) : pass(update);
}

/** Runs an update to its end on points at hand. */
export function runUpdate(update: Update, points: PreparedPoints): void {
  for (let wanted = beginUpdate(update); wanted; wanted = continueUpdate(update)) {
    points.statistics(update.centroids, update.statistics);
  }
}

function pass(update: Update): boolean {
  const first = update.passes === 0;
  if (!moveToMeans(update, first && update.settings.safeguard)) return finish(update, true);
  update.passes++;
  return update.passes === update.settings.passes ? finish(update, false) : true;
}

/** Safeguard, then damping. `known`: the statistics are those of the centroids. Returns whether new ones are wanted. */
function finish(update: Update, known: boolean): boolean {
  const { centroids, input, passes, settings } = update;
  const refused = settings.safeguard && passes > 1 && raisesSurrogate(update);
  if (refused) centroids.set(update.firstPass);
  const damped = settings.damping < 1 && passes > 0;
  if (damped) {
    for (let i = 0; i < centroids.length; i++) {
      centroids[i] = (1 - settings.damping) * input[i] + settings.damping * centroids[i];
    }
  }
  update.finished = true;
  return !known || refused || damped;
}

/** J: the own loss and the pull of the neighbours, whose matches it renews. */
function localObjective(update: Update): number {
  return update.pointScale * update.statistics.loss + update.settings.alpha * matchNeighbours(update);
}

/** (E2) and (E3) for all neighbours: fills the pulls and returns the sum of A(i, j) d(W_i, W_j). */
function matchNeighbours(update: Update): number {
  const { k, cols, centroids, matches, neighbours, edgeWeights, pullSums, pullWeights } = update;
  const { data, starts } = update.sets;
  const { coupling } = update.settings;
  pullSums.fill(0);
  pullWeights.fill(0);
  let total = 0;
  for (let n = 0; n < neighbours.length; n++) {
    const start = starts[neighbours[n]];
    const rows = starts[neighbours[n] + 1] - start;
    const weight = edgeWeights[n];
    total += weight * match(coupling, centroids, 0, k, data, start, rows, cols, matches);
    for (let c = 0; c < k; c++) pull(update, c, data, start + matches.toOther[c], weight);
    if (coupling === "nearest") for (let c = 0; c < rows; c++) pull(update, matches.toOwn[c], data, start + c, weight);
  }
  return total;
}

function pull({ cols, pullSums, pullWeights }: Update, own: number, data: Float64Array, row: number, weight: number) {
  pullWeights[own] += weight;
  for (let i = 0; i < cols; i++) pullSums[own * cols + i] += weight * data[row * cols + i];
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

/** One device update on given points and neighbours' centroids. */
export function updateDevice(
  points: Matrix,
  centroids: Matrix,
  neighbours: readonly Matrix[],
  options: UpdateOptions,
): DeviceUpdate {
  const settings = updateSettings(options);
  const { weight = 1, edgeWeights = new Float64Array(neighbours.length).fill(1) } = options;
  checkNumber("weight", weight, (value) => value > 0, "a finite number above 0");
  checkWeights(edgeWeights, neighbours.length, "edgeWeights", "one for each of neighbours");
  checkMatrix("points", points);
  checkMatrix("centroids", centroids);
  const { rows: k, cols } = centroids;
  if (k === 0 || cols === 0) throw new RangeError(`centroids must not be empty, got ${k} x ${cols}`);
  if (points.rows > 0) checkShape("points", points, points.rows, cols, "the columns of centroids");
  neighbours.forEach((other, n) => {
    const rows = settings.coupling === "transport" ? k : Math.max(1, other.rows);
    checkShape(`neighbours[${n}]`, other, rows, cols, "as centroids");
  });
  const largest = neighbours.reduce((most, other) => Math.max(most, other.rows), 0);
  const update = emptyUpdate(k, cols, settings, largest);
  update.centroids.set(centroids.data);
  update.sets = packSets(neighbours, cols);
  update.neighbours = Uint32Array.from(neighbours, (_, n) => n);
  update.edgeWeights = Float64Array.from(edgeWeights);
  update.pointScale = points.rows > 0 ? weight / points.rows : 0;
  const prepared = settings.kernel.prepare(points);
  prepared.statistics(update.centroids, update.statistics);
  runUpdate(update, prepared);
  const { passes } = update;
  return { centroids: { data: update.centroids, rows: k, cols }, objective: localObjective(update), passes };
}
