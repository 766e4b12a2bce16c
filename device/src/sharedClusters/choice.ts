// How many clusters there are, from masked sums alone: cells of all rows with their products, then the rows in the tubes
// between clusters, for all k at once. Everything here is a function of its arguments, with the same bits on every device.

import {
  type ChoiceCells,
  type ChoiceUnits,
  choiceLengths,
  choiceOfSums,
  choicePlan,
  choiceSums,
  curveOfCells,
  type KScore,
  type PlannedK,
  shapeLength,
} from "@fedkm/core/choose";
import type { ChosenStatus } from "../loop/status.ts";
import { type Content, stages } from "./generation.ts";
import { fractionBits } from "./lloyd.ts";
import { allCells, codebookCells, codebookIntegers, codebookParts, partsOf } from "./seed.ts";
import { nearest, type SumsShape, type Weighted } from "./shape.ts";

/** In this order on the wire. */
const reasons = ["most", "fewer", "coarse", "long", "none", "elbow", "silhouette"] as const;

type ChoiceCandidate = Pick<ChosenStatus["candidates"][number], "k" | "found" | "reason">;

/** What is shown to owners. */
interface Choice {
  readonly rows: number;
  /** At most three, the one that the criterion chooses first; after a vote the one that most owners want. */
  readonly candidates: readonly ChoiceCandidate[];
  readonly curve: readonly KScore[];
}

type Head = Pick<Content, "stage" | "steps" | "rows">;

const productsIn = (d: number) => (shapeLength(d) > d ? (d * (d + 1)) / 2 : d);

/** How many numbers a base has: the centres of cells, then what cells hold, then the choice, whose first number says it. */
export function choiceNumbers(shape: SumsShape, { stage, steps, rows }: Head, [length]: Float64Array): number {
  const { d } = shape;
  if (stage !== stages.choose) return Number.isInteger(length) && length >= 1 && length <= MOST_NUMBERS ? length : 0;
  return steps === 0 ? allCells(shape, rows) * d : allCells(shape, rows) * (d + 1) + shapeLength(d);
}
const MOST_NUMBERS = 1 << 10;

/** How many integers each device adds. */
export function choiceIntegersIn(shape: SumsShape, content: Head & Pick<Content, "numbers">): number {
  const { d } = shape;
  if (content.stage === stages.chosen) return readChoice(content.numbers).candidates.length;
  if (content.stage !== stages.choose) return 0;
  if (content.steps === 0) return allCells(shape, content.rows) * (d + 1) + productsIn(d);
  const { figures, counts } = choiceLengths(planOf(shape, content));
  return figures + packedLength(counts, content.rows);
}

/** Rows of each cell and part; where tubes are counted, of each cluster of the largest k, which has all rows. */
export function choiceCounts(shape: SumsShape, content: Head, integers: Float64Array): Float64Array {
  if (content.stage !== stages.choose || content.steps > 0) return integers.subarray(0, 0);
  return integers.subarray(0, allCells(shape, content.rows));
}

/** What a device with these rows adds, before it is masked. How it votes is its owner's to say. */
export function ownChoiceIntegers(shape: SumsShape, content: Content, own: Weighted): Float64Array {
  if (content.steps > 0) {
    const { figures, counts } = choiceSums(planOf(shape, content), own.points, unitsOf(shape, content.rows));
    return Float64Array.from([...figures, ...packCounts(counts, content.rows)]);
  }
  const products = new Float64Array(productsIn(shape.d));
  const length = content.numbers.length / codebookParts(shape, content.rows);
  for (const [p, part] of partsOf(shape, content, own).entries())
    addProducts(shape, content.numbers.subarray(p * length, (p + 1) * length), part, products);
  const unit = 2 ** fractionBits(content.rows);
  const whole = products.map((sum) => Math.round(sum * unit));
  return Float64Array.from([...codebookIntegers(shape, content, own), ...whole]);
}

/** Of how far rows are from the centre of their cell, in shares of the ranges, for columns i <= j. */
function addProducts(
  { d, ranges }: SumsShape,
  centres: Float64Array,
  { points, weights }: Weighted,
  /* OUT */ sums: Float64Array,
): void {
  const away = new Float64Array(d);
  for (let r = 0; r < points.rows; r++) {
    const point = points.data.subarray(r * d, (r + 1) * d);
    const c = nearest(point, centres);
    for (let j = 0; j < d; j++) away[j] = (point[j] - centres[c * d + j]) / ranges[j];
    const weight = weights?.[r] ?? 1;
    let at = 0;
    for (let i = 0; i < d; i++) {
      if (sums.length === d) sums[i] += weight * away[i] ** 2;
      else for (let j = i; j < d; j++) sums[at++] += weight * away[i] * away[j];
    }
  }
}

/** Why no rows of this many devices have such sums; undefined: some may. */
export function choiceFault(
  shape: SumsShape,
  content: Content,
  integers: Float64Array,
  devices: number,
  mostRows: number,
): string | undefined {
  if (content.stage === stages.chosen) {
    const votes = integers.reduce((sum, votes) => sum + votes, 0);
    return votes === devices && integers.every((many) => many >= 0)
      ? undefined
      : "another number of votes than devices";
  }
  if (content.steps > 0) {
    // All but silhouettes, of which an answer has none below 0 either.
    if (integers.some((count) => count < 0)) return "a negative number of rows";
    return undefined;
  }
  const counts = choiceCounts(shape, content, integers);
  if (counts.some((count) => count < 0)) return "a negative number of rows";
  const rows = counts.reduce((sum, count) => sum + count, 0);
  if (rows > mostRows) return `${rows} rows where ${mostRows} are allowed`;
  const { d, ranges } = shape;
  const unit = 2 ** fractionBits(content.rows);
  const isInside = integers.subarray(counts.length, counts.length * (d + 1)).every((off, i) => {
    const count = counts[Math.floor(i / d)];
    const from = content.numbers[i] / ranges[i % d];
    return Math.abs(off / unit + count * from) <= count * (0.5 + 1e-9) + devices / unit;
  });
  return isInside ? undefined : "rows outside of the study's bounds";
}

/** Losses are shares of the largest that rows may have, silhouettes are at most 1. */
function unitsOf({ ranges }: SumsShape, rows: number): ChoiceUnits {
  const unit = 2 ** fractionBits(rows);
  return { loss: unit / ranges.reduce((sum, range) => sum + range ** 2, 0), silhouette: unit };
}

// Counts of rows are small: several of them go into one integer, with room for twice as many rows as there are.

const bitsOf = (rows: number) => Math.ceil(Math.log2(2 * rows + 2));
const countsInOne = (rows: number) => Math.max(1, Math.floor(52 / bitsOf(rows)));
const packedLength = (counts: number, rows: number) => Math.ceil(counts / countsInOne(rows));

function packCounts(counts: Float64Array, rows: number): Float64Array {
  const many = countsInOne(rows);
  const packed = new Float64Array(packedLength(counts.length, rows));
  for (const [i, count] of counts.entries()) packed[Math.floor(i / many)] += count * 2 ** (bitsOf(rows) * (i % many));
  return packed;
}

function unpackCounts(packed: Float64Array, length: number, rows: number): Float64Array {
  const many = countsInOne(rows);
  const size = 2 ** bitsOf(rows);
  return Float64Array.from({ length }, (_, i) => Math.floor(packed[Math.floor(i / many)] / size ** (i % many)) % size);
}

/** Plans by the numbers that they follow from: k-means for every k is worked out once. */
const plans = new WeakMap<Float64Array, readonly PlannedK[]>();

function planOf(shape: SumsShape, { numbers, rows }: Pick<Content, "numbers" | "rows">): readonly PlannedK[] {
  const known = plans.get(numbers);
  if (known !== undefined) return known;
  const plan = choicePlan(cellsIn(shape, numbers, rows), triedKs(shape));
  plans.set(numbers, plan);
  return plan;
}

/** One cluster is always tried: curves begin there. */
function triedKs({ choosing }: SumsShape): number[] {
  const { from, to } = choosing ?? { from: 1, to: 1 };
  const asked = Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return from === 1 ? asked : [1, ...asked];
}

/** What cells hold, as the numbers of a base say it: for each part counts and means, then the products. */
function cellsIn(shape: SumsShape, numbers: Float64Array, rows: number): ChoiceCells {
  const { d } = shape;
  const cells = codebookCells(shape, rows);
  const length = cells * (d + 1);
  const parts = Array.from({ length: codebookParts(shape, rows) }, (_, p) => {
    const own = numbers.subarray(p * length, (p + 1) * length);
    return { counts: own.slice(0, cells), means: { data: own.slice(cells), rows: cells, cols: d } };
  });
  return { parts, within: numbers.slice(parts.length * length) };
}

/** What follows from the sums of all devices; "settled": there are no rows. */
export function afterChoice(
  shape: SumsShape,
  content: Content,
  totals: Float64Array,
  devices: number,
): Content | "settled" {
  const { stage, steps, rows } = content;
  if (stage === stages.chosen) return afterVotes(content, totals, devices);
  if (steps > 0) {
    const plan = planOf(shape, content);
    const lengths = choiceLengths(plan);
    const figures = totals.subarray(0, lengths.figures);
    const counts = unpackCounts(totals.subarray(lengths.figures), lengths.counts, rows);
    const { candidates, curve } = choiceOfSums(plan, { figures, counts }, unitsOf(shape, rows));
    const { from, to } = shape.choosing ?? { from: 1, to: 1 };
    // A fit has as many clusters as find those that are apart, within what the owners have agreed on.
    const inside = (k: number) => Math.min(to, Math.max(from, k));
    const fitted = candidates.map(({ k: found, fitted: k, reason }) => ({ k: inside(k), found, reason }));
    const distinct = fitted.filter(({ k }, i) => fitted.findIndex((other) => other.k === k) === i);
    return { ...content, stage: stages.chosen, steps: 0, numbers: packChoice({ rows, candidates: distinct, curve }) };
  }
  const known = packCells(shape, content, totals);
  if (!shape.isGuarded) return { ...content, steps: 1, numbers: known };
  if (choiceCounts(shape, content, totals).every((count) => count === 0)) return "settled";
  return { ...content, stage: stages.chosen, numbers: packChoice(choiceOfGroups(shape, known, rows)) };
}

function packCells(shape: SumsShape, { numbers, rows }: Content, totals: Float64Array): Float64Array {
  const { d, ranges } = shape;
  const cells = codebookCells(shape, rows);
  const many = codebookParts(shape, rows);
  const unit = 2 ** -fractionBits(rows);
  const counts = totals.subarray(0, many * cells);
  const off = totals.subarray(many * cells, many * cells * (d + 1)).map((sum) => sum * unit);
  const products = totals.subarray(many * cells * (d + 1)).map((sum) => sum * unit);
  const all = Math.max(
    1,
    counts.reduce((sum, count) => sum + count, 0),
  );
  const parts = Array.from({ length: many }, (_, p) => {
    const own = counts.subarray(p * cells, (p + 1) * cells);
    const means = numbers.subarray(p * cells * d, (p + 1) * cells * d).map((centre, i) => {
      const count = own[Math.floor(i / d)];
      return count === 0 ? centre : centre + (ranges[i % d] * off[p * cells * d + i]) / count;
    });
    return [...own, ...means];
  });
  // Less what the means of cells are off their centres.
  const between = (i: number, j: number) =>
    counts.reduce((sum, count, c) => (count === 0 ? sum : sum + (off[c * d + i] * off[c * d + j]) / count), 0);
  const within = new Float64Array(shapeLength(d));
  let at = 0;
  for (let i = 0; i < d; i++) {
    if (within.length === d) within[i] = ((products[i] - between(i, i)) / all) * ranges[i] ** 2;
    else
      for (let j = i; j < d; j++) {
        const mean = ((products[at++] - between(i, j)) / all) * ranges[i] * ranges[j];
        within[i * d + j] = mean;
        within[j * d + i] = mean;
      }
  }
  return Float64Array.from([...parts.flat(), ...within]);
}

/** Of groups no gap can be shown: candidates are where the curve bends and where the silhouette is highest. */
function choiceOfGroups(shape: SumsShape, numbers: Float64Array, rows: number): Choice {
  const { curve, elbow } = curveOfCells(planOf(shape, { numbers, rows }), cellsIn(shape, numbers, rows));
  const { from } = shape.choosing ?? { from: 1 };
  const asked = curve.filter(({ k }) => k >= from);
  const best = asked.reduce((top, score) => (score.silhouette > top.silhouette ? score : top), curve[0]).k;
  const bend = Math.max(from, elbow);
  const more: ChoiceCandidate[] = best === bend ? [] : [{ k: best, found: best, reason: "silhouette" }];
  return { rows, candidates: [{ k: bend, found: bend, reason: "elbow" }, ...more], curve };
}

/** Owners who want different candidates are asked for the one that most want, the earlier among equals. */
function afterVotes(content: Content, votes: Float64Array, devices: number): Content {
  const choice = readChoice(content.numbers);
  const most = votes.indexOf(Math.max(...votes));
  const numbers = packChoice({ ...choice, candidates: [choice.candidates[most]] });
  return {
    ...content,
    stage: votes[most] === devices ? stages.approved : stages.chosen,
    steps: content.steps + 1,
    numbers,
  };
}

function packChoice({ rows, candidates, curve }: Choice): Float64Array {
  const parts = [
    ...[rows, candidates.length, curve.length],
    ...candidates.flatMap(({ k, found, reason }) => [k, found, reasons.indexOf(reason)]),
    ...curve.flatMap(({ k, inertia, silhouette: own, clusters, apart }) => [k, inertia, own, clusters, apart]),
  ];
  return Float64Array.from([parts.length + 1, ...parts]);
}

export function readChoice(numbers: Float64Array): Choice {
  let at = 1;
  const next = () => numbers[at++] ?? 0;
  const [rows, many, scores] = [next(), next(), next()];
  const list = <T>(length: number, item: () => T) => Array.from({ length: Math.min(length, numbers.length) }, item);
  const candidates = list(many, () => ({ k: next(), found: next(), reason: reasons[next()] ?? "none" }));
  const curve = list(scores, () => {
    const [k, inertia, own, clusters, apart] = [next(), next(), next(), next(), next()];
    return { k, inertia, silhouette: own, clusters, apart };
  });
  return { rows, candidates, curve };
}
