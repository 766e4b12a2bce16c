// Seeds for k-means: k-means++, classic and greedy, on weighted points.

import { ln } from "./elementary.ts";
import type { PreparedPoints } from "./kernel/kernel.ts";
import type { Matrix } from "./matrix.ts";
import type { Random } from "./random.ts";

export interface SeedingProblem {
  readonly points: Matrix;
  readonly weights?: Float64Array | undefined;
  readonly prepared: PreparedPoints;
  readonly k: number;
}

/**
 * k-means++: every further centre is the best of `trials` points drawn with probability proportional to their squared
 * distance from the centres so far. Classic is 1 trial; greedy, the default, 2 + ln k. Needs at least k points.
 */
export function plusPlus(
  { points, weights, prepared, k }: SeedingProblem,
  random: Random,
  trials = 2 + Math.floor(ln(k)),
): Float64Array {
  const { data, rows, cols } = points;
  const centres = new Float64Array(k * cols);
  // Squared distance to the nearest centre so far; before the first all points are equally far.
  let closest = new Float64Array(rows).fill(1);
  let best = new Float64Array(rows);
  let trial = new Float64Array(rows);
  for (let c = 0; c < k; c++) {
    const total = weightedSum(closest, weights);
    let lowest = Number.POSITIVE_INFINITY;
    // The first centre has nothing to be compared with: one draw.
    for (let t = 0; t < (c === 0 ? 1 : trials); t++) {
      const row = draw(closest, weights, total, random);
      const centre = data.subarray(row * cols, (row + 1) * cols);
      prepared.squaredDistances(centre, trial);
      if (c > 0) for (let r = 0; r < rows; r++) if (closest[r] < trial[r]) trial[r] = closest[r];
      const reached = weightedSum(trial, weights);
      if (reached < lowest) {
        lowest = reached;
        centres.set(centre, c * cols);
        [best, trial] = [trial, best];
      }
    }
    [closest, best] = [best, closest];
  }
  return centres;
}

/** A row drawn in proportion to weight times distance; by weight alone where every point already is a centre. */
function draw(distances: Float64Array, weights: Float64Array | undefined, total: number, random: Random): number {
  let left = random() * (total > 0 ? total : weightedSum(undefined, weights, distances.length));
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

function weightedSum(values?: Float64Array, weights?: Float64Array, rows = values?.length ?? 0): number {
  let total = 0;
  for (let r = 0; r < rows; r++) {
    total += (values === undefined ? 1 : values[r]) * (weights === undefined ? 1 : weights[r]);
  }
  return total;
}
