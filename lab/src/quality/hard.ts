// Harder data: devices that miss clusters, and many overlapping clusters.

import {
  erdosRenyi,
  fit,
  type LabelledPoints,
  type Matrix,
  normalStream,
  randomStream,
  splitByLabel,
  splitEvenly,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { relativeCost, settingOf } from "./setting.ts";

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
