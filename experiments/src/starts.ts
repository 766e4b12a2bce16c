// Where the devices of a problem begin, each start made once for all cells that need it.

import {
  type Coupling,
  connectedComponents,
  discrepancy,
  distortion,
  edges,
  fit,
  type Graph,
  type Matrix,
} from "@fedkm/core";
import type { StartName } from "./cell.ts";

export interface Starts {
  /** Every device's own k-means. */
  local(graph: Graph): readonly Matrix[];
  /** What a method that knows alpha, or none, begins with. */
  of(name: StartName, graph: Graph, alpha: number | null, coupling: Coupling): readonly Matrix[];
}

/** Centroids, and every device's loss per point there. */
interface Made {
  readonly centroids: readonly Matrix[];
  readonly losses: readonly number[];
}

/** The same centroids as `fit` would find for every cell anew, which would take longer than most cells. */
export function startsOf(datasets: readonly Matrix[], k: number, seed: number): Starts {
  const kept = new Map<string, Made>();
  const made = (init: "kmeans++" | "local" | "federated", graph: Graph): Made => {
    // Own centroids know of no network, and a common seed of who is connected with whom, not by which links.
    const key = init === "federated" ? connectedComponents(graph).join(" ") : init;
    const known = kept.get(key);
    if (known !== undefined) return known;
    const { centroids } = fit(datasets, graph, { k, alpha: 1, seed, rounds: 0, init });
    const losses = datasets.map((points, i) => (2 * distortion([points], [centroids[i]])) / points.rows);
    const start = { centroids, losses };
    kept.set(key, start);
    return start;
  };
  return {
    local: (graph) => made("local", graph).centroids,
    of(name, graph, alpha, coupling) {
      if (name === "raw") return made("kmeans++", graph).centroids;
      if (name === "authors") return made("local", graph).centroids;
      if (alpha === null) return made("federated", graph).centroids;
      if (alpha === 0) return made("local", graph).centroids;
      return lowerOf(made("federated", graph), made("local", graph), graph, alpha, coupling);
    },
  };
}

/** As `init: "auto"`: for each component of the network the start with the lower objective. */
function lowerOf(common: Made, own: Made, graph: Graph, alpha: number, coupling: Coupling): Matrix[] {
  const component = connectedComponents(graph);
  const [together, alone] = [common, own].map(({ centroids, losses }) => {
    const values = new Float64Array(graph.size);
    losses.forEach((loss, i) => {
      values[component[i]] += loss;
    });
    for (const [i, j] of edges(graph))
      values[component[i]] += alpha * discrepancy(centroids[i], centroids[j], coupling);
    return values;
  });
  return Array.from(component, (c, i) => (alone[c] < together[c] ? own : common).centroids[i]);
}
