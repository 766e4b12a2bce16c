// Harder data: devices that miss clusters, many overlapping clusters, and starts in the wrong basin.

import {
  erdosRenyi,
  type FitOptions,
  fit,
  graph,
  type LabelledPoints,
  type Matrix,
  normalStream,
  randomStream,
  splitByLabel,
  splitEvenly,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { isOneToOne, isWrong, kinds, relativeCost, type Setting, setting, settingOf } from "./problems.ts";

// Does the network end in the right basin? Both readings of the paper's start, ours, and one planted wrong device.

const SEEDS = 50;

/** A network is wrong if most of its devices are. */
function networkIsWrong(at: Setting, options: Partial<FitOptions>): boolean {
  const { datasets, network, seed } = at;
  const { centroids } = fit(datasets, network, { k: 3, alpha: 1, seed, ...options });
  return centroids.filter((own) => isWrong(at, own)).length > centroids.length / 2;
}

export function wrongNetworks(first: number): void {
  const variants: [string, Partial<FitOptions>][] = [
    ["raw seeds, classic k-means++", { preset: "paper", init: "classic kmeans++", rounds: 30 }],
    ["raw seeds, greedy k-means++", { preset: "paper", init: "kmeans++", rounds: 30 }],
    ["k-means to its end, as the authors do", { preset: "paper", rounds: 30 }],
    ["raw seeds, greedy, and candidates", { init: "kmeans++", rounds: 30 }],
    ["defaults", {}],
  ];
  const settings = kinds.map((kind) => Array.from({ length: SEEDS }, (_, s) => setting(kind, 100, first + s)));
  const rows = variants.map(([name, options]) => [
    name,
    ...settings.map((runs) => `${runs.filter((at) => networkIsWrong(at, options)).length} of ${SEEDS}`),
  ]);
  print("wrong networks: m = 100, p = 0.7, alpha = 1", [["start", ...kinds], ...rows]);
}

/**
 * All devices at their local optimum in the right basin but device 0, which has two centroids in one cluster and one
 * between two others, where k-means can end like that.
 */
export function infection(first: number): void {
  const rows = kinds.map((kind) => {
    const runs = Array.from({ length: SEEDS }, (_, s) => plant(setting(kind, 100, first + s)));
    const planted = runs.filter((run) => run !== undefined);
    const ruined = (of: "untouched" | "paper" | "defaults") => String(planted.filter((run) => run[of]).length);
    return [kind, String(planted.length), ruined("untouched"), ruined("paper"), ruined("defaults")];
  });
  const head = ["data", "networks", "wrong, nothing planted", "ruined, the paper's updates", "ruined, defaults"];
  print("infection: one wrong device planted among ten, m = 100, p = 0.7, alpha = 1", [head, ...rows]);
}

/** Whether the network ends wrong: with the paper's updates without and with the planted device, and with the defaults. */
function plant(at: Setting) {
  const right = localOptima(at.datasets, { init: at.datasets.map(() => at.reference) });
  const wrong = wrongOptimum(at);
  if (wrong === undefined) return undefined;
  const init = [wrong, ...right.slice(1)];
  const paper = { preset: "paper", rounds: 60 } as const;
  return {
    untouched: networkIsWrong(at, { ...paper, init: right }),
    paper: networkIsWrong(at, { ...paper, init }),
    defaults: networkIsWrong(at, { init }),
  };
}

function wrongOptimum({ datasets, reference, seed }: Setting): Matrix | undefined {
  for (let start = 0; start < 200; start++) {
    const [own] = localOptima(datasets.slice(0, 1), { init: "classic kmeans++", seed: 1000 * seed + start });
    if (!isOneToOne(own, reference)) return own;
  }
  return undefined;
}

/** Where k-means ends on each device alone. */
function localOptima(datasets: readonly Matrix[], options: Partial<FitOptions>): readonly Matrix[] {
  return fit(datasets, graph(datasets.length, []), { k: 3, alpha: 0, ...options }).centroids;
}

/** Equal round blobs in [-10, 10]^2; with `apart`, centres are redrawn until they are that far from each other. */
export function blobs(k: number, rows: number, sigma: number, apart: number, seed: number): LabelledPoints {
  const random = randomStream(seed, "quality", "blobs", k);
  const normal = normalStream(random);
  const centres: [number, number][] = [];
  while (centres.length < k) {
    const [x, y] = [20 * random() - 10, 20 * random() - 10];
    if (centres.every(([a, b]) => (a - x) * (a - x) + (b - y) * (b - y) >= apart * apart)) centres.push([x, y]);
  }
  const labels = Uint32Array.from({ length: rows }, (_, r) => r % k);
  const data = new Float64Array(2 * rows);
  labels.forEach((label, r) => {
    data[2 * r] = centres[label][0] + sigma * normal();
    data[2 * r + 1] = centres[label][1] + sigma * normal();
  });
  return { points: { data, rows, cols: 2 }, labels };
}

/** The worst device's cost on all points, relative to pooled k-means. */
function worstCost(datasets: readonly Matrix[], k: number, seed: number, restarts: number, rounds: number): number {
  const network = erdosRenyi(10, 0.5, randomStream(seed, "graph"));
  const at = settingOf(datasets, network, k, seed, restarts);
  const { centroids } = fit(datasets, network, { k, alpha: 1, seed, rounds });
  return Math.max(...centroids.map((own) => relativeCost(at, own)));
}

export function labelSkew(first: number): void {
  const costs = Array.from({ length: 20 }, (_, s) => {
    const { datasets } = splitByLabel(blobs(4, 1500, 1, 5, first + s), 10, 0.2, first + s);
    return worstCost(datasets, 4, first + s, 20, 10);
  });
  print("label skew: Dirichlet(0.2), 4 blobs, 10 devices, 1,500 points, defaults, 10 rounds, 20 seeds", [
    ["worst device within 5 % of pooled k-means", "worst of all"],
    [`${costs.filter((cost) => cost <= 1.05).length} of 20`, costs.reduce((a, b) => Math.max(a, b)).toFixed(4)],
  ]);
}

export function manyClusters(first: number): void {
  const rows = [35, 50].flatMap((k) =>
    (["even", "Dirichlet(0.5)"] as const).map((split) => {
      const costs = Array.from({ length: 20 }, (_, s) => {
        const drawn = blobs(k, 6000, 0.6, 0, first + s);
        const dealt = split === "even" ? splitEvenly(drawn, 10, first + s) : splitByLabel(drawn, 10, 0.5, first + s);
        return worstCost(dealt.datasets, k, first + s, 50, 20);
      });
      const good = costs.filter((cost) => cost <= 1.05).length;
      return [String(k), split, `${good} of 20`, Math.max(...costs).toFixed(3)];
    }),
  );
  print("many clusters: overlapping blobs, 6,000 points, 10 devices, defaults, against best of 50 pooled, 20 seeds", [
    ["k", "split", "worst device within 5 %", "worst of all"],
    ...rows,
  ]);
}
