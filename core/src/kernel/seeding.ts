// Seeds for k-means: k-means++, classic and greedy, on weighted points.

import { ln } from "../data/elementary.ts";
import { type Numbers, type Points, squaredDistance } from "../data/matrix.ts";
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

// The same for many clusters. A row can only get nearer to a new seed that is less than twice as far from the row's own
// seed as the row itself. So rows are kept by their seeds, and all rows of most seeds are passed over at once.

/** Greedy k-means++ for many clusters: the same law, other draws, and the more it saves the clearer the clusters are. */
export function plusPlusOfMany({ points, weights, k }: Omit<SeedingProblem, "prepared">, random: Random): Float64Array {
  const { data, rows, cols } = points;
  const seeds = new Float64Array(k * cols);
  const weightOf = (r: number) => (weights === undefined ? 1 : weights[r]);
  const first = draw(new Float64Array(rows).fill(1), weights, totalWeight(rows, weights), random);
  seeds.set(data.subarray(first * cols, (first + 1) * cols));
  const closest = new Float64Array(rows);
  const groups: number[][] = [Array.from({ length: rows }, (_, r) => r)];
  for (let r = 0; r < rows; r++) closest[r] = squaredDistance(data, r * cols, seeds, 0, cols);
  /** Of each group: what its rows cost together, and the largest squared distance of one. */
  const costs = [groups[0].reduce((sum, r) => sum + weightOf(r) * closest[r], 0)];
  const radii = [closest.reduce((most, square) => Math.max(most, square), 0)];
  const trials = greedyTrials(k);
  let best = emptyTrial(rows);
  let other = emptyTrial(rows);
  for (let c = 1; c < k; c++) {
    const total = costs.reduce((sum, cost) => sum + cost, 0);
    best.gain = -1;
    for (let t = 0; t < trials; t++) {
      const row = drawFromGroups(groups, costs, closest, weightOf, total * random());
      approachSeed(points, row, { seeds, groups, radii, closest, weightOf }, other);
      if (other.gain > best.gain) [best, other] = [other, best];
    }
    seeds.set(data.subarray(best.row * cols, (best.row + 1) * cols), c * cols);
    for (let n = 0; n < best.length; n++) closest[best.rows[n]] = best.squares[n];
    for (let g = 0, n = 0; n < best.length; g++) {
      // Rows of a group come together in a trial, and groups in their order.
      if (best.groups[n] !== g) continue;
      const from = n;
      while (n < best.length && best.groups[n] === g) n++;
      const moved = new Set(best.rows.subarray(from, n));
      groups[g] = groups[g].filter((r) => !moved.has(r));
      [costs[g], radii[g]] = groupCost(groups[g], closest, weightOf);
    }
    groups.push(Array.from(best.rows.subarray(0, best.length)));
    const [cost, radius] = groupCost(groups[c], closest, weightOf);
    costs.push(cost);
    radii.push(radius);
  }
  return seeds;
}

/** The rows that would be nearer to a seed, with their squared distances and groups, and by how much all costs would fall. */
interface SeedTrial {
  row: number;
  length: number;
  gain: number;
  readonly rows: Uint32Array;
  readonly groups: Uint32Array;
  readonly squares: Float64Array;
}

function emptyTrial(rows: number): SeedTrial {
  const room = { rows: new Uint32Array(rows), groups: new Uint32Array(rows), squares: new Float64Array(rows) };
  return { row: 0, length: 0, gain: -1, ...room };
}

interface SeedGroups {
  readonly seeds: Float64Array;
  readonly groups: readonly (readonly number[])[];
  readonly radii: readonly number[];
  readonly closest: Float64Array;
  readonly weightOf: (r: number) => number;
}

function approachSeed({ data, cols }: Points, row: number, rest: SeedGroups, /* OUT */ trial: SeedTrial): void {
  const { seeds, groups, radii, closest, weightOf } = rest;
  let [length, gain] = [0, 0];
  for (let g = 0; g < groups.length; g++) {
    const apart = squaredDistance(data, row * cols, seeds, g * cols, cols);
    if (apart >= 4 * radii[g]) continue;
    for (const r of groups[g]) {
      if (apart >= 4 * closest[r]) continue;
      const square = squaredDistance(data, r * cols, data, row * cols, cols);
      if (square >= closest[r]) continue;
      gain += weightOf(r) * (closest[r] - square);
      trial.rows[length] = r;
      trial.groups[length] = g;
      trial.squares[length++] = square;
    }
  }
  trial.row = row;
  trial.length = length;
  trial.gain = gain;
}

function groupCost(rows: readonly number[], closest: Float64Array, weightOf: (r: number) => number): [number, number] {
  let [cost, radius] = [0, 0];
  for (const r of rows) {
    cost += weightOf(r) * closest[r];
    if (closest[r] > radius) radius = closest[r];
  }
  return [cost, radius];
}

/** The row at which the costs of groups, and then of rows, have used up `left`; the last that has any where rounding leaves some over. */
function drawFromGroups(
  groups: readonly (readonly number[])[],
  costs: readonly number[],
  closest: Float64Array,
  weightOf: (r: number) => number,
  left: number,
): number {
  let last = groups[0][0] ?? 0;
  for (let g = 0; g < groups.length; g++) {
    if (left >= costs[g] && g < groups.length - 1) {
      left -= costs[g];
      continue;
    }
    for (const r of groups[g]) {
      const cost = weightOf(r) * closest[r];
      if (cost === 0) continue;
      last = r;
      left -= cost;
      if (left < 0) return r;
    }
  }
  return last;
}
