// Is the answer right on everybody's data? Sets as public ones are, over several networks, against best-of-50 pooled
// k-means: consensus on sparse networks, and fit as the command fedkm fit runs it by default, on the complete one.

import {
  complete,
  connectedComponents,
  consensusRounds,
  erdosRenyi,
  fit,
  type Graph,
  type LabelledPoints,
  type Matrix,
  matrix,
  normalStream,
  path,
  type Random,
  randomStream,
  ring,
  splitByLabel,
  splitBySizes,
  splitEvenly,
  star,
  toRows,
} from "@fedkm/core";
import { defaults } from "@fedkm/core/defaults";
import { print } from "../measure.ts";
import { relativeCost, settingOf } from "./problems.ts";

// Generators of data that public benchmarks are like: overlapping, sorted, unbalanced, many clusters, and devices of all
// sizes. Everything follows from the seed.

/** A kind of data: how many clusters, and the devices' rows for a seed. */
interface PublicSet {
  readonly name: string;
  readonly k: number;
  readonly datasets: (seed: number) => readonly Matrix[];
}

/** Round clusters of their own sizes and deviations around the centres. */
function draw(
  centres: readonly (readonly [number, number])[],
  sizes: readonly number[],
  sigma: number,
  random: Random,
): LabelledPoints {
  const normal = normalStream(random);
  const labels = Uint32Array.from(sizes.flatMap((size, c) => new Array<number>(size).fill(c)));
  const data = new Float64Array(2 * labels.length);
  labels.forEach((label, r) => {
    data[2 * r] = centres[label][0] + sigma * normal();
    data[2 * r + 1] = centres[label][1] + sigma * normal();
  });
  return { points: { data, rows: labels.length, cols: 2 }, labels };
}

/** Centres in [-10, 10]^2, each drawn until it is that far from all before it. */
function centresApart(k: number, apart: number, random: Random): [number, number][] {
  const centres: [number, number][] = [];
  while (centres.length < k) {
    const [x, y] = [20 * random() - 10, 20 * random() - 10];
    if (centres.every(([a, b]) => (a - x) ** 2 + (b - y) ** 2 >= apart * apart)) centres.push([x, y]);
  }
  return centres;
}

function even(k: number, rows: number, sigma: number, apart: number, seed: number): LabelledPoints {
  const random = randomStream(seed, "quality", "public", k);
  return draw(centresApart(k, apart, random), new Array<number>(k).fill(rows), sigma, random);
}

/** 15 clusters of 120 that overlap with their neighbours. */
const overlapping = (seed: number) => even(15, 120, 1.5, 3, seed);

/** The rows in the order of their first column, in equal shares. */
function sorted({ points }: LabelledPoints, devices: number): Matrix[] {
  const rows = toRows(points).sort(([a], [b]) => a - b);
  const share = rows.length / devices;
  return Array.from({ length: devices }, (_, i) =>
    matrix(rows.slice(Math.round(i * share), Math.round((i + 1) * share))),
  );
}

/** Three dense clusters of 2,000 side by side, and five of 100 far from them. */
function unbalanced(seed: number): LabelledPoints {
  const random = randomStream(seed, "quality", "unbalanced");
  const near = (x: number, y: number): [number, number] => [x + random() - 0.5, y + random() - 0.5];
  const dense = [near(-10, -2), near(-8, 2), near(-10, 4)];
  const sparse = [near(4, -6), near(7, -3), near(10, 0), near(7, 4), near(4, 7)];
  return draw([...dense, ...sparse], [2000, 2000, 2000, 100, 100, 100, 100, 100], 0.5, random);
}

/** 31 clusters of 60 on a grid, each a little off its place. */
function jitteredGrid(seed: number): LabelledPoints {
  const random = randomStream(seed, "quality", "grid");
  const centres = Array.from({ length: 31 }, (_, c): [number, number] => [
    3.6 * (c % 6) + 1.4 * (random() - 0.5),
    3.6 * Math.floor(c / 6) + 1.4 * (random() - 0.5),
  ]);
  return draw(centres, new Array<number>(31).fill(60), 0.6, random);
}

/** One device with 100 points of one cluster, and 100 devices with 7 points of eight. */
function largeAndTiny(seed: number): readonly Matrix[] {
  const random = randomStream(seed, "quality", "tiny");
  const centres = centresApart(8, 5, random);
  const large = draw([centres[0]], [100], 0.7, random).points;
  const rest = draw(centres, [84, 88, 88, 88, 88, 88, 88, 88], 0.7, random);
  return [large, ...splitEvenly(rest, 100, seed).datasets];
}

const SIZES = [4, 6, 10, 20, 40, 60, 100, 160, 300, 1100];

const publicSets: readonly PublicSet[] = [
  { name: "15 overlapping, sorted", k: 15, datasets: (seed) => sorted(overlapping(seed), 10) },
  {
    name: "15 overlapping, sizes 4 to 1,100",
    k: 15,
    datasets: (seed) => splitBySizes(overlapping(seed), SIZES, seed).datasets,
  },
  { name: "8 unbalanced", k: 8, datasets: (seed) => splitEvenly(unbalanced(seed), 10, seed).datasets },
  {
    name: "35 round, label skew",
    k: 35,
    datasets: (seed) => splitByLabel(even(35, 60, 0.8, 2, seed), 10, 0.5, seed).datasets,
  },
  { name: "50 round", k: 50, datasets: (seed) => splitEvenly(even(50, 50, 0.7, 1.7, seed), 10, seed).datasets },
  { name: "31 on 120 devices", k: 31, datasets: (seed) => splitEvenly(jitteredGrid(seed), 120, seed).datasets },
  { name: "1 large, 100 of 7 rows", k: 8, datasets: largeAndTiny },
];

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
