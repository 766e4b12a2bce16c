// Every device on its own: best-of-restarts k-means on its points, nothing sent. The lower end of the dial.

import { checkNetwork } from "../data/check.ts";
import { defaults } from "../data/defaults.ts";
import type { Matrix } from "../data/matrix.ts";
import { fitOn } from "../fit/fit.ts";
import type { FitOptions } from "../fit/fitOptions.ts";
import type { Graph } from "../graph/graph.ts";
import {
  type CommonOptions,
  checkMethodOptions,
  judgedBy,
  judgingOptions,
  type MethodModel,
  modelWithoutRounds,
  roundsOptions,
} from "./method.ts";

export interface LocalOptions extends CommonOptions, Pick<FitOptions, "init" | "empty"> {}

export function local(datasets: readonly Matrix[], graph: Graph, options: LocalOptions): MethodModel {
  checkMethodOptions(options);
  const { k, init = "local", empty, restarts = defaults.restarts, seed = defaults.seed, kernel } = options;
  checkNetwork(datasets, graph);
  const judged = judgedBy(options);
  // Without coupling a device update is Lloyd's iteration, to the last bit.
  const alone = {
    k,
    init,
    empty,
    restarts,
    seed,
    kernel,
    alpha: 0,
    rounds: 1,
    passes: defaults.maxIter,
    tol: 0,
    preset: "paper",
  } as const;
  const { centroids, history } = fitOn(datasets, graph, alone);
  // A device with fewer points than k cannot start alone: a neighbour has to send it its own once.
  const helped = Array.isArray(init) ? 0 : datasets.filter(({ rows }) => rows < k).length;
  const lent = { messages: helped, bytes: helped * centroids[0].data.length * 8 };
  // A common start is not found alone.
  const { messages, bytes } = init === "federated" || init === "auto" ? history[0] : lent;
  return modelWithoutRounds(datasets, graph, judged, { centroids, traffic: { messages, bytes } });
}

local.travels = "nothing";
local.takes = { ...judgingOptions, init: roundsOptions.init, restarts: roundsOptions.restarts };
