// Distributed coreset (Balcan, Ehrlich and Liang 2013). It moves raw records: every sampled point is one.

import { checkInteger } from "../data/check.ts";
import { type Matrix, squaredDistance, stack, takeRows } from "../data/matrix.ts";
import { type Random, randomStream } from "../data/random.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic, collectorTraffic, floodTraffic } from "../graph/traffic.ts";
import { nearestCentroids } from "../kernel/model.ts";
import {
  centroidsOfFlood,
  centroidsToFlood,
  collectFlood,
  type FloodSettings,
  floodSettings,
  solveFlood,
} from "./flooding.ts";
import { type CommonOptions, judgingOptions, type MethodModel, methodModel } from "./method.ts";

/** Options of `methods.coreset`. */
export interface CoresetOptions extends CommonOptions {
  /** t: points sampled in each connected component. Default 20 k per device; 0 floods centroids and counts alone. */
  coresetSize?: number | undefined;
}

/** What one device floods: its samples, then its centroids. The weights add up to its number of points. */
export interface CoresetPart {
  readonly points: Matrix;
  /** As drawn: a centroid whose cell was sampled beyond its share has a negative one. */
  readonly weights: Float64Array;
  readonly samples: number;
}

/** What `methods.coreset` found. */
export interface CoresetModel extends MethodModel {
  readonly parts: readonly CoresetPart[];
}

/** A device's own solution, and what its points cost there. */
interface OwnSolution {
  readonly centroids: Matrix;
  readonly labels: Uint32Array;
  readonly costs: Float64Array;
  readonly total: number;
}

export function coreset(datasets: readonly Matrix[], graph: Graph, options: CoresetOptions): CoresetModel {
  const settings = floodSettings("coreset", datasets, graph, options);
  const { coresetSize } = options;
  if (coresetSize !== undefined) checkInteger("coresetSize", coresetSize, 0);
  const own = datasets.map((points, i) => solveOwn(points, i, settings));
  const parts = new Array<CoresetPart>(datasets.length);
  const centroids = solveFlood(graph, (devices) => {
    const size = coresetSize ?? 20 * settings.k * devices.length;
    const totals = devices.map((i) => own[i].total);
    // w(q) cost(q) is the same for every sample q of the component.
    const weightTimesCost = sum(totals) / size;
    const samples = splitSize(size, totals);
    devices.forEach((i, at) => {
      const random = randomStream(settings.seed, "coreset", "samples", i);
      parts[i] = drawPart(datasets[i], own[i], { samples: samples[at], weightTimesCost }, random);
    });
    const flooded = devices.map((i) => clipped(parts[i]));
    return centroidsOfFlood(collectFlood(flooded, devices[0], "a point"), devices[0], settings).centroids;
  });
  const reached = { centroids, ...coresetTraffic(graph, own, parts, settings) };
  return Object.assign(methodModel(datasets, graph, settings.judged, reached), { parts });
}

coreset.travels = "sampled rows, centroids, counts";
coreset.takes = { ...judgingOptions, coresetSize: ["number"], restarts: ["number"] };

function solveOwn(points: Matrix, device: number, settings: FloodSettings): OwnSolution {
  const centroids = centroidsToFlood(points, settings.k, device, settings);
  const labels = points.rows === 0 ? new Uint32Array(0) : nearestCentroids(centroids, points);
  const costs = Float64Array.from(labels, (label, r) =>
    squaredDistance(points.data, r * points.cols, centroids.data, label * points.cols, points.cols),
  );
  return { centroids, labels, costs, total: sum(costs) };
}

/** Shares of t in proportion to the costs, whole and adding up to t: the largest remainders are rounded up. */
function splitSize(size: number, totals: readonly number[]): number[] {
  const total = sum(totals);
  // Every point sits on a centroid: the centroids and counts say it all.
  if (total === 0) return totals.map(() => 0);
  const exact = totals.map((cost) => size * (cost / total));
  const whole = exact.map(Math.floor);
  const byRemainder = Array.from(totals.keys())
    .filter((i) => totals[i] > 0)
    .sort((a, b) => exact[b] - whole[b] - (exact[a] - whole[a]));
  for (const i of byRemainder.slice(0, size - sum(whole))) whole[i]++;
  return whole;
}

/** Samples points in proportion to their cost; every centroid keeps what the samples leave of its cell. */
function drawPart(
  points: Matrix,
  { centroids, labels, costs }: OwnSolution,
  { samples, weightTimesCost }: { samples: number; weightTimesCost: number },
  random: Random,
): CoresetPart {
  const weights = new Float64Array(samples + centroids.rows);
  for (const label of labels) weights[samples + label]++;
  const rows = drawRows(costs, samples, random);
  rows.forEach((row, s) => {
    weights[s] = weightTimesCost / costs[row];
    weights[samples + labels[row]] -= weights[s];
  });
  return { points: stack([takeRows(points, rows), centroids]), weights, samples };
}

/** Rows with replacement, each with probability in proportion to its cost. */
function drawRows(costs: Float64Array, count: number, random: Random): Uint32Array {
  let reached = 0;
  const upTo = costs.map((cost) => {
    reached += cost;
    return reached;
  });
  return Uint32Array.from({ length: count }, () => {
    // Above 0 and at most the total: the first row that reaches it has a cost.
    const target = (1 - random()) * reached;
    let low = 0;
    let high = upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (upTo[middle] >= target) high = middle;
      else low = middle + 1;
    }
    return low;
  });
}

/** k-means knows no negative weights: a cell that was sampled beyond its share counts a little too much. */
function clipped({ points, weights }: CoresetPart) {
  return { centroids: points, counts: weights.map((weight) => Math.max(0, weight)) };
}

/** Twice to everybody: everyone's total cost, then everyone's part. A collector returns the sum of the costs, then centroids. */
function coresetTraffic(
  graph: Graph,
  own: readonly OwnSolution[],
  parts: readonly CoresetPart[],
  { k, cols }: FloodSettings,
) {
  const costs = own.map(({ labels }) => Math.min(1, labels.length));
  const numbers = parts.map((part) => part.points.data.length + part.weights.length);
  return {
    traffic: addTraffic(floodTraffic(graph, costs), floodTraffic(graph, numbers)),
    collector: addTraffic(collectorTraffic(costs, 1), collectorTraffic(numbers, k * cols)),
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
