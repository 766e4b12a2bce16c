// k clusters of all devices together, without pooling: the federated seed, then counts and sums until labels rest.

import type { Matrix } from "../data/matrix.ts";
import { type Graph, packGraph } from "../graph/graph.ts";
import { addTraffic, sumTraffic, type Traffic } from "../graph/traffic.ts";
import { clusterMeans, emptyStatistics, type Kernel } from "../kernel/kernel.ts";
import { federatedStart } from "../start/federated.ts";

/** Labels rest long before. */
const MOST_ITERATIONS = 100;

export function findCommonClusters(
  datasets: readonly Matrix[],
  graph: Graph,
  options: {
    readonly k: number;
    readonly restarts: number;
    readonly minimum: number;
    readonly seed: number;
    readonly kernel: Kernel;
  },
): { readonly centroids: Matrix; readonly traffic: Traffic } {
  const points = datasets.map((own) => options.kernel.prepare(own));
  const start = federatedStart({ datasets, points, graph, links: packGraph(graph) }, options);
  const { k } = options;
  const { cols } = datasets[0];
  let data: Float64Array = start.sets.data.slice(0, k * cols);
  const [all, own] = [emptyStatistics(k, cols), emptyStatistics(k, cols)];
  let sums = 0;
  for (let rests = false; !rests && sums < MOST_ITERATIONS; sums++) {
    all.counts.fill(0);
    all.sums.fill(0);
    for (const prepared of points) {
      prepared.statistics(data, own, false);
      for (let c = 0; c < k; c++) {
        // Of a cluster with fewer of its rows a device says nothing.
        if (own.counts[c] < options.minimum) continue;
        all.counts[c] += own.counts[c];
        for (let j = c * cols; j < (c + 1) * cols; j++) all.sums[j] += own.sums[j];
      }
    }
    const next = clusterMeans(all, data);
    rests = next.every((x, at) => x === data[at]);
    data = next;
  }
  for (const prepared of points) prepared.release();
  const added = Array.from({ length: sums }, () => sumTraffic(graph, k * (cols + 1)));
  return { centroids: { data, rows: k, cols }, traffic: addTraffic(start.traffic, ...added) };
}
