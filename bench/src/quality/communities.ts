// Two communities with clusters of their own: cooperation inside must not be paid for by mixing the two.

import {
  communities,
  fit,
  globalCentroidDeviation,
  kmeans,
  methods,
  randomStream,
  stack,
  twoCommunities,
} from "@fedkm/core";
import { print } from "../table.ts";
import { median } from "./setting.ts";

const SEEDS = 20;

export function communitiesApart(first: number): void {
  const rows = [0, 0.1].map((between) => {
    const results = Array.from({ length: SEEDS }, (_, s) => communityRun(first + s, between));
    const of = (name: keyof (typeof results)[number]) => median(results.map((result) => result[name])).toPrecision(2);
    return [String(between), of("local"), of("weak"), of("strong"), of("distributed")];
  });
  print(
    "two communities of 5, 50 points a device, p inside 0.8: median deviation from the own community's pooled solution, 20 seeds",
    [["p between", "local", "fedkm, alpha 0.01", "fedkm, alpha 1", "distributed"], ...rows],
  );
}

function communityRun(seed: number, between: number) {
  const { datasets } = twoCommunities(5, 50, seed);
  const network = communities([5, 5], 0.8, between, randomStream(seed, "graph"));
  const halves = [datasets.slice(0, 5), datasets.slice(5)];
  const references = halves.map((half) => kmeans(stack(half), { k: 3, restarts: 20, seed }).centroids);
  const deviation = (centroids: Parameters<typeof globalCentroidDeviation>[0]) =>
    references.reduce((sum, own, h) => sum + globalCentroidDeviation(centroids.slice(5 * h, 5 * h + 5), own) / 2, 0);
  const options = { k: 3, seed };
  return {
    local: deviation(methods.local(datasets, network, { ...options, alpha: 0 }).centroids),
    weak: deviation(fit(datasets, network, { ...options, alpha: 0.01 }).centroids),
    strong: deviation(fit(datasets, network, { ...options, alpha: 1 }).centroids),
    distributed: deviation(methods.distributed(datasets, network, { ...options, alpha: 0 }).centroids),
  };
}
