// Does the network end in the right basin? Seeds that the paper would use, seeds of ours, and one planted wrong device.

import { type FitOptions, fit, kmeans, type Matrix } from "@fedkm/core";
import { print } from "../table.ts";
import { isWrong, kinds, type Setting, setting, settingOf } from "./setting.ts";

const SEEDS = 50;

/** A network is wrong if most of its devices are. */
function networkIsWrong(at: Setting, options: Partial<FitOptions>): boolean {
  const { datasets, network, seed } = at;
  const { centroids } = fit(datasets, network, { k: 3, alpha: 1, seed, ...options });
  return centroids.filter((own) => isWrong(at, own)).length > centroids.length / 2;
}

export function wrongNetworks(first: number): void {
  const variants: [string, Partial<FitOptions>][] = [
    ["paper, classic k-means++ seeds", { preset: "paper", init: "classic kmeans++", rounds: 30 }],
    ["paper, greedy k-means++ seeds", { preset: "paper", rounds: 30 }],
    ["paper, local k-means first", { preset: "paper", init: "local", rounds: 30 }],
    ["greedy seeds and candidates", { init: "kmeans++", rounds: 30 }],
    ["defaults", {}],
  ];
  const settings = kinds.map((kind) => Array.from({ length: SEEDS }, (_, s) => setting(kind, 100, first + s)));
  const rows = variants.map(([name, options]) => [
    name,
    ...settings.map((runs) => `${runs.filter((at) => networkIsWrong(at, options)).length} of ${SEEDS}`),
  ]);
  print("wrong networks: m = 100, p = 0.7, alpha = 1", [["start", ...kinds], ...rows]);
}

/** All devices at their own best k-means but device 0, which sits in a wrong local optimum, where there is one. */
export function infection(first: number): void {
  const rows = kinds.map((kind) => {
    let [planted, paper, defaults] = [0, 0, 0];
    for (let s = 0; s < SEEDS; s++) {
      const at = setting(kind, 100, first + s);
      const wrong = wrongOptimum(at.datasets[0], first + s);
      if (wrong === undefined) continue;
      planted++;
      const others = at.datasets.slice(1).map((points) => kmeans(points, { k: 3, seed: at.seed }).centroids);
      const init = [wrong, ...others];
      if (networkIsWrong(at, { init, preset: "paper", rounds: 60 })) paper++;
      if (networkIsWrong(at, { init })) defaults++;
    }
    return [kind, String(planted), String(paper), String(defaults)];
  });
  const head = ["data", "networks with a planted wrong device", "ruined, paper settings", "ruined, defaults"];
  print("infection: one wrong device among ten, m = 100, p = 0.7, alpha = 1", [head, ...rows]);
}

/** A fixed point of k-means on these points that is not the right one, if a few starts find one. */
function wrongOptimum(points: Matrix, seed: number): Matrix | undefined {
  const own = settingOf([points], { size: 1, neighbours: [], weights: [] }, 3, seed, 20);
  for (let start = 0; start < 200; start++) {
    const drawn = fit(
      [points],
      { size: 1, neighbours: [new Uint32Array(0)], weights: [new Float64Array(0)] },
      {
        k: 3,
        alpha: 0,
        init: "classic kmeans++",
        seed: 1000 * seed + start,
      },
    );
    if (isWrong(own, drawn.centroids[0])) return drawn.centroids[0];
  }
  return undefined;
}
