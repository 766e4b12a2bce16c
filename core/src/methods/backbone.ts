// Clusters backbone (Deng, Wang and Alobaedy 2025): many centroids of every device sketch the data, k-means joins them.
// Of the paper the abstract and the list of figures were read: that noise is Laplace, on every value, with a budget epsilon
// is the authors'; that its scale is a column's range over its share of epsilon is our reading.

import { checkInteger, checkMatrix, checkNumber } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { ln } from "../data/elementary.ts";
import { extremesOf, type Matrix } from "../data/matrix.ts";
import { randomStream } from "../data/random.ts";
import type { Graph } from "../graph/graph.ts";
import { collectorTraffic, floodTraffic } from "../graph/traffic.ts";
import { kernelStatistics } from "../kernel/kernel.ts";
import { leastSketchCount, type PointSketch, supportedSketch } from "../start/federated.ts";
import {
  centroidsOfFlood,
  centroidsToFlood,
  collectFlood,
  type FloodSettings,
  floodSettings,
  solveFlood,
} from "./flooding.ts";
import { type CommonOptions, judgingOptions, type MethodModel, methodModel } from "./method.ts";

type Bounds = readonly (readonly [number, number])[];

interface Noise {
  readonly epsilon: number;
  readonly bounds: Bounds;
}

/** Options of `methods.backbone`. */
export interface BackboneOptions extends CommonOptions {
  /** k1: centroids of every device, at most one for each of its points. Default 2 k + 2. */
  backboneSize?: number | undefined;
  /** Whether a centroid counts as many as the points it stands for, instead of one. Default false. */
  counts?: boolean | undefined;
  /**
   * Budget of the authors' Laplace noise on every record, shared evenly by its values. Drawn from the seed, so it shows
   * what noise costs and protects nobody. Default: no noise; a device of at most k1 points floods them as they are.
   */
  epsilon?: number | undefined;
  /**
   * For every column [low, high], of use with `epsilon` only: values are clipped to it, and it sets the scale of the
   * noise. Real devices would declare it. Default: the range of all devices' points.
   */
  bounds?: Bounds | undefined;
  /** No centroid of fewer points is flooded. Default 1. */
  minimum?: number | undefined;
}

export function backbone(datasets: readonly Matrix[], graph: Graph, options: BackboneOptions): MethodModel {
  const settings = floodSettings("backbone", datasets, graph, options);
  const { backboneSize = 2 * settings.k + 2, counts = false, minimum = defaults.minimum } = options;
  checkInteger("backboneSize", backboneSize, 1);
  checkInteger("minimum", minimum, 1);
  const noise = checkedNoise(datasets, options, settings.cols);
  const flooded = datasets.map((points, i) => {
    const seen = noise === undefined ? points : noised(points, i, noise, settings);
    const sketch = describe(seen, centroidsToFlood(seen, backboneSize, i, settings), settings);
    return supportedSketch(sketch, leastSketchCount(graph, i, minimum));
  });
  const centroids = solveFlood(graph, (devices) => {
    const parts = devices.map((i) => flooded[i]);
    const all = collectFlood(parts, devices[0], `a cluster of at least minimum = ${minimum} points`);
    const weighed = counts ? all : { ...all, counts: all.counts.map(() => 1) };
    return centroidsOfFlood(weighed, devices[0], settings).centroids;
  });
  const numbers = flooded.map(({ centroids }) => centroids.data.length + (counts ? centroids.rows : 0));
  const traffic = floodTraffic(graph, numbers);
  const collector = collectorTraffic(numbers, settings.k * settings.cols);
  return methodModel(datasets, graph, settings.judged, { centroids, traffic, collector });
}

backbone.travels = "many centroids";
backbone.takes = {
  ...judgingOptions,
  backboneSize: ["number"],
  counts: ["true", "false"],
  epsilon: ["number"],
  minimum: ["number"],
  restarts: ["number"],
};

/** The centroids with the number of points each stands for. */
function describe(points: Matrix, centroids: Matrix, { kernel }: FloodSettings): PointSketch {
  const prepared = kernel.prepare(points);
  const { counts } = kernelStatistics(prepared, centroids);
  prepared.release();
  return { centroids, counts };
}

/** Two records differ by at most high - low in a column; each of the columns spends its part of epsilon. */
function noised(points: Matrix, device: number, { epsilon, bounds }: Noise, { seed }: FloodSettings): Matrix {
  const random = randomStream(seed, "backbone", "noise", device);
  const data = points.data.map((value, at) => {
    const [low, high] = bounds[at % points.cols];
    const scale = ((high - low) * points.cols) / epsilon;
    // The difference of two exponential numbers is Laplace; 1 - random() is never 0.
    return Math.min(high, Math.max(low, value)) + scale * (ln(1 - random()) - ln(1 - random()));
  });
  const noisy = { ...points, data };
  // A tiny epsilon can drown the records beyond what can be computed with.
  checkMatrix(`datasets[${device}] with noise`, noisy);
  return noisy;
}

/** Undefined without epsilon: no noise. */
function checkedNoise(
  datasets: readonly Matrix[],
  { epsilon, bounds }: BackboneOptions,
  cols: number,
): Noise | undefined {
  if (epsilon === undefined && bounds === undefined) return undefined;
  checkNumber("epsilon", epsilon, (value) => value > 0, "a finite number above 0 (with bounds)");
  if (bounds === undefined) {
    const { least, most } = extremesOf(datasets.filter(({ rows }) => rows > 0));
    return { epsilon: epsilon as number, bounds: Array.from(least, (low, c) => [low, most[c]] as const) };
  }
  if (bounds.length !== cols) {
    throw new RangeError(`bounds must have ${cols} pairs (one for each column of datasets), got ${bounds.length}`);
  }
  bounds.forEach(([low, high], column) => {
    checkNumber(`bounds[${column}][0]`, low, () => true, "a finite number");
    const rule = `a finite number above ${low} (bounds[${column}][0])`;
    checkNumber(`bounds[${column}][1]`, high, (value) => value > low, rule);
  });
  return { epsilon: epsilon as number, bounds };
}
