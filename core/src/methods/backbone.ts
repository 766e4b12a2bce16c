// Clusters backbone (Deng, Wang and Alobaedy 2025): many centres of every device sketch the data, k-means joins them.

import { checkInteger, checkMatrix, checkNumber } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { ln } from "../data/elementary.ts";
import type { Matrix } from "../data/matrix.ts";
import { randomStream } from "../data/random.ts";
import type { Graph } from "../graph/graph.ts";
import { collectorTraffic, floodTraffic, leastSupport } from "../graph/traffic.ts";
import { emptyStatistics } from "../kernel/kernel.ts";
import {
  collect,
  type Flooded,
  type FloodSettings,
  floodSettings,
  keepSupported,
  ownCentres,
  sharedCentres,
  solveComponents,
} from "./flooding.ts";
import { type CommonOptions, judgingOptions, type MethodModel, modelWithoutRounds } from "./method.ts";

type Bounds = readonly (readonly [number, number])[];

interface Noise {
  readonly epsilon: number;
  readonly bounds: Bounds;
}

export interface BackboneOptions extends CommonOptions {
  /** k1: centres of every device, at most one for each of its points. Default 2 k + 2. */
  backboneSize?: number | undefined;
  /** Whether a centre counts as many as the points it stands for, instead of one. Default false. */
  counts?: boolean | undefined;
  /**
   * Budget of the Laplace noise on every record, shared evenly by its values; needs `bounds`. Drawn from the seed, so
   * it shows what noise costs and protects nobody. Default: none; a device of at most k1 points floods them as they are.
   */
  epsilon?: number | undefined;
  /** For every column the declared [low, high]: values are clipped to it, and it sets the scale of the noise. */
  bounds?: Bounds | undefined;
  /** No centre of fewer points is flooded. Default 1. */
  minimum?: number | undefined;
}

export function backbone(datasets: readonly Matrix[], graph: Graph, options: BackboneOptions): MethodModel {
  const settings = floodSettings("backbone", datasets, graph, options);
  const { backboneSize = 2 * settings.k + 2, counts = false, minimum = defaults.minimum, epsilon, bounds } = options;
  checkInteger("backboneSize", backboneSize, 1);
  checkInteger("minimum", minimum, 1);
  const noise = checkedNoise(epsilon, bounds, settings.cols);
  const flooded = datasets.map((points, i) => {
    const seen = noise === undefined ? points : noised(points, i, noise, settings);
    const sketch = describe(seen, ownCentres(seen, backboneSize, i, settings), settings);
    return keepSupported(sketch, leastSupport(graph, i, minimum));
  });
  const centroids = solveComponents(graph, (devices) => {
    const all = collect(
      devices.map((i) => flooded[i]),
      devices[0],
      `a cluster of at least minimum = ${minimum} points`,
    );
    const weights = counts ? all.weights : all.weights.map(() => 1);
    return sharedCentres({ ...all, weights }, devices[0], settings).centroids;
  });
  const numbers = flooded.map(({ centres, weights }) => centres.data.length + (counts ? weights.length : 0));
  const traffic = floodTraffic(graph, numbers);
  const collector = collectorTraffic(numbers, settings.k * settings.cols);
  return modelWithoutRounds(datasets, graph, settings.judged, { centroids, traffic, collector });
}

backbone.travels = "many centroids";
backbone.takes = {
  ...judgingOptions,
  backboneSize: ["number"],
  counts: ["true", "false"],
  minimum: ["number"],
  restarts: ["number"],
};

/** The centres with the number of points each stands for. */
function describe(points: Matrix, centres: Matrix, { kernel }: FloodSettings): Flooded {
  const statistics = emptyStatistics(centres.rows, centres.cols);
  const prepared = kernel.prepare(points);
  prepared.statistics(centres.data, statistics);
  prepared.release();
  return { centres, weights: statistics.counts };
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

function checkedNoise(epsilon: number | undefined, bounds: Bounds | undefined, cols: number): Noise | undefined {
  if (epsilon === undefined && bounds === undefined) return undefined;
  checkNumber("epsilon", epsilon, (value) => value > 0, "a finite number above 0 (with bounds)");
  if (bounds?.length !== cols) {
    const got = bounds === undefined ? "none" : bounds.length;
    throw new RangeError(`bounds must have ${cols} pairs (with epsilon, one for each column of datasets), got ${got}`);
  }
  bounds.forEach(([low, high], column) => {
    checkNumber(`bounds[${column}][0]`, low, () => true, "a finite number");
    checkNumber(
      `bounds[${column}][1]`,
      high,
      (value) => value > low,
      `a finite number above ${low} (bounds[${column}][0])`,
    );
  });
  return { epsilon: epsilon as number, bounds };
}
