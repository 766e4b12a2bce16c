// All points in one place: what federated methods are measured against. It moves every raw record.

import { checkNetwork } from "../check.ts";
import { defaults } from "../defaults.ts";
import { kmeansOn } from "../kmeans.ts";
import { stack } from "../matrix.ts";
import { judgedBy, type Method, modelWithoutRounds } from "./method.ts";

export const pooled: Method = (datasets, graph, options) => {
  checkNetwork(datasets, graph);
  const judged = judgedBy(options);
  const { k, restarts = defaults.pooledRestarts, seed = defaults.seed } = options;
  const kernel = options.kernel === undefined ? {} : { kernel: options.kernel };
  const points = stack(datasets);
  // To the exact fixed point: a tolerance would shift the reference itself.
  const { centroids } = kmeansOn(points, { k, restarts, seed, ...kernel, maxIter: 10_000, tol: 0 });
  const copies = datasets.map(() => ({ ...centroids, data: centroids.data.slice() }));
  const messages = datasets.filter(({ rows }) => rows > 0).length;
  const traffic = { messages, bytes: points.data.length * 8 };
  return modelWithoutRounds(datasets, graph, judged, { centroids: copies, traffic });
};
