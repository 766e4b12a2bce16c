// Two communities with clusters of their own: cooperation inside must not be paid for by mixing the two.

import {
  chooseLinks,
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

const ALPHAS = [0.0003, 0.01, 0.1, 1];

/** In the paper's extended version alpha is 0.01, 0.1 and 1. */
export function communitiesApart(first: number): void {
  const rows = [0, 0.1].map((between) => {
    const runs = Array.from({ length: SEEDS }, (_, s) => communityRun(first + s, between));
    const cell = (of: (run: (typeof runs)[number]) => number) => {
      const below = runs.filter((run) => of(run) < run.local).length;
      return `${median(runs.map(of)).toPrecision(2)} (${below})`;
    };
    return [
      String(between),
      median(runs.map(({ local }) => local)).toPrecision(2),
      ...ALPHAS.map((_, a) => cell(({ coupled }) => coupled[a])),
      cell(({ chosen }) => chosen),
      cell(({ distributed }) => distributed),
    ];
  });
  print(
    "two communities of 5, 50 points a device, p inside 0.8: median deviation from the own community's pooled solution, 20 seeds (so many below local)",
    [
      [
        "p between",
        "local",
        ...ALPHAS.map((alpha) => `fedkm, alpha ${alpha}`),
        "the same, links chosen",
        "distributed",
      ],
      ...rows,
    ],
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
    coupled: ALPHAS.map((alpha) => deviation(fit(datasets, network, { ...options, alpha }).centroids)),
    chosen: deviation(fit(datasets, chooseLinks(datasets, network, options).graph, { ...options, alpha: 1 }).centroids),
    distributed: deviation(methods.distributed(datasets, network, { ...options, alpha: 0 }).centroids),
  };
}
