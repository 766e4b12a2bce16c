// Robust updates (`robust`): (E2) and (E3) where a neighbour may lie. A pull that is far and could do harm is limited, and
// no centroid drifts far from the mean of its own points.

import { checkAtLeastZero } from "../data/check.ts";
import { squaredDistance } from "../data/matrix.ts";
import type { Statistics } from "../kernel/kernel.ts";
import { emptyMatches, match } from "./coupling.ts";
import type { RobustRoom, UpdateState } from "./updateState.ts";

// Drift: how far neighbours have pulled a centroid from the mean of its own points, and the cap on it.

/** A centroid stays within this many standard errors of the mean of its own points. */
const MOST_ERRORS = 5;

/** Many points have a small standard error, and honest devices may differ by more: this share of a deviation is free. */
const FREE_DEVIATIONS = 0.5;

/** Points beyond one for each cluster. The deviation of fewer is too uncertain to hold a centroid by. */
const LEAST_FREEDOM = 10;

/**
 * How far a centroid of so many points may be from their mean, in standard errors of that mean.
 * @example largestRobustDrift(100).toFixed(3) // "5.000"
 */
export function largestRobustDrift(points: number): number {
  checkAtLeastZero("points", points);
  return Math.max(MOST_ERRORS, FREE_DEVIATIONS * Math.sqrt(points));
}

/**
 * The deviation of the points from the means of their clusters, as one number for all clusters: counts, sums and the loss
 * hold it, wherever the points are, and of a cluster with few points it is known as well as of others.
 */
export function deviationOf({ counts, sums, loss }: Statistics, centroids: Float64Array, cols: number): number {
  let within = loss;
  for (let c = 0; c < counts.length; c++) {
    if (counts[c] === 0) continue;
    for (let i = c * cols; i < (c + 1) * cols; i++) within -= counts[c] * (sums[i] / counts[c] - centroids[i]) ** 2;
  }
  const freedom = freedomOf(counts);
  return freedom > 0 ? Math.sqrt(Math.max(0, within) / freedom) : 0;
}

/** Points beyond one for each cluster that has any. */
function freedomOf(counts: Float64Array): number {
  let freedom = 0;
  for (const count of counts) if (count > 0) freedom += count - 1;
  return freedom;
}

/** How far centroid c is from the mean of its points. */
function distanceToMean({ counts, sums }: Statistics, centroids: Float64Array, c: number, cols: number): number {
  let square = 0;
  for (let i = c * cols; i < (c + 1) * cols; i++) square += (centroids[i] - sums[i] / counts[c]) ** 2;
  return Math.sqrt(square);
}

/** How far each centroid is from the mean of its points, in standard errors; 0 where that cannot be said. */
export function robustDrift(update: UpdateState): Float64Array {
  const { k, cols, centroids, statistics } = update;
  const { counts } = statistics;
  const deviation = update.deviation ?? deviationOf(statistics, centroids, cols);
  return Float64Array.from({ length: k }, (_, c) => {
    if (counts[c] === 0 || deviation === 0 || freedomOf(counts) < LEAST_FREEDOM) return 0;
    return (distanceToMean(statistics, centroids, c, cols) * Math.sqrt(counts[c])) / deviation;
  });
}

/** After (M): takes centroids back to the cap. The statistics are those of the centroids `before` (M). */
export function capRobustDrift(update: UpdateState, before: Float64Array): void {
  const { k, cols, centroids, statistics } = update;
  const { counts, sums } = statistics;
  if (freedomOf(counts) < LEAST_FREEDOM) return;
  const deviation = update.deviation ?? deviationOf(statistics, before, cols);
  for (let c = 0; c < k; c++) {
    if (counts[c] === 0 || deviation === 0) continue;
    const most = (largestRobustDrift(counts[c]) * deviation) / Math.sqrt(counts[c]);
    const distance = distanceToMean(statistics, centroids, c, cols);
    if (distance <= most) continue;
    for (let i = c * cols; i < (c + 1) * cols; i++) {
      const mean = sums[i] / counts[c];
      centroids[i] = mean + (most / distance) * (centroids[i] - mean);
    }
  }
}

/** A term is far beyond this many times the median length of the neighbours'. */
const FAR = 4;

/** A term fades from this many limits on, and is gone at twice as many: what is so far tells of other rows, or lies. */
const FADING = 2;

/** A neighbour is far as a whole if the squares of its distances are more than this share of their limits, on average. */
const MOST_AT_ONCE = 0.45;

/**
 * With fewer neighbours none is far as a whole: of two, the farther one is near the limits that the other sets whenever
 * they differ, and devices of a ring would then end at one of several results, as chance has it.
 */
const FEWEST_TO_COMPARE = 3;

/**
 * (E2) and (E3) for all neighbours, as without `robust`: fills the pulls and returns the sum of what the terms cost. Where
 * nothing is far and no centroid of ours is matched by several of one neighbour, the bits are those without it.
 */
export function matchRobustly(update: UpdateState, room: RobustRoom): number {
  const { links, firstLink, endLink, pullSums, pullWeights } = update;
  matchAll(update, room);
  setLimits(update, room);
  pullSums.fill(0);
  pullWeights.fill(0);
  room.cut.fill(0);
  let total = 0;
  for (let n = firstLink; n < endLink; n++) {
    room.rejected[n - firstLink] = 0;
    if (links.weights[n] > 0) total += links.weights[n] * pullOfNeighbour(update, room, n);
  }
  return total;
}

function matchAll(update: UpdateState, { matches }: RobustRoom): void {
  const { k, cols, centroids, links, firstLink, endLink, sets, settings } = update;
  for (let n = firstLink; n < endLink; n++) {
    const start = sets.starts[links.devices[n]];
    const rows = sets.starts[links.devices[n] + 1] - start;
    const at = n - firstLink;
    const room = Math.max(k, rows);
    if (matches[at] === undefined || matches[at].toOwn.length < room) matches[at] = emptyMatches(room);
    match(settings.coupling, centroids, 0, k, sets.data, start, rows, cols, matches[at]);
  }
}

/** For every own centroid: what is far, what does no harm, and what a term costs at most. */
function setLimits(update: UpdateState, room: RobustRoom): void {
  const { k, cols, centroids, links, firstLink, endLink, pointScale, statistics } = update;
  const { votes, matches, far, harmless } = room;
  const deviation = update.deviation ?? deviationOf(statistics, centroids, cols);
  // Liars who outnumber the others could else make a start that suits them look better than any with a lower loss.
  room.mostCost = deviation > 0 ? deviation * deviation : Number.POSITIVE_INFINITY;
  for (let c = 0; c < k; c++) {
    votes.length = 0;
    for (let n = firstLink; n < endLink; n++) {
      if (links.weights[n] > 0) votes.push(matches[n - firstLink].lengths[c]);
    }
    votes.sort((a, b) => a - b);
    // The lower median: of two neighbours the farther one does not say what is far.
    far[c] = FAR * FAR * (votes[(votes.length - 1) >> 1] ?? 0);
    // Points hold their mean by pointScale * counts. If all neighbours pulled one way by this, it would move as far as
    // the cap on its drift allows. Honest neighbours, who pull many ways by what they err, hardly ever pull more.
    harmless[c] = (MOST_ERRORS / votes.length) * pointScale * Math.sqrt(Math.max(1, statistics.counts[c])) * deviation;
  }
}

/** The terms of one link; returns what they cost. */
function pullOfNeighbour(update: UpdateState, room: RobustRoom, n: number): number {
  const { k, links, firstLink, sets, settings } = update;
  const { toOther, toOwn, lengths } = room.matches[n - firstLink];
  const { limits, far, harmless, nearest, squares, mostCost } = room;
  const start = sets.starts[links.devices[n]];
  const isNearest = settings.coupling === "nearest";
  const rows = isNearest ? sets.starts[links.devices[n] + 1] - start : 0;
  // One term of (E3), and one of (E2), can pull a centroid.
  const strength = (isNearest ? 2 : 1) * settings.alpha * links.weights[n];
  for (let c = 0; c < k; c++) {
    limits[c] = strength > 0 ? Math.max(far[c], (harmless[c] / strength) ** 2) : Number.POSITIVE_INFINITY;
  }
  room.share = room.votes.length < FEWEST_TO_COMPARE ? 1 : shareOfNeighbour(lengths, limits, k);
  findNearest(update, room, n, rows);
  let cost = 0;
  let taken = 0;
  for (let other = 0; other < rows; other++)
    cost += Math.min(costOfTerm(squares[other], limits[toOwn[other]]), mostCost);
  for (let c = 0; c < k; c++) {
    cost += Math.min(costOfTerm(lengths[c], limits[c]), mostCost);
    taken += pull(update, room, { n, row: start + toOther[c], own: c, square: lengths[c] });
  }
  for (let other = 0; other < rows; other++) {
    const own = toOwn[other];
    if (nearest[own] === other) taken += pull(update, room, { n, row: start + other, own, square: squares[other] });
  }
  room.rejected[n - firstLink] = 1 - taken / (k + rows);
  return cost;
}

/** Of several centroids that (E2) matches with one of ours only the nearest pulls: a liar could send the same k times. */
function findNearest(update: UpdateState, room: RobustRoom, n: number, rows: number): void {
  const { cols, centroids, links, firstLink, sets } = update;
  const { nearest, squares } = room;
  const { toOwn } = room.matches[n - firstLink];
  const start = sets.starts[links.devices[n]];
  nearest.fill(-1);
  for (let other = 0; other < rows; other++) {
    const own = toOwn[other];
    squares[other] = squaredDistance(centroids, own * cols, sets.data, (start + other) * cols, cols);
    if (nearest[own] < 0 || squares[other] < squares[nearest[own]]) nearest[own] = other;
  }
}

/** Adds a term to the pulls as far as its limit allows; returns how far, from 0 to 1. */
function pull(
  { cols, links, pullSums, pullWeights, sets }: UpdateState,
  room: RobustRoom,
  { n, row, own, square }: { n: number; row: number; own: number; square: number },
) {
  const ofTerm = shareOfTerm(square, room.limits[own]);
  const share = room.share * ofTerm;
  if (share < 1) room.cut[own] = Math.max(room.cut[own], ofTerm > 0 && ofTerm < 1 ? 2 : 1);
  if (share === 0) return 0;
  const weight = share * links.weights[n];
  pullWeights[own] += weight;
  for (let i = own * cols, from = row * cols; i < (own + 1) * cols; i++, from++)
    pullSums[i] += weight * sets.data[from];
  return share;
}

/**
 * 1 up to the limit. Farther terms pull like one at the limit: an honest neighbour with other rows keeps its influence,
 * and does not lose it step by step as its pull falls and the devices part. From `FADING` limits on the pull falls to 0,
 * and not at once: what is let in moves the centroid, and so the limit, and updates would have no fixed point.
 */
function shareOfTerm(square: number, limit: number): number {
  if (square <= limit) return 1;
  const length = Math.sqrt(square / limit);
  return Math.min(1, Math.max(0, 2 - length / FADING)) / length;
}

/**
 * Honest neighbours are near their limits in a cluster or two, by chance or because they have other rows there. One that
 * is near them in all clusters at once would pull hardest, and that is what a liar does: it pulls no more for being nearer.
 */
function shareOfNeighbour(lengths: Float64Array, limits: Float64Array, k: number): number {
  let sum = 0;
  for (let c = 0; c < k; c++) if (lengths[c] > 0) sum += Math.min(1, lengths[c] / limits[c]);
  return sum <= MOST_AT_ONCE * k ? 1 : Math.sqrt((MOST_AT_ONCE * k) / sum);
}

/** The cost whose slope is that share: the square up to the limit, then linear, and constant where the term is gone. */
function costOfTerm(square: number, limit: number): number {
  if (square <= limit) return square;
  const length = Math.min(2 * FADING, Math.sqrt(square / limit));
  const beyond = Math.max(0, length - FADING);
  return limit * (2 * length - 1 - (beyond * beyond) / FADING);
}
