// A plug-in for fedkm compare: a method, a data set, a graph and a measure that fedkm does not have.

import {
  commitNetworkUpdate,
  distortion,
  grid,
  type Method,
  methodOfRounds,
  normalStream,
  orderMethodSeeds,
  randomStream,
  refreshNetworkStatistics,
} from "@fedkm/core";
import type { DataRequest, GraphRequest, MeasuredResult, PluginData } from "@fedkm/experiments";

/** In every round a device takes the mean of its own cluster means and its neighbours' centroids, and sends it on. */
const gossip: Method = methodOfRounds((network) => {
  orderMethodSeeds(network, "aligned");
  const { graph, k, sets, counts, sums, updated } = network;
  const length = k * sets.cols;
  return () => {
    for (let i = 0; i < graph.size; i++) {
      for (let x = i * length; x < (i + 1) * length; x++) {
        const count = counts[Math.floor(x / sets.cols)];
        let total = count > 0 ? sums[x] / count : sets.data[x];
        for (const j of graph.neighbours[i]) total += sets.data[x + (j - i) * length];
        updated[x] = total / (1 + graph.neighbours[i].length);
      }
    }
    let largestMove = 0;
    for (let i = 0; i < graph.size; i++) largestMove = Math.max(largestMove, commitNetworkUpdate(network, i));
    for (let i = 0; i < graph.size; i++) refreshNetworkStatistics(network, i);
    return { largestMove, converged: largestMove < 1e-9 };
  };
});

/** Four clusters in a square, of which a device sees two. */
function square({ devices, pointsPerDevice: rows, seed }: DataRequest): PluginData {
  const normal = normalStream(randomStream(seed, "square"));
  const labels = Array.from({ length: devices }, (_, i) =>
    Uint32Array.from({ length: rows }, (_, r) => (i + (r % 2)) % 4),
  );
  const datasets = labels.map((own) => {
    const data = Float64Array.from({ length: 2 * rows }, (_, x) => {
      const corner = own[x >> 1];
      return 8 * (x % 2 === 0 ? corner & 1 : corner >> 1) + normal();
    });
    return { data, rows, cols: 2 };
  });
  return { datasets, labels, k: 4 };
}

/** --graph table:5 puts the devices in five rows, --graph table in two. */
function table({ devices, text }: GraphRequest) {
  const rows = text === "" ? 2 : Number(text);
  return grid(rows, devices / rows);
}

/** The cost of the device that has the worst centroids for its own points, per point. */
function worst({ model, datasets }: MeasuredResult): number {
  return Math.max(...datasets.map((own, i) => (2 * distortion([own], [model.centroids[i]])) / own.rows));
}

export const methods = { gossip };
export const datasets = { square };
export const graphs = { table };
export const measures = { worst };
