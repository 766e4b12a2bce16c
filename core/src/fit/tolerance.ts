// How far a device may move and still counts as at rest.

import type { CentroidSets } from "../update/coupling.ts";
import type { UpdateSettings } from "../update/updateOptions.ts";

/** What of a network says how far that is. */
interface Moving {
  readonly sets: CentroidSets;
  readonly settings: UpdateSettings;
  /** Of all points: the largest difference in a column. */
  readonly range: number;
}

/**
 * The largest move of device i that counts as rest: tol times its largest coordinate or, for data far from 0, twice the
 * points' range, as far as a coordinate has bits for that.
 */
export function largestRestingMove(state: Moving, i: number): number {
  const { tol } = state.settings;
  const largest = largestCoordinate(state, i);
  return Math.min(tol * largest, Math.max(2 * tol * state.range, LAST_BITS * largest));
}

/** As a share of a coordinate: what the rounding of an update can move, with relaxation and many neighbours. */
const LAST_BITS = 64 * Number.EPSILON;

export function lastBits(state: Pick<Moving, "sets">, i: number): number {
  return LAST_BITS * largestCoordinate(state, i);
}

/** What tolerances are relative to. */
export function largestCoordinate({ sets }: Pick<Moving, "sets">, i: number): number {
  const end = sets.starts[i + 1] * sets.cols;
  let largest = 0;
  for (let at = sets.starts[i] * sets.cols; at < end; at++) largest = Math.max(largest, Math.abs(sets.data[at]));
  return largest;
}
