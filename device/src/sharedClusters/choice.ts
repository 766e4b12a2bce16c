// How many clusters there are, from masked sums alone: cells of all rows with their products, then the rows in the tubes
// between clusters, for all k at once. Everything here is a function of its arguments, with the same bits on every device.

import {
  areRowsEnough,
  type ChoiceCells,
  type ChoiceUnits,
  choiceIntegerCount,
  choiceIntegers,
  choiceOfSums,
  choicePlan,
  curveOfCells,
  HALVES_SEED,
  halfOfRows,
  type KScore,
  type PlannedK,
  shapeLength,
} from "@fedkm/core/choose";
import type { ChosenStatus } from "../loop/status.ts";
import { type Content, stages } from "./generation.ts";
import { fractionBits } from "./lloyd.ts";
import { codebookCells } from "./seed.ts";
import { nearest, type SumsShape, sumsBy, type Weighted } from "./shape.ts";

/** In this order on the wire. */
const reasons = ["most", "fewer", "coarse", "none", "elbow", "silhouette"] as const;

type ChoiceCandidate = Pick<ChosenStatus["candidates"][number], "k" | "reason">;

/** What is shown to owners. */
interface Choice {
  readonly rows: number;
  /** At most three, the one that the criterion chooses first; after a vote the one that most owners want. */
  readonly candidates: readonly ChoiceCandidate[];
  readonly curve: readonly KScore[];
}

type Head = Pick<Content, "stage" | "steps" | "rows">;

/** Few rows judge clusters in halves, each those of the other. Groups of guarded rows are not judged. */
const partsIn = ({ d, isGuarded }: SumsShape, rows: number) => (isGuarded || areRowsEnough(rows, d) ? 1 : 2);
const productsIn = (d: number) => (shapeLength(d) > d ? (d * (d + 1)) / 2 : d);

/** How many numbers a base has: the centres of cells, then what cells hold, then the choice, whose first number says it. */
export function choiceNumbers(shape: SumsShape, { stage, steps, rows }: Head, [length]: Float64Array): number {
  const { d } = shape;
  const cells = codebookCells(shape, rows);
  if (stage !== stages.choose) return Number.isInteger(length) && length >= 1 && length <= MOST_NUMBERS ? length : 0;
  return steps === 0 ? cells * d : partsIn(shape, rows) * cells * (d + 1) + shapeLength(d);
}
const MOST_NUMBERS = 1 << 10;

/** How many integers each device adds. */
export function choiceIntegersIn(shape: SumsShape, content: Head & Pick<Content, "numbers">): number {
  const { d } = shape;
  if (content.stage === stages.chosen) return readChoice(content.numbers).candidates.length;
  if (content.stage !== stages.choose) return 0;
  if (content.steps > 0) return choiceIntegerCount(planOf(shape, content));
  return partsIn(shape, content.rows) * codebookCells(shape, content.rows) * (d + 1) + productsIn(d);
}

/** Rows of each cell and part; where tubes are counted, of each cluster of the largest k, which has all rows. */
export function choiceCounts(shape: SumsShape, content: Head, integers: Float64Array): Float64Array {
  if (content.stage !== stages.choose || content.steps > 0) return integers.subarray(0, 0);
  return integers.subarray(0, partsIn(shape, content.rows) * codebookCells(shape, content.rows));
}

/** What a device with these rows adds, before it is masked. How it votes is its owner's to say. */
export function ownChoiceIntegers(shape: SumsShape, content: Content, own: Weighted): Float64Array {
  if (content.steps > 0) return choiceIntegers(planOf(shape, content), own.points, unitsOf(shape, content.rows));
  const { d, ranges } = shape;
  const { numbers, rows } = content;
  const cells = codebookCells(shape, rows);
  const unit = 2 ** fractionBits(rows);
  const many = partsIn(shape, rows);
  const parts = Array.from({ length: many }, (_, side) =>
    many === 1 ? own : { points: halfOfRows(own.points, side, HALVES_SEED), weights: undefined },
  );
  const sums = parts.map((part) => sumsBy(part, cells, (point) => nearest(point, numbers)));
  const off = sums.flatMap(({ counts, sums: all }) =>
    Array.from(all, (sum, i) => Math.round(((sum - counts[Math.floor(i / d)] * numbers[i]) / ranges[i % d]) * unit)),
  );
  return Float64Array.from([
    ...sums.flatMap(({ counts }) => Array.from(counts)),
    ...off,
    ...productSums(shape, numbers, own).map((sum) => Math.round(sum * unit)),
  ]);
}

/** Of how far rows are from the centre of their cell, in shares of the ranges, for columns i <= j. */
function productSums({ d, ranges }: SumsShape, centres: Float64Array, { points, weights }: Weighted): Float64Array {
  const sums = new Float64Array(productsIn(d));
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
  return sums;
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
  const cells = codebookCells(shape, content.rows);
  const isInside = integers.subarray(counts.length, counts.length * (d + 1)).every((off, i) => {
    const count = counts[Math.floor(i / d)];
    const from = content.numbers[i % (cells * d)] / ranges[i % d];
    return Math.abs(off / unit + count * from) <= count * (0.5 + 1e-9) + devices / unit;
  });
  return isInside ? undefined : "rows outside of the study's bounds";
}

/** Losses are shares of the largest that rows may have, silhouettes are at most 1. */
function unitsOf({ ranges }: SumsShape, rows: number): ChoiceUnits {
  const unit = 2 ** fractionBits(rows);
  return { loss: unit / ranges.reduce((sum, range) => sum + range ** 2, 0), silhouette: unit };
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
  const parts = Array.from({ length: partsIn(shape, rows) }, (_, p) => {
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
    const { candidates, curve } = choiceOfSums(planOf(shape, content), totals, unitsOf(shape, rows));
    const { from, to } = shape.choosing ?? { from: 1, to: 1 };
    // A fit has as many clusters as find those that are apart, within what the owners have agreed on.
    const fitted = candidates.map(({ fitted: k, reason }) => ({ k: Math.min(to, Math.max(from, k)), reason }));
    const distinct = fitted.filter(({ k }, i) => fitted.findIndex((other) => other.k === k) === i);
    return { ...content, stage: stages.chosen, steps: 0, numbers: packChoice({ rows, candidates: distinct, curve }) };
  }
  const known = packCells(shape, content, totals);
  if (!shape.isGuarded) return { ...content, steps: 1, numbers: known };
  if (choiceCounts(shape, content, totals).every((count) => count === 0)) return "settled";
  return { ...content, stage: stages.chosen, numbers: packChoice(choiceOfGroups(shape, known, rows)) };
}

/** The numbers of cells from the sums over them. */
function packCells(shape: SumsShape, { numbers, rows }: Content, totals: Float64Array): Float64Array {
  const { d, ranges } = shape;
  const cells = codebookCells(shape, rows);
  const many = partsIn(shape, rows);
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
    const means = numbers.map((centre, i) => {
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
  const more: ChoiceCandidate[] = best === bend ? [] : [{ k: Math.max(from, best), reason: "silhouette" }];
  return { rows, candidates: [{ k: bend, reason: "elbow" }, ...more], curve };
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
    ...candidates.flatMap(({ k, reason }) => [k, reasons.indexOf(reason)]),
    ...curve.flatMap(({ k, inertia, silhouette: own, clusters, apart }) => [k, inertia, own, clusters, apart]),
  ];
  return Float64Array.from([parts.length + 1, ...parts]);
}

export function readChoice(numbers: Float64Array): Choice {
  let at = 1;
  const next = () => numbers[at++] ?? 0;
  const [rows, many, scores] = [next(), next(), next()];
  const list = <T>(length: number, item: () => T) => Array.from({ length: Math.min(length, numbers.length) }, item);
  const candidates = list(many, () => ({ k: next(), reason: reasons[next()] ?? "none" }));
  const curve = list(scores, () => {
    const [k, inertia, own, clusters, apart] = [next(), next(), next(), next(), next()];
    return { k, inertia, silhouette: own, clusters, apart };
  });
  return { rows, candidates, curve };
}
