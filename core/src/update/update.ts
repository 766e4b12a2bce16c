// One device update, line 5 of Algorithm 1: passes of (E1) (E2) (E3) (M) with the neighbours frozen. Nothing here
// touches points: (E1) enters through its statistics, so the rows may be in memory or in a database that answers later.

import type { PreparedPoints, Statistics } from "../kernel/kernel.ts";
import { match, penaltyCost, penaltySlope, rowsOfSet, setStart } from "./coupling.ts";
import { capRobustDrift, matchRobustly } from "./robustPull.ts";
import type { RobustRoom, UpdateState } from "./updateState.ts";

/** Runs an update to its end on points at hand. */
export function runUpdate(update: UpdateState, points: PreparedPoints): void {
  update.deviation = points.deviation;
  beginUpdate(update);
  do {
    while (pass(update)) assign(update, points);
  } while (nextStart(update));
  if (finish(update)) assign(update, points);
}

/** The same where (E1) comes later: `assignLater` fills the statistics at the centroids, loss included. */
export async function runUpdateAsync(update: UpdateState, assignLater: () => Promise<void>): Promise<void> {
  beginUpdate(update);
  do {
    for (; pass(update); update.isAssigned = true) await assignLater();
  } while (nextStart(update));
  if (finish(update)) await assignLater();
}

/** (E1). */
function assign(update: UpdateState, points: PreparedPoints): void {
  points.statistics(update.centroids, update.statistics, update.wantsLoss);
  update.isAssigned = true;
}

function beginUpdate(update: UpdateState): void {
  copy(update.centroids, update.input);
  // Where nothing asks how far J fell, the loss is wanted at the end only.
  update.wantsLoss = update.settings.tol > 0 || update.robust !== undefined || hasFurtherStarts(update);
  update.passes = 0;
  update.tried = 0;
  update.reachedCount = 0;
}

/**
 * One pass from where (E1) is known: (E2), (E3), (M). Returns whether (E1) is wanted to go on; false where this start
 * came to its end: J has settled, nothing moves, or there were enough passes.
 */
function pass(update: UpdateState): boolean {
  if (!update.isAssigned) return true;
  const { tol, passes: most } = update.settings;
  const before = update.objective;
  update.objective = updateObjective(update);
  // With tol 0 only rest is the end: rounding can keep J while centroids still move.
  const isSettled = tol > 0 && before - update.objective <= tol * Math.max(1, Math.abs(before));
  if (update.passes > 0 && (isSettled || update.passes === most)) return false;
  if (update.passes === 1 && hasFurtherStarts(update)) rememberReached(update);
  const { robust } = update;
  if (!(robust === undefined ? moveToMeans(update) : moveWithinCap(update, robust))) return false;
  update.isAssigned = false;
  update.passes++;
  if (update.passes === 1 && update.tried > 0 && wasReached(update)) {
    update.objective = Number.POSITIVE_INFINITY;
    return false;
  }
  // After the last pass the centroids may still be damped: only a comparison of starts needs (E1) before that.
  return update.passes < most || hasFurtherStarts(update);
}

/** J: the own loss and the pull of the neighbours, whose matches it renews. */
export function updateObjective(update: UpdateState): number {
  const { robust } = update;
  const pull = robust === undefined ? matchNeighbours(update) : matchRobustly(update, robust);
  return update.pointScale * update.statistics.loss + update.settings.alpha * pull;
}

/** (E2) and (E3) for all neighbours: fills the pulls and returns the sum of A(i, j) d(W_i, W_j), or of its penalty. */
function matchNeighbours(update: UpdateState): number {
  const { k, cols, centroids, matches, links, firstLink, endLink, pullSums, pullWeights, penalty } = update;
  const { sets } = update;
  const { data } = sets;
  const { coupling } = update.settings;
  // Plain loops: for a handful of numbers they are faster than `fill`.
  for (let i = 0; i < k * cols; i++) pullSums[i] = 0;
  for (let c = 0; c < k; c++) pullWeights[c] = 0;
  let total = 0;
  let { variation } = update.running;
  for (let n = firstLink; n < endLink; n++) {
    const start = setStart(sets, links.devices[n]);
    const rows = rowsOfSet(sets, links.devices[n]);
    const d = match(coupling, centroids, 0, k, data, start, rows, cols, matches);
    let weight = links.weights[n];
    const cost = weight * (penalty === "squared" ? d : penaltyCost(penalty, d));
    total += cost;
    if (links.devices[n] > update.device) variation += cost;
    // The pull of a link falls as its ends part.
    if (penalty !== "squared") weight *= penaltySlope(penalty, d);
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
  // The first time in an update nothing has moved yet.
  if (update.passes === 0 && update.tried === 0) update.running.variation = variation;
  return total;
}

/** Adds a row of `data`, times `weight`, to a row of `sums`. */
function addRow(
  weight: number,
  data: Float64Array,
  row: number,
  /* IN OUT */ sums: Float64Array,
  to: number,
  cols: number,
): void {
  // The paper's data are planar: the same bits without a loop.
  if (cols === 2) {
    sums[2 * to] += weight * data[2 * row];
    sums[2 * to + 1] += weight * data[2 * row + 1];
    return;
  }
  for (let i = to * cols, from = row * cols; i < (to + 1) * cols; i++, from++) sums[i] += weight * data[from];
}

/** (M), relaxed. Returns whether any centroid moved. */
function moveToMeans(update: UpdateState): boolean {
  const { k, cols, centroids, pointScale, pullSums, pullWeights, basis } = update;
  const { counts, sums } = update.statistics;
  const { alpha, relaxation, denominatorFloor } = update.settings;
  // (M) divided through by u_i / m_i: with alpha = 0 it is then the plain mean, to the last bit.
  const unit = pointScale > 0 ? pointScale : alpha;
  const pullScale = unit > 0 ? alpha / unit : 0;
  const floor = unit > 0 ? denominatorFloor / unit : 0;
  // The safeguard judges by the first pass of the first start.
  const remember = update.settings.safeguard && update.tried === 0 && update.passes === 0;
  let moved = false;
  for (let c = 0; c < k; c++) {
    // Differs from the paper: no max(den, 1), and den = 0 keeps the centroid, see docs/paper.md#the-denominator.
    const weight = Math.max(counts[c] + pullScale * pullWeights[c], floor);
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const old = centroids[i];
      basis[i] = old;
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
 * (M) with `robust`: not relaxed where a pull is limited, half of the way where a term is held or fades, and not beyond the cap.
 * A held term moves by four times what the median neighbour moves, because the limit does: after whole steps devices that
 * move at the same time would go to and fro for ever.
 */
function moveWithinCap(update: UpdateState, { before, cut }: RobustRoom): boolean {
  const { cols, centroids, settings } = update;
  before.set(centroids);
  moveToMeans(update);
  for (let i = 0; i < centroids.length; i++) {
    const fate = cut[Math.floor(i / cols)];
    if (fate === 0) continue;
    const step = (fate === 2 ? 0.5 : 1) / Math.max(1, settings.relaxation);
    centroids[i] = before[i] + step * (centroids[i] - before[i]);
  }
  if (settings.robust === true) capRobustDrift(update, before);
  if (settings.safeguard && update.tried === 0 && update.passes === 0) update.firstPass.set(centroids);
  return !isAt(centroids, before, 0);
}

function hasFurtherStarts({ freshStarts, firstLink, endLink, settings }: UpdateState): boolean {
  return freshStarts.length > 0 || (settings.candidates && endLink > firstLink);
}

/** Starts with the same labels and matches meet after their first pass. This one goes on from there. */
function rememberReached(update: UpdateState): void {
  const { reached, centroids } = update;
  const at = update.reachedCount++;
  reached[at] ??= new Float64Array(centroids.length);
  copy(centroids, reached[at]);
}

/** Whether an earlier start went on from here: this one would end where it did, or before, and is never better. */
function wasReached({ reached, reachedCount, centroids }: UpdateState): boolean {
  for (let n = 0; n < reachedCount; n++) if (isAt(centroids, reached[n], 0)) return true;
  return false;
}

/** Keeps the result at hand if it is the best so far. Then loads the next start, or the best result if there is none. */
function nextStart(update: UpdateState): boolean {
  if (!hasFurtherStarts(update)) return false;
  const { best, bestStatistics, centroids, statistics } = update;
  // The margin matters: equal optima in another order differ by rounding only.
  if (update.tried === 0 || update.objective < update.bestObjective - 1e-9 * Math.abs(update.bestObjective)) {
    update.bestObjective = update.objective;
    copy(centroids, best);
    copy(update.basis, update.bestBasis);
    copyStatistics(statistics, bestStatistics);
  }
  while (loadStart(update, update.tried++)) {
    if (isRepeated(update, update.tried - 1)) continue;
    update.passes = 0;
    update.isAssigned = false;
    return true;
  }
  copy(best, centroids);
  copy(update.bestBasis, update.basis);
  copyStatistics(bestStatistics, statistics);
  update.isAssigned = true;
  return false;
}

/** Puts further start number `index` into the centroids: the neighbours' sets, then the fresh ones. */
function loadStart(update: UpdateState, index: number): boolean {
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

/** Whether further start number `index` is a neighbour's set that the device had itself, or an earlier neighbour. */
function isRepeated({ centroids, input, sets, links, firstLink, endLink, settings }: UpdateState, index: number) {
  if (!settings.candidates || index >= endLink - firstLink) return false;
  if (isAt(centroids, input, 0)) return true;
  for (let n = firstLink; n < firstLink + index; n++) {
    if (isAt(centroids, sets.data, sets.starts[links.devices[n]] * sets.cols)) return true;
  }
  return false;
}

function isAt(centroids: Float64Array, data: Float64Array, from: number): boolean {
  let same = 0;
  while (same < centroids.length && data[from + same] === centroids[same]) same++;
  return same === centroids.length;
}

/** A plain loop: for a handful of numbers it is faster than `set`. */
function copy(from: Float64Array, /* OUT */ into: Float64Array): void {
  for (let i = 0; i < from.length; i++) into[i] = from[i];
}

export function copyStatistics(from: Statistics, /* OUT */ into: Statistics): void {
  copy(from.counts, into.counts);
  copy(from.sums, into.sums);
  into.loss = from.loss;
}

/** Safeguard, then damping. Returns whether (E1) is wanted at the result. */
function finish(update: UpdateState): boolean {
  const { centroids, input, settings } = update;
  const moved = update.passes > 0 || hasFurtherStarts(update);
  const refused = settings.safeguard && moved && raisesSurrogate(update);
  if (refused) {
    copy(update.firstPass, centroids);
    update.basis.set(input);
  }
  const damped = settings.damping < 1 && moved;
  if (damped) {
    for (let i = 0; i < centroids.length; i++) {
      centroids[i] = (1 - settings.damping) * input[i] + settings.damping * centroids[i];
    }
  }
  update.wantsLoss = true;
  return !update.isAssigned || refused || damped || Number.isNaN(update.statistics.loss);
}

/**
 * Whether the result raises J with the labels and matches of the input held fixed. That J is a quadratic with its
 * minimum at the first target t: from the input w it changes by sum_c weight_c (|v - w|^2 - 2 <v - w, t - w>).
 */
function raisesSurrogate({ k, cols, centroids, input, firstTarget, firstWeights }: UpdateState): boolean {
  let change = 0;
  for (let c = 0; c < k; c++) {
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const move = centroids[i] - input[i];
      change += firstWeights[c] * move * (move - 2 * (firstTarget[i] - input[i]));
    }
  }
  return change > 0;
}
