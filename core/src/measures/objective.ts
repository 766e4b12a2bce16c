// F of GTVMin and its parts, on data and centroids that were checked. The public measures check and call these.

import type { Matrix } from "../data/matrix.ts";
import { pointScales, type Weighting } from "../fit/network.ts";
import { type Graph, packLinks } from "../graph/graph.ts";
import { jsKernel } from "../kernel/js.ts";
import { emptyStatistics } from "../kernel/kernel.ts";
import { fastKernel } from "../kernel/wasm.ts";
import { type Coupling, emptyMatches, packSets, totalVariationOfSets } from "../update/coupling.ts";
import type { Penalty } from "../update/penalty.ts";

/** With fewer numbers than this, a single pass is over before an engine in WebAssembly has its own copy of them. */
const MANY_NUMBERS = 50_000;

/** Sum of squared distances from every point to its nearest centroid. */
export function lossOf(points: Matrix, centroids: Matrix): number {
  if (points.rows === 0) return 0;
  const statistics = emptyStatistics(centroids.rows, centroids.cols);
  const prepared = (points.data.length < MANY_NUMBERS ? jsKernel : fastKernel).prepare(points);
  prepared.statistics(centroids.data, statistics);
  prepared.release();
  return statistics.loss;
}

/** GTV. */
export function totalVariationOf(
  centroids: readonly Matrix[],
  graph: Graph,
  coupling: Coupling,
  penalty: Penalty,
): number {
  const matches = emptyMatches(centroids.reduce((most, { rows }) => Math.max(most, rows), 0));
  return totalVariationOfSets(packSets(centroids, centroids[0].cols), packLinks(graph), coupling, matches, penalty);
}

export interface JudgedBy {
  readonly alpha: number;
  readonly coupling: Coupling;
  readonly weighting: Weighting;
  readonly penalty: Penalty;
}

/** F, GTV and the sum of all squared distances. `losses` are those of the devices, where they are known. */
export function objectiveOf(
  datasets: readonly Matrix[],
  centroids: readonly Matrix[],
  graph: Graph,
  { alpha, coupling, weighting, penalty }: JudgedBy,
  losses: readonly number[] = datasets.map((points, i) => lossOf(points, centroids[i])),
): { readonly objective: number; readonly totalVariation: number; readonly inertia: number } {
  const totalVariation = totalVariationOf(centroids, graph, coupling, penalty);
  const scales = pointScales(datasets, weighting);
  const loss = losses.reduce((sum, own, i) => sum + scales[i] * own, 0);
  const inertia = losses.reduce((sum, own) => sum + own, 0);
  return { objective: loss + alpha * totalVariation, totalVariation, inertia };
}
