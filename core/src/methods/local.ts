// Every device on its own: best-of-restarts k-means on its points, nothing sent. The lower end of the dial.

import { checkInteger, checkNetwork } from "../check.ts";
import { defaults } from "../defaults.ts";
import { fitOn } from "../fit.ts";
import { judgedBy, type Method, modelWithoutRounds } from "./method.ts";

export const local: Method = (datasets, graph, options) => {
  const { k, init = "local", restarts = defaults.restarts, seed = defaults.seed } = options;
  checkInteger("k", k, 1);
  checkNetwork(datasets, graph);
  const judged = judgedBy(options);
  const kernel = options.kernel === undefined ? {} : { kernel: options.kernel };
  // Without coupling a device update is Lloyd's iteration, to the last bit.
  const alone = {
    k,
    init,
    restarts,
    seed,
    ...kernel,
    alpha: 0,
    rounds: 1,
    passes: defaults.maxIter,
    tol: 0,
    preset: "paper",
  } as const;
  const { centroids } = fitOn(datasets, graph, alone);
  // A device with fewer points than k cannot start alone: a neighbour has to send it its own once.
  const sent = Array.isArray(init) ? 0 : datasets.filter(({ rows }) => rows < k).length;
  const bytes = sent * centroids[0].data.length * 8;
  return modelWithoutRounds(datasets, graph, judged, { centroids, traffic: { messages: sent, bytes } });
};
