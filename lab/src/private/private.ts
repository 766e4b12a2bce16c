// npm run lab -- private: what differential privacy costs in 2 to 64 columns, ten devices under masks with one that may
// collude, against FastLloyd and DPLloyd; and what one row can move in transcripts of the shipped rounds.

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { kmeans, type Matrix, normalStream, predict, randomStream, stack } from "@fedkm/core";
import { discreteGaussian, varianceAtLeast } from "@fedkm/core/privacy";
import {
  epsilonOfMu,
  type Knowledge,
  muOf,
  nothingKnown,
  partDeviation,
  type ReleaseRules,
  releasedCentroids,
  releaseRounds,
  STEPS,
} from "@fedkm/core/release";
import { isHeld, print, progress } from "../measure.ts";
import { sectionOf } from "../parts.ts";
import { findPython } from "../python.ts";
import { median } from "../quality/problems.ts";
import { dpLloyd, fastLloyd } from "./peers.ts";

const DELTA = 1e-5;
const DEVICES = 10;
const COLLUDERS = 1;
/** Shares of a budget add up to 1 within this. */
const ROUNDING = 1e-12;

interface PrivateSet {
  readonly name: string;
  readonly rows: Matrix;
  readonly k: number;
  /** Epsilon, and the bars of the median and of the worst seed as ratios of the cost without noise. */
  readonly bars: readonly (readonly [epsilon: number, median: number, worst: number])[];
}

/** Clusters in [-1, 1]; skewed ones have sizes 1:2:..:k and columns of unequal widths. */
function blobs(cols: number, k: number, deviation: number, isSkewed: boolean, rows = 20_000): Matrix {
  const random = randomStream(7 * cols + k, "blobs");
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: k * cols }, () => 1.4 * random() - 0.7);
  const deviations = centres.map(() => deviation * (isSkewed ? 0.5 + random() : 1));
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    // The larger root of a uniform number grows with the numbers below it: sizes 1:2:..:k.
    const c = Math.floor(isSkewed ? (Math.sqrt(1 + 4 * k * (k + 1) * random()) - 1) / 2 : k * random());
    for (let i = 0; i < cols; i++) {
      const at = Math.min(c, k - 1) * cols + i;
      data[r * cols + i] = Math.min(1, Math.max(-1, centres[at] + deviations[at] * normal()));
    }
  }
  return { data, rows, cols };
}

const DUMP = `
import json, sys
from sklearn.datasets import load_digits, load_breast_cancer
X = load_digits().data / 8 - 1
B = load_breast_cancer().data
B = 2 * (B - B.min(0)) / (B.max(0) - B.min(0)) - 1
json.dump({"digits": X.tolist(), "breast": B.tolist()}, sys.stdout)`;

/** scikit-learn's own sets, where it is at hand. */
function bundledSets(): PrivateSet[] {
  const { command, modules } = findPython();
  if (!modules.has("sklearn")) return [];
  const { stdout } = spawnSync(command, ["-c", DUMP], { encoding: "utf8", maxBuffer: 2 ** 28 });
  const { digits, breast } = JSON.parse(stdout) as Record<string, number[][]>;
  const matrixOf = (rows: number[][]) => ({
    data: Float64Array.from(rows.flat()),
    rows: rows.length,
    cols: rows[0].length,
  });
  return [
    {
      name: "digits",
      rows: matrixOf(digits),
      k: 10,
      bars: [
        [0.5, 2, 2.2],
        [1, 1.27, 1.35],
        [5, 1.03, 1.05],
      ],
    },
    {
      name: "breast",
      rows: matrixOf(breast),
      k: 2,
      bars: [
        [0.5, 1.6, 2.2],
        [1, 1.06, 1.15],
        [5, 1.03, 1.05],
      ],
    },
  ];
}

const easy = [
  [0.5, 1.005, 1.01],
  [1, 1.005, 1.01],
  [5, 1.005, 1.01],
] as const;
const wide = (median: number, worst: number) =>
  [
    [0.1, median, worst],
    [0.5, 1.04, 1.08],
    [1, 1.02, 1.05],
    [5, 1.02, 1.05],
  ] as const;
const plain = [
  [0.5, 1.1, 1.2],
  [1, 1.05, 1.1],
  [5, 1.03, 1.06],
] as const;

const madeSets = (): PrivateSet[] => [
  { name: "2 columns, k 4", rows: blobs(2, 4, 0.1, false), k: 4, bars: easy },
  { name: "2 columns, k 16, skewed", rows: blobs(2, 16, 0.06, true), k: 16, bars: plain },
  { name: "8 columns, k 8", rows: blobs(8, 8, 0.15, false), k: 8, bars: easy },
  { name: "8 columns, k 16, skewed", rows: blobs(8, 16, 0.2, true), k: 16, bars: plain },
  { name: "16 columns, k 4", rows: blobs(16, 4, 0.2, false), k: 4, bars: easy },
  { name: "16 columns, k 16, skewed", rows: blobs(16, 16, 0.25, true), k: 16, bars: plain },
  { name: "50 columns, k 2", rows: blobs(50, 2, 0.3, false), k: 2, bars: easy },
  { name: "50 columns, k 16", rows: blobs(50, 16, 0.15, false), k: 16, bars: wide(1.95, 2.4) },
  { name: "50 columns, k 16, skewed", rows: blobs(50, 16, 0.35, true), k: 16, bars: wide(1.32, 1.4) },
  { name: "50 columns, k 8", rows: blobs(50, 8, 0.5, false), k: 8, bars: wide(1.08, 1.2) },
];

function rulesFor(rows: Matrix, k: number, epsilon: number, seed: number): ReleaseRules {
  const high = new Float64Array(rows.cols).fill(1);
  return { k, low: high.map((value) => -value), high, mu: muOf(epsilon, DELTA), seed };
}

/** What all devices add to a part as noise, whole numbers that nobody can guess. */
function sharedNoise(variance: number): () => number {
  const draw = discreteGaussian(varianceAtLeast(variance / (DEVICES - COLLUDERS)), randomBytes);
  return () => {
    let sum = 0;
    for (let device = 0; device < DEVICES; device++) sum += Number(draw());
    return sum;
  };
}

/** Rows need not be split: sums over devices are the same whole numbers. */
function privateCentroids(rows: Matrix, k: number, epsilon: number, seed: number): Matrix {
  const rules = rulesFor(rows, k, epsilon, seed);
  let known = nothingKnown;
  for (const round of releaseRounds(rules)) {
    const totals = round.integers(known, rows);
    let at = 0;
    for (const part of round.parts(known)) {
      const noise = sharedNoise(partDeviation(rules, part) ** 2);
      for (let i = 0; i < part.length; i++) totals[at++] += noise();
    }
    known = round.learn(known, totals, DEVICES / (DEVICES - COLLUDERS));
  }
  return releasedCentroids(rules, known);
}

function costOf(rows: Matrix, centroids: Matrix): number {
  const labels = predict(centroids, rows);
  let sum = 0;
  for (let i = 0; i < rows.data.length; i++) {
    sum += (rows.data[i] - centroids.data[labels[Math.floor(i / rows.cols)] * rows.cols + (i % rows.cols)]) ** 2;
  }
  return sum;
}

const digits = (value: number) => value.toFixed(3);
const geometricMean = (values: readonly number[]) =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

async function utility(isShort: boolean): Promise<boolean> {
  const seeds = isShort ? 3 : 10;
  const sets = [...madeSets(), ...bundledSets()];
  const table = [["set", "epsilon", "ours (worst)", "bars", "FastLloyd", "DPLloyd"]];
  const missed: string[] = [];
  const medians = new Map<number, { ours: number[]; fast: number[] }>();
  for (const { name, rows, k, bars } of sets) {
    progress(name);
    const best = kmeans(rows, { k }).inertia;
    const half = new Float64Array(rows.cols).fill(1);
    for (const [epsilon, most, worst] of bars) {
      if (isShort && epsilon !== 1) continue;
      const problem = { rows, k, epsilon, delta: DELTA, half };
      const ratios = (find: (seed: number) => Matrix) =>
        Array.from({ length: seeds }, (_, seed) => costOf(rows, find(seed)) / best);
      const ours = ratios((seed) => privateCentroids(rows, k, epsilon, seed));
      const fast = ratios((seed) => fastLloyd(problem, randomStream(seed, "fast")));
      const lloyd = ratios((seed) => dpLloyd(problem, randomStream(seed, "lloyd")));
      const largest = Math.max(...ours);
      const bar = `${most} (${worst})`;
      const found = `${digits(median(ours))} (${digits(largest)})`;
      table.push([name, String(epsilon), found, bar, digits(median(fast)), digits(median(lloyd))]);
      if (median(ours) > most || largest > worst) missed.push(`${name} at ${epsilon}`);
      const all = medians.get(epsilon) ?? { ours: [], fast: [] };
      all.ours.push(median(ours));
      all.fast.push(median(fast));
      medians.set(epsilon, all);
    }
  }
  print(`Cost over that of k-means without noise, median (worst) of ${seeds} releases, delta ${DELTA}`, table);
  const means = Array.from(medians, ([epsilon, { ours, fast }]) => {
    const [own, theirs] = [geometricMean(ours), geometricMean(fast)];
    if (epsilon >= 0.5 && own > 0.75 * theirs) missed.push(`25 % below FastLloyd at ${epsilon}`);
    return [String(epsilon), String(ours.length), digits(own), digits(theirs), digits(own / theirs)];
  });
  print("Geometric means of the medians", [["epsilon", "sets", "ours", "FastLloyd", "ratio"], ...means]);
  return isHeld("bars of every set, and 25 % below FastLloyd from epsilon 0.5 on", missed);
}

/**
 * One row in a corner, with it and without: the exact likelihood ratio of each transcript, from replaying the rounds in both
 * worlds. What a row moves in a part is at most the part's steps, so what all parts spend is at most the budget.
 */
async function canary(isShort: boolean): Promise<boolean> {
  const runs = isShort ? 200 : 2_000;
  const table = [
    ["columns", "epsilon", "transcripts", "largest move / allowed", "most spent / budget", "shown epsilon"],
  ];
  const missed: string[] = [];
  for (const cols of [2, 12]) {
    for (const epsilon of [1, 5]) {
      progress(`canary ${cols} ${epsilon}`);
      const { move, spent, shown } = auditRounds(cols, epsilon, runs);
      table.push([String(cols), String(epsilon), String(runs), move.toFixed(6), spent.toFixed(6), digits(shown)]);
      if (move > 1 || spent > 1 + ROUNDING || shown > epsilon) missed.push(`${cols} columns at ${epsilon}`);
    }
  }
  print("A row in a corner, known to whoever knows all other rows", table);
  return isHeld("move and spending at most what is paid for, shown epsilon below the stated", missed);
}

function auditRounds(cols: number, epsilon: number, runs: number) {
  const without = blobs(cols, 3, 0.1, false, 300);
  const corner = Float64Array.from({ length: cols }, (_, i) => (i % 2 === 0 ? 1 : -1));
  const withRow = stack([without, { data: corner, rows: 1, cols }]);
  let [move, spent] = [0, 0];
  const ratios: Record<"with" | "without", number[]> = { with: [], without: [] };
  for (let run = 0; run < runs; run++) {
    const rules = rulesFor(without, 3, epsilon, run);
    const isWith = run % 2 === 0;
    const normal = normalStream(randomStream(run, "canary"));
    let known: Knowledge = nothingKnown;
    let [logRatio, cost] = [0, 0];
    for (const round of releaseRounds(rules)) {
      const [a, b] = [round.integers(known, withRow), round.integers(known, without)];
      const totals = (isWith ? a : b).slice();
      let at = 0;
      for (const part of round.parts(known)) {
        const deviation = partDeviation(rules, part);
        let square = 0;
        for (const end = at + part.length; at < end; at++) {
          totals[at] += Math.round(deviation * normal());
          square += (a[at] - b[at]) ** 2;
          logRatio += ((totals[at] - b[at]) ** 2 - (totals[at] - a[at]) ** 2) / (2 * deviation ** 2);
        }
        const moved = Math.sqrt(square) / STEPS;
        move = Math.max(move, moved);
        // Of the budget, since the deviation is the steps over mu and the root of the share.
        cost += part.share * moved ** 2;
      }
      known = round.learn(known, totals, 1);
    }
    spent = Math.max(spent, cost);
    ratios[isWith ? "with" : "without"].push(logRatio);
  }
  return { move, spent, shown: shownByRatios(ratios.with, ratios.without) };
}

/** mu of two normal populations as far apart as these log ratios, at least with 95 % confidence, as an epsilon. */
function shownByRatios(withRow: readonly number[], without: readonly number[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = (values: readonly number[]) => mean(values.map((value) => (value - mean(values)) ** 2));
  const gap = mean(withRow) - mean(without);
  const error = Math.sqrt(variance(withRow) / withRow.length + variance(without) / without.length);
  // The log ratio of two Gaussians mu apart is normal with means +-mu^2 / 2.
  const least = Math.max(0, gap - 1.645 * error);
  return least === 0 ? 0 : epsilonOfMu(Math.sqrt(least), DELTA);
}

export const run = sectionOf({ utility, canary });
