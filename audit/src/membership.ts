// Membership: does what a device sends tell whether a given row is among its rows?

import { kmeans, type Matrix } from "@fedkm/core";
import { sketchCentroids } from "../../device/src/loop/sketch.ts";
import { scaleRows } from "../../device/src/study/units.ts";
import type { Observation } from "./observation.ts";
import type { Outcome } from "./outcome.ts";
import type { AttackScenario } from "./scenario.ts";

/**
 * The attacker gets two rows, one of the device and one of the same kind that is not, and says which is which. A mean
 * leans towards every row in it: what counts is how far the device's mean leans towards a row, seen from the mean of
 * the attacker's own rows of that cluster.
 */
export function membershipOutcome(
  { study, datasets, apart, random }: AttackScenario,
  { sketches, messages }: Observation,
): Outcome {
  const first = sketches.at(0);
  const sent = first === undefined ? messages.at(0)?.centroids : sketchCentroids(first);
  if (sent === undefined || sent.rows === 0) return { attack: "membership", guesses: 0, rightGuesses: 0 };
  const [own, neighbours] = [scaleRows(study, datasets[0]), scaleRows(study, datasets[1])];
  const reference = kmeans(neighbours, { k: study.k, restarts: 3, seed: 1 }).centroids;
  const lean = (row: Float64Array) => {
    const mean = nearestCentroid(sent, row);
    const from = nearestCentroid(reference, mean);
    return row.reduce((sum, x, d) => sum + (mean[d] - from[d]) * (x - from[d]), 0);
  };
  const outside = scaleRows(study, apart);
  let rightGuesses = 0;
  // The first of the rows that are kept apart is added later.
  for (let r = 1; r < outside.rows; r++) {
    const member = rowOf(own, Math.floor(random() * own.rows));
    if (lean(member) > lean(rowOf(outside, r))) rightGuesses++;
  }
  return { attack: "membership", guesses: Math.max(0, outside.rows - 1), rightGuesses };
}

function rowOf({ data, cols }: Matrix, r: number): Float64Array {
  return data.subarray(r * cols, (r + 1) * cols);
}

function nearestCentroid(centroids: Matrix, row: Float64Array): Float64Array {
  let best = rowOf(centroids, 0);
  let least = Number.POSITIVE_INFINITY;
  for (let c = 0; c < centroids.rows; c++) {
    const centroid = rowOf(centroids, c);
    const square = row.reduce((sum, x, d) => sum + (x - centroid[d]) ** 2, 0);
    if (square < least) [best, least] = [centroid, square];
  }
  return best;
}
