// FKM (Garst and Reinders 2024): in rounds, every device improves the common centroids on its own points and floods them.

import { checkInteger, checkSignal } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { largestDifference, largestMagnitude, type Matrix } from "../data/matrix.ts";
import type { RoundSummary } from "../fit/fit.ts";
import type { Graph } from "../graph/graph.ts";
import { addTraffic, collectorTraffic, floodTraffic, type Traffic } from "../graph/traffic.ts";
import { kernelStatistics, type PreparedPoints } from "../kernel/kernel.ts";
import { labellingModel } from "../kernel/model.ts";
import { objectiveOf } from "../measures/measures.ts";
import { leastSketchCount, type PointSketch, supportedSketch } from "../start/federated.ts";
import { kmeansOn } from "../start/kmeans.ts";
import {
  centroidsOfFlood,
  centroidsToFlood,
  collectFlood,
  type FloodSettings,
  floodSettings,
  meansToFlood,
  solveFlood,
} from "./flooding.ts";
import { judgingOptions, type MethodModel, type RoundsMethodOptions } from "./method.ts";

/** Options of `methods.fkm`. */
export interface FkmOptions extends Omit<RoundsMethodOptions, "init" | "empty"> {
  /** At most this many rounds after the first flood. Default 10. */
  rounds?: number | undefined;
  /** Lloyd iterations of a device in every round. Default 1. */
  localIterations?: number | undefined;
  /** No mean of fewer points is flooded. Default 1; the authors' code has 2, which drops a row far from all others. */
  minimum?: number | undefined;
}

interface FkmRun {
  readonly graph: Graph;
  readonly points: readonly PreparedPoints[];
  readonly settings: FloodSettings;
  readonly localIterations: number;
  readonly minimum: number;
}

/** Round 0 joins the devices' own k-means; every further round is one local improvement and one flood. */
export function fkm(datasets: readonly Matrix[], graph: Graph, options: FkmOptions): MethodModel {
  const settings = floodSettings("fkm", datasets, graph, options);
  const { localIterations = 1, minimum = defaults.minimum, rounds = defaults.fkmRounds, signal } = options;
  checkInteger("localIterations", localIterations, 1);
  checkInteger("minimum", minimum, 1);
  checkInteger("rounds", rounds, 0);
  checkSignal(signal);
  const points = datasets.map((own) => settings.kernel.prepare(own));
  const run = { graph, points, settings, localIterations, minimum };
  const history: RoundSummary[] = [];
  let starts = datasets.map((own, i) => {
    // Of few rows it asks for fewer means, so that some of them may be flooded.
    const most = Math.max(1, Math.floor(own.rows / leastSketchCount(graph, i, minimum)));
    return centroidsToFlood(own, Math.min(settings.k, most), i, settings);
  });
  let traffic: Traffic = { messages: 0, bytes: 0 };
  let collector = traffic;
  for (let round = 0; ; round++) {
    signal?.throwIfAborted();
    const flooded = starts.map((start, i) => localMeans(run, i, start));
    const centroids = solveFlood(graph, (devices) => join(run, devices, flooded, round > 0 ? starts : undefined));
    const numbers = flooded.map(({ centroids, counts }) => centroids.data.length + counts.length);
    traffic = addTraffic(traffic, floodTraffic(graph, numbers));
    collector = addTraffic(collector, collectorTraffic(numbers, settings.k * settings.cols));
    const move = (own: Matrix, i: number) => (round > 0 ? largestDifference(own.data, starts[i].data) : 0);
    const largestMove = centroids.reduce((most, own, i) => Math.max(most, move(own, i)), 0);
    const scale = centroids.reduce((most, { data }) => Math.max(most, largestMagnitude(data)), 0);
    const { inertia, ...reached } = objectiveOf(datasets, centroids, graph, settings.judged);
    history.push({ round, ...reached, largestMove, ...traffic });
    const converged = round > 0 && largestMove <= settings.tol * scale;
    if (converged || round === rounds) {
      for (const own of points) own.release();
      const { objective } = reached;
      const numbers = { centroids, objective, inertia, rounds: round, converged, ...traffic, history, collector };
      return labellingModel(numbers, datasets);
    }
    starts = centroids;
  }
}

fkm.travels = "centroids, counts";
fkm.takes = {
  ...judgingOptions,
  localIterations: ["number"],
  minimum: ["number"],
  restarts: ["number"],
  tol: ["number"],
  rounds: ["number"],
};

/**
 * Lloyd from the centroids that have points here; the others are dropped, so that a device says nothing of clusters it
 * has not seen. Every mean comes with the number of points it is the mean of.
 */
function localMeans({ graph, points, localIterations, minimum }: FkmRun, device: number, start: Matrix): PointSketch {
  let flooded: PointSketch = { centroids: start, counts: new Float64Array(start.rows) };
  for (let iteration = 0; iteration < localIterations; iteration++) {
    flooded = meansToFlood(kernelStatistics(points[device], flooded.centroids), start.cols);
  }
  return supportedSketch(flooded, leastSketchCount(graph, device, minimum));
}

/** Weighted k-means on what a component flooded, from its centroids so far and from fresh starts. */
function join(
  { settings, minimum }: FkmRun,
  devices: readonly number[],
  flooded: readonly PointSketch[],
  before: readonly Matrix[] | undefined,
): Matrix {
  const parts = devices.map((i) => flooded[i]);
  const init = before?.[devices[0]];
  // Later on all means of a component can fall below the minimum: then nobody learns anything.
  if (init !== undefined && parts.every(({ counts }) => counts.length === 0)) return init;
  const joined = collectFlood(parts, devices[0], `a cluster of at least minimum = ${minimum} points`);
  const fresh = centroidsOfFlood(joined, devices[0], settings);
  if (init === undefined) return fresh.centroids;
  const warm = kmeansOn(joined.centroids, { k: settings.k, init, weights: joined.counts });
  // Equal answers in another order would look like a move: the old order stays unless the new one is truly better.
  return fresh.inertia < (1 - 1e-9) * warm.inertia ? fresh.centroids : warm.centroids;
}
