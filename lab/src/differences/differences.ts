// npm run lab -- differences: what each difference from the paper changes, measured. The figures of docs/paper.md.

import { parseArgs } from "node:util";
import {
  connectedComponents,
  distortion,
  erdosRenyi,
  type FitOptions,
  fit,
  fitRounds,
  type Graph,
  globalCentroidDeviation,
  type Matrix,
  methods,
  normalStream,
  paperData,
  type Random,
  randomStream,
  ring,
  splitBySizes,
  stack,
  star,
  totalVariation,
} from "@fedkm/core";
import { print } from "../measure.ts";

const RUNS = 10;
const seeds = Array.from({ length: RUNS }, (_, run) => run + 1);
const mean = (values: number[]) => values.reduce((a, b) => a + b, 0) / values.length;
const round = (value: number) => value.toPrecision(2);

export function run(args: string[]): void {
  parseArgs({ args, options: {} });
  denominator();
  objectiveForms();
  meaningOfRounds();
  allAtOnce();
  recordsAsSeeds();
  weightings();
  isolatedDevices();
}

interface Setting {
  datasets: readonly Matrix[];
  network: Graph;
  reference: Matrix;
  seed: number;
}

function setting(points: number, probability: number | "ring", seed: number): Setting {
  const { datasets } = paperData("iso", 10, points, seed);
  const network = probability === "ring" ? ring(10) : erdosRenyi(10, probability, randomStream(seed, "graph"));
  const [reference] = methods.pooled(datasets, network, { k: 3, alpha: 1, seed }).centroids;
  return { datasets, network, reference, seed };
}

function rises(values: number[]): number {
  return values.filter((value, t) => t > 0 && value > values[t - 1] * (1 + 1e-12)).length;
}

/** 1. The printed max(den, 1) against den, 25 sweeps of single updates. */
function denominator(): void {
  const rows = [
    ["graph", "alpha", "GCD, divided by den", "GCD, by max(den, 1)", "updates that raise F: den", "max(den, 1)"],
  ];
  for (const [graph, alpha] of [
    [0.7, 0],
    [0.7, 0.1],
    [0.4, 0.1],
    ["ring", 0.1],
    [0.7, 1],
  ] as const) {
    const results = [0, 1].map((denominatorFloor) =>
      seeds.map((seed) => {
        const { datasets, network, reference } = setting(100, graph, seed);
        const schedule = Array.from({ length: 250 }, (_, t) => [t % 10]);
        const { centroids, history } = fit(datasets, network, {
          k: 3,
          alpha,
          seed,
          schedule,
          denominatorFloor,
          init: "local",
        });
        const raised = rises(history.map(({ objective }) => objective));
        return { deviation: globalCentroidDeviation(centroids, reference), raised };
      }),
    );
    const [exact, printed] = results.map((runs) => round(mean(runs.map(({ deviation }) => deviation))));
    const [exactRises, printedRises] = results.map((runs) => runs.reduce((sum, { raised }) => sum + raised, 0));
    const name = graph === "ring" ? "ring" : `G(10, ${graph})`;
    rows.push([name, String(alpha), exact, printed, `${exactRises} of 2500`, `${printedRises} of 2500`]);
  }
  print("1. the denominator of (M): iso, m = 100, 10 runs", rows);
}

/** 2. Which objective never rises: losses divided by m_i, or summed as printed. */
function objectiveForms(): void {
  let [scaled, summed] = [0, 0];
  for (let seed = 0; seed < 300; seed++) {
    const { datasets, network, options } = randomProblem(seed);
    const schedule = Array.from({ length: 40 }, (_, t) => [t % network.size]);
    const printed: number[] = [];
    const ours: number[] = [];
    for (const { centroids, objective } of fitRounds(datasets, network, { ...options, schedule })) {
      ours.push(objective);
      printed.push(2 * distortion(datasets, centroids) + options.alpha * totalVariation(centroids, network));
    }
    if (rises(ours) > 0) scaled++;
    if (rises(printed) > 0) summed++;
  }
  print("2. the objective: 300 random problems, 40 single updates each", [
    ["form", "problems in which it rises"],
    ["losses divided by m_i", String(scaled)],
    ["losses summed, as printed", String(summed)],
  ]);
}

/** 3. T = 200 as rounds over all devices, or as single updates, from both readings of the paper's start. */
function meaningOfRounds(): void {
  const rows = [["start", "alpha", "200 rounds", "200 single updates", "local k-means"]];
  for (const [name, init] of [
    ["own k-means", "local"],
    ["raw seeds", "kmeans++"],
  ] as const) {
    for (const alpha of [0.5, 1]) {
      const common = { k: 3, alpha, preset: "paper", init } as const;
      const settings = seeds.map((seed) => setting(800, 0.7, seed));
      const deviation = (run: (at: Setting) => readonly Matrix[]) =>
        round(mean(settings.map((at) => globalCentroidDeviation(run(at), at.reference))));
      rows.push([
        name,
        String(alpha),
        deviation(({ datasets, network, seed }) => fit(datasets, network, { ...common, seed }).centroids),
        deviation(({ datasets, network, seed }) => {
          return fit(datasets, network, { ...common, seed, schedule: "random", rounds: 20 }).centroids;
        }),
        deviation(({ datasets, network, seed }) => methods.local(datasets, network, { k: 3, alpha, seed }).centroids),
      ]);
    }
  }
  print("3. T = 200: mean GCD, iso, m = 800, p = 0.7, 10 runs", rows);
}

/** 4. All devices at once (Jacobi) with many passes, undamped, against what the rules allow. */
function allAtOnce(): void {
  const rows = [["update, all devices at once", "problems in which F rises, of 300"]];
  const variants: [string, Partial<FitOptions>][] = [
    ["100 passes", {}],
    ["1 pass", { passes: 1 }],
    ["1 pass, relaxation 1.8", { passes: 1, relaxation: 1.8 }],
    ["1 pass, relaxation 1.8, damping 1/2", { passes: 1, relaxation: 1.8, damping: 0.5 }],
    ["100 passes, safeguard, damping 1/2", { safeguard: true, damping: 0.5 }],
  ];
  for (const [name, variant] of variants) {
    let raised = 0;
    for (let seed = 0; seed < 300; seed++) {
      const { datasets, network, options } = randomProblem(seed, seed % 2 === 0 ? star : ring);
      const all = datasets.map((_, i) => i);
      const schedule = Array.from({ length: 40 }, () => all);
      const { history } = fit(datasets, network, { ...options, ...variant, schedule });
      if (rises(history.map(({ objective }) => objective)) > 0) raised++;
    }
    rows.push([name, String(raised)]);
  }
  print("4. all at once: 300 random problems on stars and rings, 40 rounds each", rows);
}

/** 5. Are the first centroids that devices send their own records? */
function recordsAsSeeds(): void {
  const rows = [["start", "sent centroids that are raw records"]];
  for (const init of ["kmeans++", "local"] as const) {
    let [sent, raw] = [0, 0];
    for (const seed of seeds) {
      const { datasets, network } = setting(100, 0.7, seed);
      const { centroids } = fit(datasets, network, { k: 3, alpha: 1, seed, init, rounds: 0 });
      const records = new Set(asText(stack(datasets)));
      for (const row of asText(stack(centroids))) {
        sent++;
        if (records.has(row)) raw++;
      }
    }
    rows.push([init, `${raw} of ${sent}`]);
  }
  print("5. what the first message holds: iso, m = 100, 10 runs", rows);
}

function asText({ data, rows, cols }: Matrix): string[] {
  return Array.from({ length: rows }, (_, r) => data.subarray(r * cols, (r + 1) * cols).join());
}

/** 6. Unequal sizes: which weighting tends to pooled k-means as alpha grows. */
function weightings(): void {
  const sizes = [20, 30, 40, 60, 80, 100, 120, 150, 180, 220];
  const rows = [["alpha", "weighting device", "weighting sample"]];
  for (const alpha of [1, 10, 100]) {
    const cells = (["device", "sample"] as const).map((weighting) =>
      mean(
        seeds.map((seed) => {
          const drawn = paperData("var", 1, 1000, seed);
          const labelled = { points: drawn.datasets[0], labels: drawn.labels[0] };
          const { datasets } = splitBySizes(labelled, sizes, seed);
          const network = erdosRenyi(10, 0.7, randomStream(seed, "graph"));
          const [reference] = methods.pooled(datasets, network, { k: 3, alpha, seed }).centroids;
          const init = datasets.map(() => reference);
          const options = {
            k: 3,
            alpha,
            seed,
            init,
            weighting,
            passes: 1,
            relaxation: 1.9,
            rounds: 3000,
            candidates: false,
          };
          return globalCentroidDeviation(fit(datasets, network, options).centroids, reference);
        }),
      ),
    );
    rows.push([String(alpha), ...cells.map(round)]);
  }
  print("6. unequal sizes (20 to 220 points): mean GCD at the fixed point, var, p = 0.7, 10 runs", rows);
}

/** 7. How often G(10, 0.4) is not connected. */
function isolatedDevices(): void {
  let [isolated, apart] = [0, 0];
  for (let seed = 0; seed < 10_000; seed++) {
    const network = erdosRenyi(10, 0.4, randomStream(seed, "graph"));
    if (network.neighbours.some((row) => row.length === 0)) isolated++;
    if (connectedComponents(network).some((component) => component > 0)) apart++;
  }
  print("7. connectedness of G(10, 0.4), 10,000 draws", [
    ["with an isolated device", "not connected"],
    [`${(isolated / 100).toFixed(1)} %`, `${(apart / 100).toFixed(1)} %`],
  ]);
}

/** Unequal sizes, starts anywhere, alpha over three decades. */
function randomProblem(seed: number, family?: (size: number) => Graph) {
  const random = randomStream(seed, "differences");
  const integer = (low: number, high: number) => low + Math.floor(random() * (high - low + 1));
  const [size, k, cols] = [integer(2, 8), integer(1, 5), integer(1, 4)];
  const datasets = Array.from({ length: size }, () => drawPoints(random, integer(1, 40), cols));
  const network = family?.(size) ?? erdosRenyi(size, 0.6, random);
  const init = datasets.map(() => drawPoints(random, k, cols));
  return { datasets, network, options: { k, alpha: 10 ** (3 * random() - 2), init } };
}

function drawPoints(random: Random, rows: number, cols: number): Matrix {
  const normal = normalStream(random);
  return { data: Float64Array.from({ length: rows * cols }, () => 5 * normal()), rows, cols };
}
