// What a neighbour can compute from the messages it gets: (M) solved for a device's own cluster means and their shares.

import { dot, type Matrix } from "../data/matrix.ts";
import { type Coupling, emptyMatches, match } from "../update/coupling.ts";

/** What one update of a device had to do with: its new centroids, and the centroids of its neighbours at that time. */
export interface Exchange {
  readonly sent: Matrix;
  readonly neighbours: readonly Matrix[];
}

/** A cluster of a device: the mean of its points, and which share of the device's points they are. */
export interface RecoveredCluster {
  readonly share: number;
  readonly mean: Float64Array;
  /** Which message it is about. */
  readonly message: number;
}

/** A cluster in one message: its centroid, and the weight and the weighted sum of what the neighbours add to it. */
export interface Equation {
  readonly at: Float64Array;
  weight: number;
  readonly sum: Float64Array;
}

/** Equations that disagree by more than this, relative to their terms, are about points that changed their cluster. */
const CONSISTENT = 1e-9;

/**
 * (M) says w (f + A) = s + B for each cluster, with f and s the share and the sum of its points, and A and B what the
 * neighbours add, which whoever knows their centroids can compute. Two messages between which no point changed its
 * cluster give f and s, and a further equation that tells whether none did. undefined: no two messages agree.
 * @example
 * const told = [2, 3].map((x) => ({ sent: matrix([[x]]), neighbours: [matrix([[2 * x - 1]])] }));
 * recoverClusters(told, 0.25)[0]?.mean // [1]
 */
export function recoverClusters(
  exchanges: readonly Exchange[],
  alpha: number,
): readonly (RecoveredCluster | undefined)[] {
  const equations = exchanges.map((exchange) => equationsOf(exchange, alpha));
  return equations[0].map((_, cluster) => recoverCluster(equations.map((message) => message[cluster])));
}

function recoverCluster(known: readonly Equation[]): RecoveredCluster | undefined {
  let best: { cluster: RecoveredCluster; error: number } | undefined;
  for (let t = 1; t < known.length; t++) {
    const found = equationShare(known[t - 1], known[t]);
    if (found === undefined || !(found.error < (best?.error ?? CONSISTENT))) continue;
    const { share, error } = found;
    const mean = equationSum(known[t], share).map((x) => x / share);
    best = { cluster: { share, mean, message: t }, error };
  }
  return best?.cluster;
}

/**
 * The share that two messages give, and by how much they contradict each other; undefined: they give none.
 * @example
 * const before = { at: Float64Array.of(1), weight: 0, sum: Float64Array.of(0) };
 * equationShare(before, { ...before, at: Float64Array.of(3), sum: before.at })?.share // 0.5
 */
export function equationShare(before: Equation, after: Equation): { share: number; error: number } | undefined {
  const move = after.at.map((x, d) => x - before.at[d]);
  const change = after.at.map((x, d) => after.sum[d] - after.weight * x - before.sum[d] + before.weight * before.at[d]);
  const length = dot(move, move);
  if (length === 0) return undefined;
  const share = dot(change, move) / length;
  if (!(share > 0 && share <= 1)) return undefined;
  return { share, error: Math.hypot(...change.map((x, d) => x - share * move[d])) / Math.hypot(...change) };
}

/**
 * s of a message whose f is known.
 * @example equationSum({ at: Float64Array.of(1), weight: 0, sum: Float64Array.of(0) }, 0.5) // [0.5]
 */
export function equationSum({ at, weight, sum }: Equation, share: number): Float64Array {
  return at.map((x, d) => x * (share + weight) - sum[d]);
}

/**
 * For every cluster of a message. `matchedAt`: the centroids at which (E2) and (E3) were made, if not at those sent.
 * @example equationsOf({ sent: matrix([[0]]), neighbours: [matrix([[3]])] }, 1)[0].weight // 2
 */
export function equationsOf(
  { sent, neighbours }: Exchange,
  alpha: number,
  coupling: Coupling = "nearest",
  matchedAt: Matrix = sent,
): Equation[] {
  const { rows, cols, data } = sent;
  const equations = Array.from({ length: rows }, (_, c) => ({
    at: data.slice(c * cols, (c + 1) * cols),
    weight: 0,
    sum: new Float64Array(cols),
  }));
  const add = (equation: Equation, centroids: Matrix, c: number) => {
    equation.weight += alpha;
    for (let d = 0; d < cols; d++) equation.sum[d] += alpha * centroids.data[c * cols + d];
  };
  const matches = emptyMatches(neighbours.reduce((most, other) => Math.max(most, other.rows), rows));
  for (const other of neighbours) {
    match(coupling, matchedAt.data, 0, rows, other.data, 0, other.rows, cols, matches);
    if (coupling === "nearest") {
      for (let c = 0; c < other.rows; c++) add(equations[matches.toOwn[c]], other, c);
    }
    for (let c = 0; c < rows; c++) add(equations[c], other, matches.toOther[c]);
  }
  return equations;
}
