// Two communities with clusters of their own: cooperation inside must not be paid for by mixing the two.

import {
  chooseLinks,
  communities,
  fit,
  type Graph,
  globalCentroidDeviation,
  kmeans,
  methods,
  randomStream,
  stack,
  twoCommunities,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { median } from "./setting.ts";

const SEEDS = 20;

const ALPHAS = [0.0003, 0.01, 0.1, 1];

/** In the follow-up alpha is 0.01, 0.1 and 1. */
export function communitiesApart(first: number): void {
  const rows = [0, 0.1].map((between) => {
    const runs = Array.from({ length: SEEDS }, (_, s) => communityRun(first + s, between));
    type Of = (run: (typeof runs)[number]) => number;
    const given: Of = ({ distributed }) => distributed;
    const onChosen: Of = ({ chosen }) => chosen.distributed;
    const cell = (of: Of, rival?: Of) => {
      const below = runs.filter((run) => of(run) < run.local).length;
      const tenfold = rival && runs.filter((run) => 10 * of(run) <= rival(run)).length;
      return `${median(runs.map(of)).toPrecision(2)} (${[below, tenfold].filter((n) => n !== undefined).join(", ")})`;
    };
    return [
      String(between),
      median(runs.map(({ local }) => local)).toPrecision(2),
      ...ALPHAS.map((_, a) => cell(({ coupled }) => coupled[a], given)),
      cell(given),
      cell(({ chosen }) => chosen.fedkm, onChosen),
      cell(({ chosen }) => chosen.consensus, onChosen),
      cell(onChosen),
    ];
  });
  print(
    "two communities of 5, 50 points a device, p inside 0.8: median deviation from the own community's pooled solution, 20 seeds (so many below local, so many ten times below distributed on the same links)",
    [
      [
        "p between",
        "local",
        ...ALPHAS.map((alpha) => `fedkm, alpha ${alpha}`),
        "distributed",
        "links chosen: fedkm, alpha 1",
        "links chosen: consensus",
        "links chosen: distributed",
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
  const options = { k: 3, seed, alpha: 0 };
  const chosen = chooseLinks(datasets, network, options).graph;
  const distributed = (links: Graph) => deviation(methods.distributed(datasets, links, options).centroids);
  return {
    local: deviation(methods.local(datasets, network, options).centroids),
    coupled: ALPHAS.map((alpha) => deviation(fit(datasets, network, { ...options, alpha }).centroids)),
    distributed: distributed(network),
    chosen: {
      fedkm: deviation(fit(datasets, chosen, { ...options, alpha: 1 }).centroids),
      consensus: deviation(methods.consensus(datasets, chosen, options).centroids),
      distributed: distributed(chosen),
    },
  };
}
