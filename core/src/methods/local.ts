// Every device on its own: best-of-restarts k-means on its points, nothing sent. The lower end of the dial.

import { checkInteger } from "../check.ts";
import { fit } from "../fit.ts";
import { type Method, modelWithoutRounds } from "./method.ts";

export const local: Method = (datasets, graph, options) => {
  const { k, init = "local", restarts = 10, seed = 0 } = options;
  checkInteger("k", k, 1);
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
    passes: 300,
    tol: 0,
    preset: "paper",
  } as const;
  const { centroids } = fit(datasets, graph, alone);
  // A device with fewer points than k cannot start alone: a neighbour has to tell it once.
  const told = Array.isArray(init) ? 0 : datasets.filter(({ rows }) => rows < k).length;
  const bytes = told * centroids[0].data.length * 8;
  return modelWithoutRounds(datasets, graph, options, centroids, { messages: told, bytes });
};
