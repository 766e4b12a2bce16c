// What the methods that flood share: k-means on one device, and one small problem that all of a component solve alike.

import { checkInteger, checkNetwork, checkSeed } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, repeatRows } from "../data/matrix.ts";
import { numberedStreams } from "../data/random.ts";
import { componentsOf, type Graph } from "../graph/graph.ts";
import { jsKernel } from "../kernel/js.ts";
import type { Kernel, Statistics } from "../kernel/kernel.ts";
import type { ObjectiveSettings } from "../measures/measures.ts";
import { joinSketches, type PointSketch, supportedSketch } from "../start/federated.ts";
import { bestOf } from "../start/kmeans.ts";
import { type CommonOptions, checkMethodOptions, type MethodOptions, methodJudging, roundsSettings } from "./method.ts";

/** Options of methods that send one message to everybody. */
export interface FloodOptions extends CommonOptions, Pick<MethodOptions, "tol"> {}

/** The same, checked, with what follows from the data. */
export interface FloodSettings {
  /** Begins the path of every random stream, so that no two methods share their draws. */
  readonly method: string;
  readonly k: number;
  readonly cols: number;
  readonly restarts: number;
  readonly seed: number;
  readonly kernel: Kernel;
  readonly tol: number;
  readonly judged: ObjectiveSettings;
}

/**
 * Checks the options of a method that sends one message to everybody.
 * @example floodSettings("mine", [matrix([[0], [1]])], path(1), { k: 2 }).restarts // 10
 */
export function floodSettings(
  method: string,
  datasets: readonly Matrix[],
  graph: Graph,
  options: FloodOptions,
): FloodSettings {
  return floodSettingsOfDevice(method, checkNetwork(datasets, graph), options);
}

/** The same for a device on its own. */
export function floodSettingsOfDevice(method: string, cols: number, options: FloodOptions): FloodSettings {
  checkMethodOptions(options);
  const { k, restarts = defaults.restarts, seed = defaults.seed } = options;
  checkInteger("restarts", restarts, 1);
  checkSeed(seed);
  const { kernel, tol } = roundsSettings(options);
  return { method, k, cols, restarts, seed, kernel, tol, judged: methodJudging(options) };
}

/**
 * Best-of-restarts k-means on a device's own points, with as many centroids as it has points for.
 * @example
 * const settings = floodSettings("mine", [matrix([[0], [1]])], path(1), { k: 1 });
 * centroidsToFlood(matrix([[0], [1]]), 1, 0, settings).data // [0.5]
 */
export function centroidsToFlood(points: Matrix, wanted: number, device: number, settings: FloodSettings): Matrix {
  const { method, cols, restarts, seed, kernel } = settings;
  const k = Math.min(wanted, points.rows);
  if (k === 0) return { data: new Float64Array(0), rows: 0, cols };
  const run = { points, prepared: kernel.prepare(points), k, maxIter: defaults.maxIter, tol: 0 };
  const { centroids } = bestOf(run, restarts, numberedStreams(seed, method, "own", device));
  run.prepared.release();
  return centroids;
}

/** The mean of every cluster that has points, with their number. */
export function meansToFlood({ counts, sums }: Statistics, cols: number): PointSketch {
  const data = sums.map((sum, at) => sum / counts[Math.floor(at / cols)]);
  return supportedSketch({ centroids: { data, rows: counts.length, cols }, counts }, 1);
}

/**
 * Solves each component once and gives every device of it a copy of the answer. Devices come in rising order.
 * @example solveFlood(graph(3, [[0, 1]]), (devices) => matrix([[devices.length]])).map(toRows) // [[[2]], [[2]], [[1]]]
 */
export function solveFlood(graph: Graph, solve: (devices: readonly number[]) => Matrix): Matrix[] {
  const centroids = new Array<Matrix>(graph.size);
  for (const devices of componentsOf(graph)) {
    const { data, rows, cols } = solve(devices);
    for (const i of devices) centroids[i] = { data: data.slice(), rows, cols };
  }
  return centroids;
}

/**
 * All that the devices of a component flooded, in their order; `rule` says what at least one of them must have.
 * @example
 * collectFlood([{ centroids: matrix([[0], [3]]), counts: Float64Array.of(2, 1) }], 0, "some rows").counts // [2, 1]
 */
export function collectFlood(parts: readonly PointSketch[], lowestDevice: number, rule: string): PointSketch {
  const joined = joinSketches(parts);
  if (joined.centroids.rows > 0) return joined;
  throw new RangeError(`the component of device ${lowestDevice} must have ${rule}, got none`);
}

/**
 * Every device of a component has heard the same and draws the same numbers, so all find the same centroids.
 * @example
 * const settings = floodSettings("mine", [matrix([[0], [1]])], path(1), { k: 1 });
 * const heard = { centroids: matrix([[0], [3]]), counts: Float64Array.of(2, 1) };
 * centroidsOfFlood(heard, 0, settings).centroids.data // [1]
 */
export function centroidsOfFlood(
  { centroids: points, counts: weights }: PointSketch,
  lowestDevice: number,
  { method, k, restarts, seed }: FloodSettings,
): { readonly centroids: Matrix; readonly inertia: number } {
  // A component that knows fewer centroids names some twice.
  if (points.rows < k) return { centroids: repeatRows(points, k), inertia: 0 };
  // Not the caller's kernel: devices may run different ones, and rounding must not part them.
  const prepared = jsKernel.prepare(points, weights);
  const run = { points, weights, prepared, k, maxIter: defaults.maxIter, tol: 0 };
  return bestOf(run, restarts, numberedStreams(seed, method, "shared", lowestDevice));
}
