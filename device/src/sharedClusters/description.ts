// What the columns of all devices hold together, from masked sums alone: rows, gaps, ranges, exact means and spreads, cells
// of a histogram, and the names of categories' values. Everything here is a function of its arguments, with the same bits
// on every device.

import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Study } from "../study/study.ts";
import type { TableRows } from "../study/tableRows.ts";
import type { Content } from "./generation.ts";

/** The columns that are described, and how few rows of a device no sum may be of. */
export interface DescriptionPlan {
  readonly columns: readonly { readonly name: string; readonly kind: "number" | "category" }[];
  readonly minimum: number;
}

/** Undefined: the study leaves nothing open. */
export function descriptionPlan({ features, privacy, minimum }: Study): DescriptionPlan | undefined {
  const columns = features.flatMap(({ name, open }) => (open === undefined ? [] : [{ name, kind: open }]));
  if (columns.length === 0) return undefined;
  return { columns, minimum: privacy === "open" ? 1 : minimum };
}

export interface NumberDescription {
  readonly kind: "number";
  readonly present: number;
  readonly gaps: number;
  /** Where the outermost bins by sign and octave end that hold rows; never the least or largest value itself. */
  readonly low: number;
  readonly high: number;
  /** The bins of the rows at a half and at 99.5 percent: between them lie the cells. */
  readonly from: number;
  readonly to: number;
  readonly mean: number;
  readonly variance: number;
  /** Rows below the cells, in each of them, and above. */
  readonly cells: readonly number[];
}

export interface CategoryDescription {
  readonly kind: "category";
  readonly gaps: number;
  /** Rows whose value is not told, because too few rows of a device have it. */
  readonly rare: number;
  readonly levels: readonly { readonly name: string; readonly count: number }[];
  /** Buckets of names that are not told apart yet, with their rows. */
  readonly buckets: readonly { readonly path: number; readonly count: number }[];
}

type ColumnDescription = NumberDescription | CategoryDescription;

export interface Description {
  readonly rows: number;
  readonly columns: readonly ColumnDescription[];
}

/** Octaves of absolute values from 2^-40 to 2^40 on both sides of 0, and one bin for what is smaller. */
const LEAST_EXPONENT = -40;
const OCTAVES = 80;
const BINS = 2 * OCTAVES + 1;
const CELLS = 256;
/** Of the rows beyond the cells, on each side. */
const TAIL = 0.005;
const BUCKETS = 1024;
const SUB_BUCKETS = 16;
/** Names of 48 bytes in words of three bytes, so that sums over 2^29 rows stay whole, and two words to check them. */
const NAME_WORDS = 16;
const CHECK_WORDS = 2;
const WORD_BYTES = 3;
/** Rounds in which names are asked; what is left then is not told. */
const LAST_ROUND = 5;
/** A value is a multiple of 2^-50 of the half range, in two parts of 25 bits; squares are summed in parts too. */
const PART = 2 ** 25;
const SUMS = 8;
/** In a base: a frame must hold it. */
const MOST_NUMBERS = 1 << 16;

const exponentView = new DataView(new ArrayBuffer(8));

/** The bin of a value by sign and octave, from the bits of the number: no logarithm rounds. */
function binOf(value: number): number {
  exponentView.setFloat64(0, Math.abs(value));
  const exponent = (exponentView.getUint16(0) >> 4) - 1023;
  if (exponent < LEAST_EXPONENT) return OCTAVES;
  const octave = Math.min(OCTAVES - 1, exponent - LEAST_EXPONENT);
  return value > 0 ? OCTAVES + 1 + octave : OCTAVES - 1 - octave;
}

/** The lower end of a bin. */
function binEdge(bin: number): number {
  if (bin > OCTAVES) return 2 ** (LEAST_EXPONENT + bin - OCTAVES - 1);
  return -(2 ** (LEAST_EXPONENT + OCTAVES - bin));
}

export function firstDescription(): Float64Array {
  return Float64Array.of(1);
}

/** How many numbers a base has, as its first one says; 0: it is none. */
export function descriptionNumbers([length]: Float64Array): number {
  return Number.isInteger(length) && length >= 1 && length <= MOST_NUMBERS ? length : 0;
}

function packed({ rows, columns }: Description): Float64Array {
  const parts = columns.flatMap((column) => {
    if (column.kind === "category") {
      const levels = column.levels.flatMap(({ name, count }) => [count, ...nameWords(name)]);
      const buckets = column.buckets.flatMap(({ path, count }) => [path, count]);
      return [column.gaps, column.rare, column.levels.length, ...levels, column.buckets.length, ...buckets];
    }
    const { present, gaps, low, high, from, to, mean, variance, cells } = column;
    return [present, gaps, low, high, from, to, mean, variance, cells.length, ...cells];
  });
  return Float64Array.from([parts.length + 2, rows, ...parts]);
}

/** What the numbers of a base after the first round say. */
export function readDescription({ columns }: DescriptionPlan, numbers: Float64Array): Description {
  let at = 2;
  const next = () => numbers[at++] ?? 0;
  const list = <T>(length: number, item: () => T) => Array.from({ length: Math.min(length, numbers.length) }, item);
  const read = columns.map(({ kind }): ColumnDescription => {
    if (kind === "category") {
      const [gaps, rare] = [next(), next()];
      const levels = list(next(), () => ({ count: next(), name: nameOf(list(NAME_WORDS, next)) ?? "" }));
      return { kind, gaps, rare, levels, buckets: list(next(), () => ({ path: next(), count: next() })) };
    }
    const [present, gaps, low, high, from, to, mean, variance] = list(8, next);
    return { kind, present, gaps, low, high, from, to, mean, variance, cells: list(next(), next) };
  });
  return { rows: numbers[1] ?? 0, columns: read };
}

/** How many integers each device adds in a round. */
export function descriptionIntegerCount(plan: DescriptionPlan, { steps, numbers }: Pick<Content, "steps" | "numbers">) {
  if (steps === 0) return plan.columns.reduce((sum, { kind }) => sum + (kind === "number" ? BINS + 1 : BUCKETS + 2), 1);
  return readDescription(plan, numbers).columns.reduce((sum, column) => {
    if (column.kind === "number") return sum + (steps === 1 ? CELLS + 2 + SUMS : 0);
    const each = NAME_WORDS + CHECK_WORDS;
    return sum + column.buckets.length * (steps === 1 ? each : SUB_BUCKETS * (each + 1));
  }, 0);
}

/** What a device says of one of its columns, before anything is summed up. */
type LocalColumn =
  | { readonly kind: "number"; readonly values: Float64Array; readonly weights: Float64Array; readonly gaps: number }
  | {
      readonly kind: "category";
      readonly levels: ReadonlyMap<string, number>;
      readonly rare: number;
      readonly gaps: number;
    };

export interface LocalTable {
  readonly rows: number;
  readonly columns: readonly LocalColumn[];
}

/**
 * The columns of a device's rows. With a minimum above 1 each column is cut into groups of as many neighbours, which count
 * at their mean; fewer gaps, or rows of a level, than the minimum are not told. So no cell tells fewer rows apart.
 */
export function localTable({ columns, minimum }: DescriptionPlan, table: TableRows): LocalTable {
  if (table.rows < minimum) return { rows: 0, columns: columns.map(({ kind }) => emptyColumn(kind)) };
  const local = columns.map(({ kind }, c): LocalColumn => {
    const cells = Float64Array.from({ length: table.rows }, (_, r) => table.data[r * table.cols + c]);
    const present = cells.filter((value) => !Number.isNaN(value));
    const missing = cells.length - present.length;
    const gaps = missing < minimum ? 0 : missing;
    if (kind === "number") return { kind, gaps, ...groups(present, minimum) };
    const counts = new Map<string, number>();
    for (const index of present) {
      const word = table.words[c]?.[index] ?? "";
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
    const levels = new Map([...counts].filter(([name, count]) => count >= minimum && isShort(name)));
    const rare = present.length - [...levels.values()].reduce((sum, count) => sum + count, 0);
    return { kind, levels, rare: rare < minimum ? 0 : rare, gaps };
  });
  return { rows: table.rows, columns: local };
}

/** As plain data, which is kept on the device and never sent. */
export type SavedTable = ReturnType<typeof savedTable>;

export function savedTable({ rows, columns }: LocalTable) {
  return {
    rows,
    columns: columns.map((column) =>
      column.kind === "number"
        ? { ...column, values: Array.from(column.values), weights: Array.from(column.weights) }
        : { ...column, levels: [...column.levels] },
    ),
  };
}

export function restoredTable({ rows, columns }: SavedTable): LocalTable {
  return {
    rows,
    columns: columns.map((column) =>
      column.kind === "number"
        ? { ...column, values: Float64Array.from(column.values), weights: Float64Array.from(column.weights) }
        : { ...column, levels: new Map(column.levels) },
    ),
  };
}

function emptyColumn(kind: LocalColumn["kind"]): LocalColumn {
  if (kind === "category") return { kind, levels: new Map(), rare: 0, gaps: 0 };
  return { kind, values: new Float64Array(0), weights: new Float64Array(0), gaps: 0 };
}

/** Of neighbouring values, each of `minimum` to 2 `minimum` - 1; none where there are fewer. */
function groups(values: Float64Array, minimum: number): { values: Float64Array; weights: Float64Array } {
  if (minimum <= 1) return { values, weights: new Float64Array(values.length).fill(1) };
  const sorted = values.slice().sort();
  const many = Math.floor(sorted.length / minimum);
  const sizes = Array.from({ length: many }, (_, g) => (g < many - 1 ? minimum : sorted.length - (many - 1) * minimum));
  const means = sizes.map((size, g) => {
    const group = sorted.subarray(g * minimum, g * minimum + size);
    return group.reduce((sum, value) => sum + value / size, 0);
  });
  return { values: Float64Array.from(means), weights: Float64Array.from(sizes) };
}

/** What a device adds in this round, before it is masked. */
export function descriptionIntegers(
  plan: DescriptionPlan,
  { steps, numbers }: Pick<Content, "steps" | "numbers">,
  own: LocalTable,
): Float64Array {
  const known = steps === 0 ? undefined : readDescription(plan, numbers);
  const parts = own.columns.flatMap((local, c): number[] => {
    const column = known?.columns[c];
    if (local.kind === "number") {
      if (column === undefined) return binIntegers(local);
      return steps === 1 && column.kind === "number"
        ? [...cellCounts(column, local), ...sumIntegers(column, local)]
        : [];
    }
    if (column === undefined) return bucketIntegers(plan.columns[c].name, local);
    return column.kind === "category" ? nameIntegers(plan.columns[c].name, column, local, steps) : [];
  });
  return Float64Array.from(steps === 0 ? [own.rows, ...parts] : parts);
}

type LocalNumbers = Extract<LocalColumn, { kind: "number" }>;
type LocalWords = Extract<LocalColumn, { kind: "category" }>;

function binIntegers({ values, weights, gaps }: LocalNumbers): number[] {
  const counts = new Array<number>(BINS).fill(0);
  for (const [i, value] of values.entries()) counts[binOf(value)] += weights[i];
  return [gaps, ...counts];
}

type CellRange = Pick<NumberDescription, "from" | "to">;

/** Each bin has the same number of cells, of equal width. So cells are finer where values are smaller. */
const cellsInBin = ({ from, to }: CellRange) => Math.floor(CELLS / (to - from + 1));

/** The cell of a value: 0 is below all, then come those of the bins, then what is above. */
function cellOf(range: CellRange, value: number): number {
  const bin = binOf(value);
  if (bin < range.from) return 0;
  if (bin > range.to) return CELLS + 1;
  const many = cellsInBin(range);
  const share = (value - binEdge(bin)) / (binEdge(bin + 1) - binEdge(bin));
  return 1 + (bin - range.from) * many + Math.min(many - 1, Math.floor(share * many));
}

/** Below which value so large a share of the rows lies, to within a cell. */
export function describedQuantile(column: NumberDescription, share: number): number {
  const { from, to, cells, present } = column;
  const many = cellsInBin(column);
  let below = 0;
  for (const [cell, count] of cells.entries()) {
    if (below + count < share * present || count === 0) {
      below += count;
      continue;
    }
    if (cell === 0) return binEdge(from);
    if (cell > (to - from + 1) * many) return binEdge(to + 1);
    const bin = from + Math.floor((cell - 1) / many);
    const width = (binEdge(bin + 1) - binEdge(bin)) / many;
    return binEdge(bin) + (((cell - 1) % many) + (share * present - below) / count) * width;
  }
  return binEdge(to + 1);
}

function cellCounts(column: CellRange, { values, weights }: LocalNumbers): number[] {
  const counts = new Array<number>(CELLS + 2).fill(0);
  for (const [i, value] of values.entries()) counts[cellOf(column, value)] += weights[i];
  return counts;
}

/** Sums of the two parts of each value and of their products, each product again in two parts. */
function sumIntegers({ low, high }: NumberDescription, { values, weights }: LocalNumbers): number[] {
  const [middle, half] = [(low + high) / 2, (high - low) / 2];
  const sums = new Array<number>(SUMS).fill(0);
  for (const [i, value] of values.entries()) {
    const whole = Math.round(((value - middle) / half) * PART * PART);
    const large = Math.floor(whole / PART);
    const small = whole - large * PART;
    const products = [large * large, large * small, small * small];
    const parts = products.flatMap((product) => {
      const upper = Math.floor(product / PART);
      return [upper, product - upper * PART];
    });
    for (const [s, part] of [large, small, ...parts].entries()) sums[s] += weights[i] * part;
  }
  return sums;
}

/** The mean and the variance of values, from whole sums, with one rounding at the end. */
function momentsOf({ low, high }: NumberDescription, present: number, sums: readonly number[]) {
  const [large, small, ...parts] = sums.map(BigInt);
  const unit = BigInt(PART);
  const [squares, mixed, rest] = [0, 2, 4].map((p) => parts[p] * unit + parts[p + 1]);
  const sum = large * unit + small;
  const sumOfSquares = squares * unit * unit + 2n * mixed * unit + rest;
  const [middle, half, n] = [(low + high) / 2, (high - low) / 2, BigInt(present)];
  const mean = middle + half * quotient(sum, n * unit * unit);
  return { mean, variance: half ** 2 * quotient(n * sumOfSquares - sum * sum, n * n * unit ** 4n) };
}

function quotient(numerator: bigint, denominator: bigint): number {
  const BITS = 120n;
  return Number((numerator << BITS) / denominator) * 2 ** -Number(BITS);
}

const utf8 = new TextDecoder();
const isShort = (name: string) => utf8ToBytes(name).length <= NAME_WORDS * WORD_BYTES && !name.includes("\0");

function wordsOf(bytes: Uint8Array, many: number): number[] {
  return Array.from({ length: many }, (_, w) => {
    const at = (i: number) => bytes[w * WORD_BYTES + i] ?? 0;
    return at(0) * 65536 + at(1) * 256 + at(2);
  });
}

const nameWords = (name: string) => wordsOf(utf8ToBytes(name), NAME_WORDS);
const checkWords = (name: string) => wordsOf(sha256(utf8ToBytes(`fedkm check\n${name}`)), CHECK_WORDS);

/** Undefined: no text has these words. */
function nameOf(words: readonly number[]): string | undefined {
  if (!words.every((word) => Number.isInteger(word) && word >= 0 && word < 2 ** 24)) return undefined;
  const bytes = Uint8Array.from(words.flatMap((word) => [word >> 16, (word >> 8) & 255, word & 255]));
  const end = bytes.indexOf(0);
  return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** The bucket of a name in the first round, and of each bucket its part in a later one, from one hash. */
function pathOf(column: string, name: string, round: number): number {
  const hash = sha256(utf8ToBytes(`fedkm level\n${column}\n${name}`));
  let path = hash[0] * 4 + (hash[1] >> 6);
  for (let r = 2; r <= round; r++) path = path * SUB_BUCKETS + (hash[r] & 15);
  return path;
}

function bucketIntegers(column: string, { levels, rare, gaps }: LocalWords): number[] {
  const counts = new Array<number>(BUCKETS).fill(0);
  for (const [name, count] of levels) counts[pathOf(column, name, 1)] += count;
  return [gaps, rare, ...counts];
}

/** For each bucket, or each part of it, the rows and the words of their names, added up. */
function nameIntegers(
  column: string,
  { buckets }: CategoryDescription,
  { levels }: LocalWords,
  round: number,
): number[] {
  const parts = round === 1 ? 1 : SUB_BUCKETS;
  const places = new Map(
    buckets.flatMap(({ path }, b) => Array.from({ length: parts }, (_, p) => [path * parts + p, b * parts + p])),
  );
  const each = NAME_WORDS + CHECK_WORDS + (round === 1 ? 0 : 1);
  const integers = new Array<number>(places.size * each).fill(0);
  for (const [name, count] of levels) {
    const place = places.get(pathOf(column, name, round));
    if (place === undefined) continue;
    const words = [...(round === 1 ? [] : [1]), ...nameWords(name), ...checkWords(name)];
    for (const [w, word] of words.entries()) integers[place * each + w] += count * word;
  }
  return integers;
}

/** The name that all rows of a bucket have; undefined: they have several. */
function commonName(count: number, sums: readonly number[]): string | undefined {
  const words = sums.map((sum) => sum / count);
  const name = nameOf(words.slice(0, NAME_WORDS));
  if (name === undefined) return undefined;
  const expected = [...nameWords(name), ...checkWords(name)];
  return expected.every((word, w) => word === words[w]) ? name : undefined;
}

/** Why no rows have such sums, as a phrase that follows "claims"; undefined: some may. */
export function descriptionFault(
  plan: DescriptionPlan,
  { steps, numbers }: Pick<Content, "steps" | "numbers">,
  integers: Float64Array,
  mostRows: number,
): string | undefined {
  if (steps === 0) {
    if (integers.some((count) => count < 0)) return "a negative number of rows";
    return integers[0] > mostRows ? `${integers[0]} rows where ${mostRows} are allowed` : undefined;
  }
  let at = 0;
  for (const column of readDescription(plan, numbers).columns) {
    if (column.kind === "number" && steps === 1) {
      const counts = integers.subarray(at, at + CELLS + 2);
      if (counts.some((count) => count < 0)) return "a negative number of rows";
      at += CELLS + 2 + SUMS;
    }
    if (column.kind === "category")
      at +=
        column.buckets.length * (steps === 1 ? NAME_WORDS + CHECK_WORDS : SUB_BUCKETS * (NAME_WORDS + CHECK_WORDS + 1));
  }
  return undefined;
}

/** What is known after a round: its numbers, and whether nothing is left to ask. */
export function afterDescription(
  plan: DescriptionPlan,
  { steps, numbers }: Pick<Content, "steps" | "numbers">,
  totals: Float64Array,
): { readonly rows: number; readonly numbers: Float64Array; readonly isDone: boolean } {
  let at = 0;
  const take = (many: number) => {
    at += many;
    return Array.from(totals.subarray(at - many, at));
  };
  const before = steps === 0 ? { rows: take(1)[0], columns: [] } : readDescription(plan, numbers);
  const columns = plan.columns.map(({ kind }, c): ColumnDescription => {
    const known = before.columns[c];
    if (known === undefined)
      return kind === "number" ? binned(take(BINS + 1), plan.minimum) : bucketed(take(BUCKETS + 2));
    if (known.kind === "category") return named(known, steps, take);
    if (steps > 1 || known.present === 0) {
      if (steps === 1) take(CELLS + 2 + SUMS);
      return known;
    }
    const cells = take(CELLS + 2);
    return { ...known, cells, ...momentsOf(known, known.present, take(SUMS)) };
  });
  const isOpen = columns.some((column) => column.kind === "category" && column.buckets.length > 0);
  const isDone = steps > 0 && (!isOpen || steps >= LAST_ROUND);
  const description = { rows: before.rows, columns: isDone ? columns.map(finished) : columns };
  return { rows: before.rows, numbers: packed(description), isDone };
}

/** Names that are still not told apart are not told at all. Levels stand in the order of their names. */
function finished(column: ColumnDescription): ColumnDescription {
  if (column.kind === "number") return column;
  const left = column.buckets.reduce((sum, { count }) => sum + count, 0);
  const levels = [...column.levels].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { ...column, rare: column.rare + left, levels, buckets: [] };
}

function binned([gaps, ...counts]: readonly number[], minimum: number): NumberDescription {
  const present = counts.reduce((sum, count) => sum + count, 0);
  const none = { low: 0, high: 0, from: 0, to: 0, mean: 0, variance: 0, cells: [] };
  if (present === 0) return { kind: "number", present, gaps, ...none };
  const tail = Math.max(minimum, TAIL * present);
  const first = (reaches: number) => {
    let sum = 0;
    return counts.findIndex((count) => {
      sum += count;
      return sum >= Math.min(reaches, present);
    });
  };
  const last = counts.reduce((at, count, bin) => (count > 0 ? bin : at), 0);
  const edges = {
    low: binEdge(first(1)),
    high: binEdge(last + 1),
    from: first(tail),
    to: Math.max(first(tail), first(present - tail + 1)),
  };
  return { kind: "number", present, gaps, ...none, ...edges };
}

function bucketed([gaps, rare, ...counts]: readonly number[]): CategoryDescription {
  const buckets = counts.flatMap((count, path) => (count > 0 ? [{ path, count }] : []));
  return { kind: "category", gaps, rare, levels: [], buckets };
}

function named(known: CategoryDescription, round: number, take: (many: number) => number[]): CategoryDescription {
  const levels = [...known.levels];
  const buckets: { path: number; count: number }[] = [];
  for (const { path, count } of known.buckets) {
    for (let part = 0; part < (round === 1 ? 1 : SUB_BUCKETS); part++) {
      const rows = round === 1 ? count : take(1)[0];
      const sums = take(NAME_WORDS + CHECK_WORDS);
      if (rows <= 0) continue;
      const name = commonName(rows, sums);
      if (name === undefined) buckets.push({ path: round === 1 ? path : path * SUB_BUCKETS + part, count: rows });
      else levels.push({ name, count: rows });
    }
  }
  return { ...known, levels, buckets };
}

/** By how much the values of a device and those of the others are apart at most, as shares of rows below (Kolmogorov-Smirnov). */
function distance(own: readonly number[], others: readonly number[]): number {
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const [here, there] = [total(own), total(others)];
  let [below, belowThere, most] = [0, 0, 0];
  for (const [i, count] of own.entries()) {
    below += count / here;
    belowThere += others[i] / there;
    most = Math.max(most, Math.abs(below - belowThere));
  }
  return most;
}

/** What values of one unit are multiplied by, and what is added, to be in another. */
const CONVERSIONS: readonly (readonly [name: string, factor: number, shift?: number])[] = [
  ...[1, 2, 3, 4, 5, 6].flatMap((n): (readonly [string, number])[] => [
    [`${10 ** n} times too large`, 10 ** -n],
    [`${10 ** n} times too small`, 10 ** n],
  ]),
  ["in inches, not cm", 2.54],
  ["in cm, not inches", 1 / 2.54],
  ["in feet, not m", 0.3048],
  ["in m, not feet", 1 / 0.3048],
  ["in pounds, not kg", 0.45359237],
  ["in kg, not pounds", 1 / 0.45359237],
  ["in ounces, not g", 28.349523],
  ["in miles, not km", 1.609344],
  ["in km, not miles", 1 / 1.609344],
  ["in °F, not °C", 5 / 9, -160 / 9],
  ["in °C, not °F", 9 / 5, 32],
  ["in kelvin, not °C", 1, -273.15],
  ["in hours, not minutes", 60],
  ["in minutes, not hours", 1 / 60],
  ["in days, not hours", 24],
  ["in hours, not days", 1 / 24],
  ["in years, not months", 12],
  ["in months, not years", 1 / 12],
];

/** A column of a device that looks unlike that of all others together: named by the unit that would explain it, if one does. */
export interface UnlikeColumn {
  readonly column: string;
  readonly distance: number;
  readonly unit?: string;
}

/** Which columns of a device differ from all others, by its own rows and the cells of all. Nothing is sent. */
export function unlikeColumns(plan: DescriptionPlan, { columns }: Description, own: LocalTable): UnlikeColumn[] {
  return columns.flatMap((column, c) => {
    const local = own.columns[c];
    if (column.kind !== "number" || local.kind !== "number" || column.cells.length === 0) return [];
    const here = cellCounts(column, local);
    const others = column.cells.map((count, i) => count - here[i]);
    const rows = here.reduce((sum, count) => sum + count, 0);
    if (rows === 0 || others.every((count) => count <= 0)) return [];
    const apart = distance(here, others);
    if (apart <= Math.max(0.5, 1.63 / Math.sqrt(rows))) return [];
    const tried = CONVERSIONS.map(([unit, factor, shift = 0]) => {
      const values = local.values.map((value) => value * factor + shift);
      return { unit, left: distance(cellCounts(column, { ...local, values }), others) };
    });
    const best = tried.reduce((a, b) => (b.left < a.left ? b : a));
    const name = plan.columns[c].name;
    return [{ column: name, distance: apart, ...(best.left < apart / 2 && { unit: best.unit }) }];
  });
}
