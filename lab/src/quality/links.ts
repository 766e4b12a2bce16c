// Links chosen and penalties of links: two communities by how far their clusters are apart, and where all links should stay.

import {
  adjustedRandIndex,
  choose,
  chooseLinks,
  communities,
  communityData,
  edges,
  erdosRenyi,
  type FitOptions,
  fit,
  type Graph,
  globalCentroidDeviation,
  kmeans,
  type LabelledPoints,
  type Matrix,
  methods,
  paperData,
  predict,
  randomStream,
  splitByClasses,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  stack,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median, relativeCost, settingOf } from "./problems.ts";

const SEEDS = 20;

const ALPHAS = [0.0003, 0.01, 0.1, 1];

/** Cooperation inside must not be paid for by mixing the two. In the follow-up alpha is 0.01, 0.1 and 1. */
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

/** How far centroids are from the pooled solution of the own community, on average. */
function communityDeviation(datasets: readonly Matrix[], seed: number) {
  const halves = [datasets.slice(0, 5), datasets.slice(5)];
  const references = halves.map((half) => kmeans(stack(half), { k: 3, restarts: 20, seed }).centroids);
  return (centroids: readonly Matrix[]) =>
    references.reduce((sum, own, h) => sum + globalCentroidDeviation(centroids.slice(5 * h, 5 * h + 5), own) / 2, 0);
}

function communityRun(seed: number, between: number) {
  const { datasets } = communityData(5, 50, seed);
  const network = communities([5, 5], 0.8, between, randomStream(seed, "graph"));
  const deviation = communityDeviation(datasets, seed);
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

const SHIFTS = [0.5, 1, 2, 4, 6, 8, 15];

const seedsFrom = (first: number) => Array.from({ length: SEEDS }, (_, s) => first + s);

const problem = (points: number, seed: number, shift: number) => ({
  datasets: communityData(5, points, seed, shift).datasets,
  network: communities([5, 5], 0.8, 0.1, randomStream(seed, "graph")),
});

/** How many links go between and inside communities, and where nothing should go. */
export function linksChosen(first: number): void {
  const sizes = [20, 50, 200, 1000];
  const rows = SHIFTS.map((shift) => [
    String(shift),
    ...sizes.map((points) => {
      const counts = { between: 0, ofBetween: 0, inside: 0, ofInside: 0 };
      for (const seed of seedsFrom(first)) {
        const { datasets, network } = problem(points, seed, shift);
        const isBetween = ([i, j]: readonly [number, number, number?]) => i < 5 && j >= 5;
        const all = Array.from(edges(network));
        const { dropped } = chooseLinks(datasets, network, { k: 3, seed });
        counts.ofBetween += all.filter(isBetween).length;
        counts.between += dropped.filter(isBetween).length;
        counts.ofInside += all.filter((edge) => !isBetween(edge)).length;
        counts.inside += dropped.filter((edge) => !isBetween(edge)).length;
      }
      return `${counts.between} of ${counts.ofBetween}, ${counts.inside} of ${counts.ofInside}`;
    }),
  ]);
  print("chooseLinks: links dropped between two communities and inside them, by shift and points a device, 20 seeds", [
    ["shift", ...sizes.map((points) => `${points} points`)],
    ...rows,
  ]);
  for (const points of [50, 400]) sameClusters(points, first);
}

/** What is lost where every link helps. */
function sameClusters(points: number, first: number): void {
  const rows = kinds.flatMap((kind) =>
    Object.entries(splits).map(([name, split]) => {
      const runs = seedsFrom(first).map((seed) => skewedRun(split(drawn(kind, 10 * points, seed), seed), seed));
      const total = (of: (run: SkewedRun) => number) => runs.reduce((sum, run) => sum + of(run), 0);
      return [
        `${kind}, ${name}`,
        `${total(({ dropped }) => dropped)} of ${total(({ links }) => links)}`,
        ...(["all", "chosen"] as const).flatMap((links) => [
          `${runs.filter((run) => run[links] <= 1.05).length} of ${SEEDS}`,
          Math.max(...runs.map((run) => run[links])).toFixed(3),
        ]),
      ];
    }),
  );
  print(`chooseLinks where all have the same clusters, 10 devices, ${points} points a device on average, 20 seeds`, [
    ["data", "dropped", "all links: within 5 % of pooled", "worst device", "chosen links: within 5 %", "worst device"],
    ...rows,
  ]);
}

function drawn(kind: (typeof kinds)[number], rows: number, seed: number): LabelledPoints {
  const { datasets, labels } = paperData(kind, 1, rows, seed);
  return { points: datasets[0], labels: labels[0] };
}

type Split = (points: LabelledPoints, seed: number) => readonly Matrix[];

const splits: Record<string, Split> = {
  even: (points, seed) => splitEvenly(points, 10, seed).datasets,
  "sizes 1 to 50": (points, seed) =>
    splitBySizes(
      points,
      [50, 25, 17.5, 10, 7.5, 5, 4, 3, 2, 1].map((share) => (share * points.points.rows) / 125),
      seed,
    ).datasets,
  "2 of 3 classes": (points, seed) => splitByClasses(points, 10, 2, seed).datasets,
  "1 of 3 classes": (points, seed) => splitByClasses(points, 10, 1, seed).datasets,
  "Dirichlet(0.1)": (points, seed) => splitByLabel(points, 10, 0.1, seed).datasets,
  "Dirichlet(0.5)": (points, seed) => splitByLabel(points, 10, 0.5, seed).datasets,
  "Dirichlet(1)": (points, seed) => splitByLabel(points, 10, 1, seed).datasets,
};

type SkewedRun = ReturnType<typeof skewedRun>;

function skewedRun(datasets: readonly Matrix[], seed: number) {
  const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
  const at = settingOf(datasets, network, 3, seed, 20);
  const { graph, dropped } = chooseLinks(datasets, network, { k: 3, seed });
  const worst = (links: Graph) => {
    const { centroids } = fit(datasets, links, { k: 3, alpha: 1, seed, rounds: 30, weighting: "sample" });
    return Math.max(...centroids.map((own) => relativeCost(at, own)));
  };
  const all = worst(network);
  return {
    all,
    chosen: dropped.length === 0 ? all : worst(graph),
    dropped: dropped.length,
    links: Array.from(edges(network)).length,
  };
}

/** What choose proposes for two groups of devices, by how far their clusters are apart, against the rows' true clusters. */
export function groupsChosen(first: number): void {
  const rows = [0, ...SHIFTS].map((shift) => {
    const runs = seedsFrom(first).map((seed) => {
      const { datasets, labels } = communityData(5, 50, seed, shift);
      const network = communities([5, 5], 0.8, 0.1, randomStream(seed, "graph"));
      const { fitted: k, alpha, graph, groups } = choose(datasets, network, { seed });
      const { centroids } = fit(datasets, graph, { k, alpha, seed });
      const agreement = datasets.reduce(
        (sum, own, i) => sum + adjustedRandIndex(labels[i], predict(centroids[i], own)) / datasets.length,
        0,
      );
      return { agreement, k, groups: groups.length };
    });
    return [
      String(shift),
      Math.min(...runs.map(({ agreement }) => agreement)).toFixed(3),
      `${runs.filter(({ agreement }) => agreement >= 0.95).length} of ${SEEDS}`,
      String(runs.filter(({ k }) => k === 3).length),
      String(runs.filter(({ groups }) => groups > 1).length),
    ];
  });
  print("choose: two groups of 5 devices with three clusters each, 50 points a device, p between 0.1, 20 seeds", [
    ["shift", "least agreement (ARI)", "0.95 and more", "k = 3", "in groups"],
    ...rows,
  ]);
}

const remedies: Record<string, Partial<FitOptions> & { readonly alpha: number; readonly chosen?: true }> = {
  alone: { alpha: 0 },
  "squared, alpha 1": { alpha: 1 },
  "chooseLinks, alpha 1": { alpha: 1, chosen: true },
  "norm, alpha 0.1": { alpha: 0.1, penalty: "norm" },
  "norm, alpha 1": { alpha: 1, penalty: "norm" },
  "truncated, alpha 0.1": { alpha: 0.1, penalty: "truncated" },
  "truncated, alpha 1": { alpha: 1, penalty: "truncated" },
};

/** What each remedy leaves of the distance to the own community's pooled solution. */
export function penaltiesCompared(first: number): void {
  const names = Object.keys(remedies);
  const rows = SHIFTS.map((shift) => {
    const runs = seedsFrom(first).map((seed) => remedyRun(seed, shift));
    const cell = (name: string) => {
      const values = runs.map((run) => run[name]);
      return `${median(values).toPrecision(2)} (${Math.max(...values).toPrecision(2)})`;
    };
    return [String(shift), ...names.map(cell)];
  });
  print(
    "two communities by shift, 50 points a device, p between 0.1: deviation from the own community's pooled solution, median (worst) of 20 seeds",
    [["shift", ...names], ...rows],
  );
  const dealt = ["even", "2 of 3 classes", "Dirichlet(0.5)"].map((name) => {
    const runs = seedsFrom(first).map((seed) => skewedRemedyRun(splits[name](drawn("iso", 500, seed), seed), seed));
    const cell = (remedy: string) => {
      const values = runs.map((run) => run[remedy]);
      return `${values.filter((value) => value <= 1.05).length} of ${SEEDS} (${Math.max(...values).toFixed(2)})`;
    };
    return [name, ...names.map(cell)];
  });
  print(
    "the same where all have the same clusters (iso, 50 points a device): worst device within 5 % of pooled (worst cost of all)",
    [["split", ...names], ...dealt],
  );
}

/** The worst device's cost on all points, relative to pooled k-means, by each remedy. */
function skewedRemedyRun(datasets: readonly Matrix[], seed: number): Record<string, number> {
  const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
  const at = settingOf(datasets, network, 3, seed, 20);
  return ofRemedies(datasets, network, seed, (centroids) => Math.max(...centroids.map((own) => relativeCost(at, own))));
}

function remedyRun(seed: number, shift: number): Record<string, number> {
  const { datasets, network } = problem(50, seed, shift);
  return ofRemedies(datasets, network, seed, communityDeviation(datasets, seed));
}

/** A measure of every remedy's centroids. */
function ofRemedies(
  datasets: readonly Matrix[],
  network: Graph,
  seed: number,
  measure: (centroids: readonly Matrix[]) => number,
): Record<string, number> {
  const links = chooseLinks(datasets, network, { k: 3, seed }).graph;
  return Object.fromEntries(
    Object.entries(remedies).map(([name, { chosen, ...options }]) => {
      const { centroids } = fit(datasets, chosen ? links : network, { k: 3, seed, ...options });
      return [name, measure(centroids)];
    }),
  );
}
