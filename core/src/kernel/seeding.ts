// Seeds for k-means: k-means++, classic and greedy, on weighted points.

import { ln } from "../data/elementary.ts";
import type { Numbers, Points } from "../data/matrix.ts";
import type { Random } from "../data/random.ts";
import type { PreparedPoints } from "./kernel.ts";

export interface SeedingProblem {
  readonly points: Points;
  readonly weights?: Float64Array | undefined;
  readonly prepared: PreparedPoints;
  readonly k: number;
}

/** Distances of all rows, which draws on the same points share; made by the first that needs them. */
export interface SeedingRoom {
  distances?: readonly [Float64Array, Float64Array, Float64Array];
}

const trialsOf: number[] = [];

/** Draws for every seed but the first of greedy k-means++. Kept, because a tiny k-means takes little longer than ln. */
export function greedyTrials(k: number): number {
  trialsOf[k] ??= 2 + Math.floor(ln(k));
  return trialsOf[k];
}

/**
 * k-means++: every further seed is the best of `trials` points drawn with probability proportional to their squared
 * distance from the seeds so far. Classic is 1 trial; greedy, the default, 2 + ln k. Needs at least k points.
 */
export function plusPlus(
  { points, weights, prepared, k }: SeedingProblem,
  random: Random,
  trials = greedyTrials(k),
  room: SeedingRoom = {},
): Float64Array {
  const { data, rows, cols } = points;
  const seeds = new Float64Array(k * cols);
  room.distances ??= [new Float64Array(rows), new Float64Array(rows), new Float64Array(rows)];
  // Squared distance to the nearest seed so far; before the first all points are equally far.
  let [closest, best, trial] = room.distances;
  closest.fill(1);
  let total = totalWeight(rows, weights);
  for (let c = 0; c < k; c++) {
    const soFar = c > 0 ? closest : undefined;
    let lowest = Number.POSITIVE_INFINITY;
    let chosen = 0;
    // The first seed has nothing to be compared with: one draw.
    for (let t = 0; t < (c === 0 ? 1 : trials); t++) {
      const row = draw(closest, weights, total, random);
      const reached =
        cols === 2
          ? nearerInPlane(data, row, soFar, weights, trial)
          : nearer(prepared, data.subarray(row * cols, (row + 1) * cols), soFar, weights, trial);
      if (reached < lowest) {
        lowest = reached;
        chosen = row;
        [best, trial] = [trial, best];
      }
    }
    for (let j = 0; j < cols; j++) seeds[c * cols + j] = data[chosen * cols + j];
    [closest, best] = [best, closest];
    total = lowest;
  }
  return seeds;
}

/** Squared distances to a seed, or to those so far where these are nearer; returns their weighted sum. */
function nearer(
  prepared: PreparedPoints,
  seed: Numbers,
  closest: Float64Array | undefined,
  weights: Float64Array | undefined,
  /* OUT */ into: Float64Array,
): number {
  prepared.squaredDistances(seed, into);
  let total = 0;
  for (let r = 0; r < into.length; r++) {
    if (closest !== undefined && closest[r] < into[r]) into[r] = closest[r];
    total += weights === undefined ? into[r] : into[r] * weights[r];
  }
  return total;
}

/** The same bits for points in the plane, in one pass: there a call of the kernel and two further passes cost more than the distances. */
function nearerInPlane(
  data: Numbers,
  seed: number,
  closest: Float64Array | undefined,
  weights: Float64Array | undefined,
  /* OUT */ into: Float64Array,
): number {
  const x = data[2 * seed];
  const y = data[2 * seed + 1];
  let total = 0;
  for (let r = 0; r < into.length; r++) {
    const dx = data[2 * r] - x;
    const dy = data[2 * r + 1] - y;
    let square = dx * dx + dy * dy;
    if (closest !== undefined && closest[r] < square) square = closest[r];
    into[r] = square;
    total += weights === undefined ? square : square * weights[r];
  }
  return total;
}

/** A row drawn in proportion to weight times distance; by weight alone where every point already is a seed. */
function draw(distances: Float64Array, weights: Float64Array | undefined, total: number, random: Random): number {
  let left = random() * (total > 0 ? total : totalWeight(distances.length, weights));
  let last = 0;
  for (let r = 0; r < distances.length; r++) {
    const share = (total > 0 ? distances[r] : 1) * (weights === undefined ? 1 : weights[r]);
    if (share === 0) continue;
    last = r;
    left -= share;
    if (left < 0) break;
  }
  // Rounding can leave a little over: then it is the last row that has any chance.
  return last;
}

function totalWeight(rows: number, weights: Float64Array | undefined): number {
  let total = 0;
  for (let r = 0; r < rows; r++) total += weights === undefined ? 1 : weights[r];
  return total;
}
