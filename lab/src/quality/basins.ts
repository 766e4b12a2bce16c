// Does the network end in the right basin? Both readings of the paper's start, ours, and one planted wrong device.

import { type FitOptions, fit, graph, type Matrix } from "@fedkm/core";
import { print } from "../measure.ts";
import { isOneToOne, isWrong, kinds, type Setting, setting } from "./setting.ts";

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
