// npm run lab -- private [PART...]: what differential privacy costs in 2 to 784 columns, ten devices under masks with one that
// may collude, against FastLloyd and DPLloyd; and what one row can move in transcripts of the shipped rounds.

import { kmeans, type Matrix, normalStream, predict, type Random, randomStream, stack } from "@fedkm/core";
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
  type WeighedRows,
} from "@fedkm/core/release";
import { isHeld, middleOf, print, progress } from "../measure.ts";
import { sectionOf } from "../parts.ts";
import { mnist } from "./mnist.ts";
import { dpLloyd, fastLloyd } from "./peers.ts";
import { blobs, bundledSets, drawnSets, type PrivateSet, publishedSets } from "./sets.ts";

const DELTA = 1e-5;
const DEVICES = 10;
const COLLUDERS = 1;
/** Each device adds as much noise as is needed if the colluders add none. */
const EXCESS = DEVICES / (DEVICES - COLLUDERS);
/** Shares of a budget add up to 1 within this. */
const ROUNDING = 1e-12;
/** Of a ratio as it is printed. */
const LAST_DIGIT = 0.0005;

/** `width`: by how much the bounds are wider than they need be. */
interface ReleaseTerms {
  readonly epsilon: number;
  readonly seed: number;
  readonly delta?: number;
  readonly width?: number;
}

function rulesFor(rows: Matrix, k: number, { epsilon, seed, delta = DELTA, width = 1 }: ReleaseTerms): ReleaseRules {
  const high = new Float64Array(rows.cols).fill(width);
  return { k, low: high.map((value) => -value), high, mu: muOf(epsilon, delta), seed };
}

/** What the shares of all devices add up to: discrete noise in so many steps is discrete noise again, to 100 digits. */
function sharedNoise(variance: number, random: Random): () => number {
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => Math.floor(256 * random()));
  const draw = discreteGaussian(varianceAtLeast(variance * EXCESS), bytes);
  return () => Number(draw());
}

/** Rows need not be split: sums over devices are the same whole numbers. */
function privateCentroids(rows: Matrix, k: number, terms: ReleaseTerms): Matrix {
  const rules = rulesFor(rows, k, terms);
  const random = randomStream(terms.seed, "noise");
  let known = nothingKnown;
  for (const round of releaseRounds(rules)) {
    const totals = round.integers(known, rows);
    let at = 0;
    for (const part of round.parts(known)) {
      const noise = sharedNoise(partDeviation(rules, part) ** 2, random);
      for (let i = 0; i < part.length; i++) totals[at++] += noise();
    }
    known = round.learn(known, totals, EXCESS);
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

const ratiosOf = ({ rows }: PrivateSet, best: number, seeds: number, find: (seed: number) => Matrix) =>
  Array.from({ length: seeds }, (_, seed) => costOf(rows, find(seed)) / best);

interface Medians {
  readonly epsilon: number;
  readonly ours: number;
  readonly worst: number;
  readonly fast: number;
}

/** Every set at every epsilon of its bars: one line of the table each. */
function utilityOf(set: PrivateSet, seeds: number, isShort: boolean) {
  const { name, rows, k, bars } = set;
  progress(name);
  const best = kmeans(rows, { k }).inertia;
  const half = new Float64Array(rows.cols).fill(1);
  const [lines, missed, medians]: [string[][], string[], Medians[]] = [[], [], []];
  for (const [epsilon, most = Number.POSITIVE_INFINITY, worst = Number.POSITIVE_INFINITY] of bars) {
    if (isShort && epsilon !== 1) continue;
    const problem = { rows, k, epsilon, delta: DELTA, half };
    const ours = ratiosOf(set, best, seeds, (seed) => privateCentroids(rows, k, { epsilon, seed }));
    const fast = middleOf(ratiosOf(set, best, seeds, (seed) => fastLloyd(problem, randomStream(seed, "fast"))));
    const lloyd = middleOf(ratiosOf(set, best, seeds, (seed) => dpLloyd(problem, randomStream(seed, "lloyd"))));
    const [own, largest] = [middleOf(ours), Math.max(...ours)];
    const bar = Number.isFinite(most) ? `${most} (${worst})` : "";
    lines.push([name, String(epsilon), `${digits(own)} (${digits(largest)})`, bar, digits(fast), digits(lloyd)]);
    if (own > most + LAST_DIGIT || largest > worst + LAST_DIGIT) missed.push(`${name} at ${epsilon}`);
    const index = (k * Math.sqrt(rows.cols * EXCESS)) / (muOf(epsilon, DELTA) * rows.rows);
    if (index <= 0.1 && own > fast + LAST_DIGIT) missed.push(`FastLloyd on ${name} at ${epsilon}`);
    medians.push({ epsilon, ours: own, worst: largest, fast });
  }
  return { lines, missed, medians };
}

/** Bars of the geometric means over the sets that numpy draws or scikit-learn brings: of medians, and of worst releases. */
const MEANS = new Map([
  [0.5, [1.32, 1.6]],
  [1, [1.16, 1.3]],
  [5, [1.03, 1.07]],
]);
const MEANS_HEAD = ["epsilon", "sets", "ours (worst)", "FastLloyd", "ratio"];

/** What this run has measured so far, of sets of each kind: the means over all kinds come last. */
const measured = new Map<SetKind, readonly Medians[]>();
type SetKind = keyof typeof setsOf;
const setsOf = { drawn: drawnSets, bundled: bundledSets, published: publishedSets };

/** All sets of a kind, as a table. */
const utility = (kind: SetKind) => async (isShort: boolean) => {
  const seeds = isShort ? 3 : 10;
  const table = [["set", "epsilon", "ours (worst)", "bars", "FastLloyd", "DPLloyd"]];
  const missed: string[] = [];
  const medians = setsOf[kind]().flatMap((set) => {
    const found = utilityOf(set, seeds, isShort);
    table.push(...found.lines);
    missed.push(...found.missed);
    return found.medians;
  });
  progress("");
  measured.set(kind, medians);
  print(
    `Cost over that of k-means without noise, ${kind} sets, median (worst) of ${seeds} releases, delta ${DELTA}`,
    table,
  );
  print("Geometric means of the medians", [MEANS_HEAD, ...meansOf(medians).map(({ line }) => line)]);
  return isHeld("bars of every set, and never above FastLloyd where the index is at most 0.1", missed);
};

/** Of each epsilon: the means of ours and of FastLloyd. */
function meansOf(medians: readonly Medians[]) {
  return [...MEANS].flatMap(([epsilon, [most, mostOfWorst]]) => {
    const some = medians.filter((one) => one.epsilon === epsilon);
    if (some.length === 0) return [];
    const of = (what: "ours" | "worst" | "fast") => geometricMean(some.map((one) => one[what]));
    const [own, worst, theirs] = [of("ours"), of("worst"), of("fast")];
    const line = [epsilon, some.length, `${digits(own)} (${digits(worst)})`, digits(theirs), digits(own / theirs)];
    return [{ epsilon, isGood: own <= most && worst <= mostOfWorst, ratio: own / theirs, line: line.map(String) }];
  });
}

/** Over the sets of all kinds, in a run that has measured them. */
async function means(): Promise<boolean> {
  const kinds = Object.keys(setsOf) as SetKind[];
  const missing = kinds.filter((kind) => !measured.has(kind));
  if (missing.length > 0) {
    console.log(`  means are judged in a run of ${kinds.join(", ")} and means`);
    return true;
  }
  const of = (...some: SetKind[]) => meansOf(some.flatMap((kind) => measured.get(kind) ?? []));
  const [first, all] = [of("drawn", "bundled"), of(...kinds)];
  print("Geometric means of the medians: without make_blobs, and of all sets", [
    MEANS_HEAD,
    ...[...first, ...all].map(({ line }) => line),
  ]);
  const missed = [
    ...first.filter(({ isGood }) => !isGood).map(({ epsilon }) => `mean at ${epsilon}`),
    ...all.filter(({ ratio }) => ratio > 0.75).map(({ epsilon }) => `25 % below FastLloyd at ${epsilon}`),
  ];
  return isHeld("means without make_blobs, and 25 % below FastLloyd over all sets", missed);
}

/** Of the sets that papers draw: the largest area under the mean loss of a row, and the smallest that was published. */
const AREAS = new Map([
  ["make_blobs, 64 columns, k 16", [0.09, 0.1189]],
  ["make_blobs, 16 columns, k 64", [0.088, 0.1183]],
  ["make_blobs, 128 columns, k 16", [0.115, 0.1562]],
]);
const AREA_EPSILONS = [0.25, 0.5, 1, 2, 4];

/** Against published figures, as these are made: delta n^-1.1, and epsilon from 0.25 to 4. */
async function areas(isShort: boolean): Promise<boolean> {
  const seeds = isShort ? 1 : 6;
  const table = [["set", "without noise", "ours", "bar", "best published"]];
  const missed: string[] = [];
  for (const { name, rows, k } of publishedSets()) {
    const [most, published] = AREAS.get(name) ?? [];
    if (most === undefined || published === undefined) continue;
    progress(name);
    const losses = AREA_EPSILONS.map((epsilon) => {
      const found = Array.from({ length: seeds }, (_, seed) =>
        costOf(rows, privateCentroids(rows, k, { epsilon, seed, delta: rows.rows ** -1.1 })),
      );
      return found.reduce((sum, cost) => sum + cost, 0) / seeds / rows.rows;
    });
    const area = losses.reduce((sum, loss, i) => {
      return i === 0 ? 0 : sum + ((loss + losses[i - 1]) / 2) * (AREA_EPSILONS[i] - AREA_EPSILONS[i - 1]);
    }, 0);
    const least = (kmeans(rows, { k }).inertia / rows.rows) * (4 - 0.25);
    table.push([name, ...[least, area, most, published].map((value) => value.toFixed(4))]);
    if (area > most) missed.push(name);
  }
  print(`Area under the mean loss of a row over epsilon 0.25 to 4, ${seeds} seeds`, table);
  return isHeld("areas", missed);
}

/** Bounds ten times as wide as the rows lie: the bar of the median at epsilon 1. */
const WIDE = new Map([
  ["2 columns, k 4", 1.005],
  ["50 columns, k 16, skewed", 1.02],
]);

async function bounds(isShort: boolean): Promise<boolean> {
  const table = [["set", "bounds as wide", "10 times as wide", "bar"]];
  const missed: string[] = [];
  for (const set of drawnSets()) {
    const most = WIDE.get(set.name);
    if (most === undefined) continue;
    progress(set.name);
    const best = kmeans(set.rows, { k: set.k }).inertia;
    const found = [1, 10].map((width) =>
      middleOf(
        ratiosOf(set, best, isShort ? 3 : 10, (seed) => {
          return privateCentroids(set.rows, set.k, { epsilon: 1, seed, width });
        }),
      ),
    );
    table.push([set.name, ...found.map(digits), String(most)]);
    if (found[1] > most) missed.push(set.name);
  }
  print("Bounds that are too wide, epsilon 1: cost over that of k-means without noise, median", table);
  return isHeld("bounds ten times too wide", missed);
}

/** What comes or goes as a whole: one row in a corner; a person with several rows there; a device with as many as all others. */
const canaries = { row: 1, person: 8, device: 300 };

/**
 * A canary in a corner, with it and without: the exact likelihood ratio of each transcript, from replaying the rounds in both
 * worlds. What it moves in a part is at most the part's steps, so what all parts spend is at most the budget.
 */
async function canary(isShort: boolean): Promise<boolean> {
  const runs = isShort ? 200 : 2_000;
  const table = [
    ["who", "columns", "epsilon", "transcripts", "largest move / allowed", "most spent / budget", "shown epsilon"],
  ];
  const missed: string[] = [];
  for (const [who, rows] of Object.entries(canaries)) {
    for (const cols of [2, 12]) {
      for (const epsilon of [1, 5]) {
        progress(`canary ${who} ${cols} ${epsilon}`);
        const { move, spent, shown } = auditRounds(cols, epsilon, runs, rows);
        const figures = [move.toFixed(6), spent.toFixed(6), digits(shown)];
        table.push([who, String(cols), String(epsilon), String(runs), ...figures]);
        if (move > 1 || spent > 1 + ROUNDING || shown > epsilon) missed.push(`${who}, ${cols} columns at ${epsilon}`);
      }
    }
  }
  progress("");
  print("A row, a person of 8 rows or a device of 300 in a corner, known to whoever knows all other rows", table);
  return isHeld("move and spending at most what is paid for, shown epsilon below the stated", missed);
}

function auditRounds(cols: number, epsilon: number, runs: number, rows: number) {
  const without = blobs(cols, 3, 0.1, 300);
  const corner = Float64Array.from({ length: rows * cols }, (_, i) => ((i % cols) % 2 === 0 ? 1 : -1));
  const both = stack([without, { data: corner, rows, cols }]);
  const withCanary: WeighedRows = {
    ...both,
    weights: Float64Array.from({ length: both.rows }, (_, r) => (r < without.rows ? 1 : 1 / rows)),
  };
  let [move, spent] = [0, 0];
  const ratios: Record<"with" | "without", number[]> = { with: [], without: [] };
  for (let run = 0; run < runs; run++) {
    const rules = rulesFor(without, 3, { epsilon, seed: run });
    const isWith = run % 2 === 0;
    const normal = normalStream(randomStream(run, "canary"));
    let known: Knowledge = nothingKnown;
    let [logRatio, cost] = [0, 0];
    for (const round of releaseRounds(rules)) {
      const [a, b] = [round.integers(known, withCanary), round.integers(known, without)];
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

export const run = sectionOf({
  drawn: utility("drawn"),
  bundled: utility("bundled"),
  published: utility("published"),
  means,
  areas,
  bounds,
  canary,
  mnist,
});
