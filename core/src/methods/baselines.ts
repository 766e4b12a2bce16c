// What federated methods are compared with: every device on its own, and all points in one place.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import { type Matrix, stack } from "../data/matrix.ts";
import { fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import { collectorTraffic, floodTraffic } from "../graph/traffic.ts";
import {
  type CommonOptions,
  checkMethodOptions,
  judgingOptions,
  type MethodModel,
  methodJudging,
  methodModel,
  roundsOptions,
} from "./method.ts";
import { pooledReference } from "./reference.ts";

/** All points in one place, which moves every row. */
export function pooled(datasets: readonly Matrix[], graph: Graph, options: CommonOptions): MethodModel {
  checkMethodOptions(options);
  checkNetwork(datasets, graph);
  const judged = methodJudging(options);
  const { k, restarts, seed, kernel } = options;
  const { centroids } = pooledReference(stack(datasets), { k, restarts, seed, kernel });
  const copies = datasets.map(() => ({ ...centroids, data: centroids.data.slice() }));
  const numbers = datasets.map(({ data }) => data.length);
  const traffic = floodTraffic(graph, numbers);
  const collector = collectorTraffic(numbers, centroids.data.length);
  return methodModel(datasets, graph, judged, { centroids: copies, traffic, collector });
}

pooled.travels = "every row";
pooled.takes = { ...judgingOptions, restarts: ["number"] };

/** Options of `methods.local` and `methods.pooled`. */
export interface LocalOptions extends CommonOptions, Pick<FitOptions, "init" | "empty"> {}

/** Best-of-restarts k-means of every device on its points, nothing sent: the lower end of the dial. */
export function local(datasets: readonly Matrix[], graph: Graph, options: LocalOptions): MethodModel {
  checkMethodOptions(options);
  const { k, init = "local", empty, restarts = defaults.restarts, seed = defaults.seed, kernel } = options;
  checkNetwork(datasets, graph);
  const judged = methodJudging(options);
  // Without coupling a device update is Lloyd's iteration, to the last bit.
  const alone = { alpha: 0, rounds: 1, passes: defaults.maxIter, tol: 0, preset: "paper" } as const;
  const { centroids, history } = fitOn(datasets, graph, { k, init, empty, restarts, seed, kernel, ...alone });
  // A device with fewer points than k cannot start alone: a neighbour has to send it its own once.
  const helped = Array.isArray(init) ? 0 : datasets.filter(({ rows }) => rows < k).length;
  const lent = { messages: helped, bytes: helped * centroids[0].data.length * 8 };
  // A common start is not found alone.
  const { messages, bytes } = init === "federated" || init === "auto" ? history[0] : lent;
  return methodModel(datasets, graph, judged, { centroids, traffic: { messages, bytes } });
}

local.travels = "nothing";
local.takes = { ...judgingOptions, init: roundsOptions.init, restarts: roundsOptions.restarts };
