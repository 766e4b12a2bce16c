// What the methods that flood share: k-means on one device, and one small problem that all of a component solve alike.

import { checkInteger, checkNetwork, checkSeed } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, stack, takeRows } from "../data/matrix.ts";
import { numberedStreams } from "../data/random.ts";
import { componentsOf, type Graph } from "../graph/graph.ts";
import { jsKernel } from "../kernel/js.ts";
import type { Kernel, Statistics } from "../kernel/kernel.ts";
import type { ObjectiveSettings } from "../measures/measures.ts";
import { bestOf } from "../start/kmeans.ts";
import {
  type CommonOptions,
  checkMethodOptions,
  type MethodOptions,
  methodObjective,
  roundsSettings,
} from "./method.ts";

export interface FloodOptions extends CommonOptions, Pick<MethodOptions, "tol"> {}

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

/** What one device floods: centres, or points, and how much each counts. */
export interface Flooded {
  readonly centres: Matrix;
  readonly weights: Float64Array;
}

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
  return { method, k, cols, restarts, seed, kernel, tol, judged: methodObjective(options) };
}

/** Best-of-restarts k-means on a device's own points, with as many centres as it has points for. */
export function centroidsToFlood(points: Matrix, wanted: number, device: number, settings: FloodSettings): Matrix {
  const { method, cols, restarts, seed, kernel } = settings;
  const k = Math.min(wanted, points.rows);
  if (k === 0) return { data: new Float64Array(0), rows: 0, cols };
  const run = { points, prepared: kernel.prepare(points), k, maxIter: defaults.maxIter, tol: 0 };
  const { centroids } = bestOf(run, restarts, numberedStreams(seed, method, "own", device));
  run.prepared.release();
  return centroids;
}

export function keepSupported({ centres, weights }: Flooded, least: number): Flooded {
  const kept = Array.from(weights.keys()).filter((c) => weights[c] >= least);
  return { centres: takeRows(centres, kept), weights: Float64Array.from(kept, (c) => weights[c]) };
}

/** The mean of every cluster that has points, with their number. */
export function meansToFlood({ counts, sums }: Statistics, cols: number): Flooded {
  const data = sums.map((sum, at) => sum / counts[Math.floor(at / cols)]);
  return keepSupported({ centres: { data, rows: counts.length, cols }, weights: counts }, 1);
}

/** Solves each component once and gives every device of it a copy of the answer. Devices come in rising order. */
export function solveFloodedComponents(graph: Graph, solve: (devices: readonly number[]) => Matrix): Matrix[] {
  const centroids = new Array<Matrix>(graph.size);
  for (const devices of componentsOf(graph)) {
    const { data, rows, cols } = solve(devices);
    for (const i of devices) centroids[i] = { data: data.slice(), rows, cols };
  }
  return centroids;
}

/** All that the devices of a component flooded, in their order; `rule` says what at least one of them must have. */
export function collectFlood(parts: readonly Flooded[], lowestDevice: number, rule: string): Flooded {
  const centres = stack(parts.map((part) => part.centres));
  if (centres.rows === 0) {
    throw new RangeError(`the component of device ${lowestDevice} must have ${rule}, got none`);
  }
  return { centres, weights: Float64Array.from(parts.flatMap(({ weights }) => Array.from(weights))) };
}

/** Every device of a component has heard the same and draws the same numbers, so all find the same centroids. */
export function centroidsOfFlood(
  { centres, weights }: Flooded,
  lowestDevice: number,
  { method, k, restarts, seed }: FloodSettings,
): { readonly centroids: Matrix; readonly inertia: number } {
  if (centres.rows < k) return { centroids: repeatRows(centres, k), inertia: 0 };
  // Not the caller's kernel: devices may run different ones, and rounding must not part them.
  const run = {
    points: centres,
    weights,
    prepared: jsKernel.prepare(centres, weights),
    k,
    maxIter: defaults.maxIter,
    tol: 0,
  };
  return bestOf(run, restarts, numberedStreams(seed, method, "shared", lowestDevice));
}

/** The rows over and over until there are k: a component that knows fewer centres names some twice. */
export function repeatRows(centres: Matrix, k: number): Matrix {
  const rows = Uint32Array.from({ length: k }, (_, c) => c % centres.rows);
  return takeRows(centres, rows);
}
