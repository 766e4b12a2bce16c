// One common order of the clusters, which methods that average cluster by cluster need before they start.

import { type Network, refreshStatistics } from "../fit/network.ts";
import { breadthFirst } from "../graph/graph.ts";
import { emptyMatches, match } from "../update/coupling.ts";

export const seedOrders = ["own", "shared", "aligned"] as const;

/** shared: everyone starts from the lowest device of its component. aligned: breadth-first, each device takes the order of its parent. */
export function orderSeeds(state: Network, seeds: (typeof seedOrders)[number]): void {
  const { k, sets } = state;
  const { data, cols } = sets;
  const length = k * cols;
  const matches = emptyMatches(k);
  if (seeds === "own") return;
  let root = 0;
  const { order, parents, hops } = breadthFirst(state.graph);
  for (const device of order) {
    if (hops[device] === 0) root = device;
    if (seeds === "shared") data.copyWithin(device * length, root * length, (root + 1) * length);
    else if (hops[device] > 0) {
      match("transport", data, parents[device] * k, k, data, device * k, k, cols, matches);
      const own = data.slice(device * length, (device + 1) * length);
      for (let c = 0; c < k; c++) {
        const from = matches.toOther[c] * cols;
        data.set(own.subarray(from, from + cols), device * length + c * cols);
      }
    }
    refreshStatistics(state, device);
  }
}
