// Is the answer right on everybody's data? Sets as public ones are, over several networks, against best-of-50 pooled
// k-means: consensus on sparse networks, and fit as the command fedkm fit runs it by default, on the complete one.

import {
  complete,
  connectedComponents,
  consensusRounds,
  erdosRenyi,
  fit,
  type Graph,
  type Matrix,
  path,
  randomStream,
  ring,
  star,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { print } from "../measure.ts";
import { type PublicSet, publicSets } from "./publicSets.ts";
import { relativeCost, settingOf } from "./setting.ts";

const SEEDS = 20;
const WITHIN = 1.05;

const networks: Record<string, (devices: number, seed: number) => Graph> = { ring, star, path, random };

/** Four to six neighbours on average, drawn until all are connected. */
function random(devices: number, seed: number): Graph {
  for (let draw = 0; ; draw++) {
    const drawn = erdosRenyi(devices, Math.max(0.05, 4 / devices), randomStream(seed, "graph", draw));
    if (connectedComponents(drawn).every((component) => component === 0)) return drawn;
  }
}

interface Outcome {
  readonly start: number;
  readonly end: number;
  readonly converged: boolean;
  readonly rounds: number;
}

export function everybody(first: number): void {
  const rows = publicSets.map((set) => {
    const runs = Array.from({ length: SEEDS }, (_, s) => runOf(set, first + s));
    const agreed = runs.flatMap((run) => run.consensus);
    const right = (network: number) => runs.filter(({ consensus }) => consensus[network].end <= WITHIN).length;
    return [
      set.name,
      ...Object.keys(networks).map((_, network) => String(right(network))),
      worst(agreed.map(({ end }) => end)),
      `${agreed.filter(({ start, end }) => end <= start * (1 + 1e-12)).length} of ${agreed.length}`,
      `${agreed.filter(({ converged }) => converged).length} of ${agreed.length}`,
      String(Math.max(...agreed.map(({ rounds }) => rounds))),
      String(runs.filter((run) => run.fit <= WITHIN).length),
      worst(runs.map((run) => run.fit)),
      String(runs.filter((run) => run.fitConverged).length),
    ];
  });
  const counted = Object.keys(networks).map((name) => `consensus, ${name}`);
  const rest = ["worst", "not above its start", "converged", "most rounds", "fit, complete", "worst", "converged"];
  print(`everybody's data: worst device within 5 % of the best of 50 pooled k-means, of ${SEEDS} seeds`, [
    ["data", ...counted, ...rest],
    ...rows,
  ]);
}

function runOf({ k, datasets: make }: PublicSet, seed: number) {
  const datasets = make(seed);
  const devices = datasets.length;
  const at = settingOf(datasets, ring(devices), k, seed, 50);
  const costOf = (centroids: readonly Matrix[]) => Math.max(...centroids.map((own) => relativeCost(at, own)));
  const consensus = Object.values(networks).map((network): Outcome => {
    const loop = consensusRounds(datasets, network(devices, seed), { k, alpha: 1, seed });
    let start = 0;
    for (;;) {
      const step = loop.next();
      if (step.done) return { start, end: costOf(step.value.centroids), ...step.value };
      if (step.value.round === 0) start = costOf(step.value.centroids);
    }
  });
  const fitted = fit(datasets, complete(devices), { k, alpha: defaults.alpha, seed: 1, weighting: "sample" });
  return { consensus, fit: costOf(fitted.centroids), fitConverged: fitted.converged };
}

function worst(costs: readonly number[]): string {
  return `${(100 * (Math.max(...costs) - 1)).toFixed(1)} %`;
}
