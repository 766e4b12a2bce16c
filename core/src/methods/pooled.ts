// All points in one place: what federated methods are measured against. It moves every raw record.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, stack } from "../data/matrix.ts";
import type { Graph } from "../graph/graph.ts";
import { collectorTraffic, floodTraffic } from "../graph/traffic.ts";
import { kmeansOn } from "../start/kmeans.ts";
import {
  type CommonOptions,
  checkMethodOptions,
  judgedBy,
  judgingOptions,
  type MethodModel,
  modelWithoutRounds,
} from "./method.ts";

export function pooled(datasets: readonly Matrix[], graph: Graph, options: CommonOptions): MethodModel {
  checkMethodOptions(options);
  checkNetwork(datasets, graph);
  const judged = judgedBy(options);
  const { k, restarts = defaults.pooledRestarts, seed = defaults.seed, kernel } = options;
  const points = stack(datasets);
  // To the exact fixed point: a tolerance would shift the reference itself.
  const { centroids } = kmeansOn(points, { k, restarts, seed, kernel, maxIter: 10_000, tol: 0 });
  const copies = datasets.map(() => ({ ...centroids, data: centroids.data.slice() }));
  const numbers = datasets.map(({ data }) => data.length);
  const traffic = floodTraffic(graph, numbers);
  const collector = collectorTraffic(numbers, centroids.data.length);
  return modelWithoutRounds(datasets, graph, judged, { centroids: copies, traffic, collector });
}

pooled.travels = "every record";
pooled.takes = { ...judgingOptions, restarts: ["number"] };
