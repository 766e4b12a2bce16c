// What a table is like: ranges, missing cells, columns that say nothing or say the same, rows that repeat.

import type { Matrix } from "@fedkm/core";
import type { Table } from "../table/table.ts";

/** What a column holds: gaps, range, and signs that it is no feature. */
export interface ColumnProfile {
  readonly name: string;
  readonly missing: number;
  /** Of the values that are there; undefined if none is. */
  readonly range?: { readonly least: number; readonly mean: number; readonly most: number };
  readonly isConstant: boolean;
  /** Each value one more than the one above: a row number, not a feature. */
  readonly countsRows: boolean;
  /** Whole numbers, no two of them equal, that fill their range or are called an id: names, not measurements. */
  readonly namesRows: boolean;
  /** One value far from all others that stands there again and again, such as -999: it may mean that nothing was measured. */
  readonly sentinel?: { readonly value: number; readonly count: number };
  /** An earlier column with the same values. */
  readonly copyOf?: string;
}

/** What a table holds. */
export interface Profile {
  readonly rows: number;
  readonly columns: readonly ColumnProfile[];
  /** Rows that are equal to an earlier one. */
  readonly repeatedRows: number;
}

/** What a table holds, column by column. */
export function profile(table: Table): Profile {
  return { rows: table.points.rows, columns: profileColumns(table), repeatedRows: repeatedRows(table.points) };
}

/** What each column of a table holds. */
export function profileColumns({ columns, points, missing, categories }: Table): ColumnProfile[] {
  return columns.map((name, c): ColumnProfile => {
    if (categories?.[c] !== undefined) {
      // Its numbers are places in a list, which say nothing.
      return { name, missing: missing[c].count, isConstant: false, countsRows: false, namesRows: false };
    }
    const twin = columns.findIndex((_, other) => other < c && sameColumn(points, other, c));
    return {
      name,
      missing: missing[c].count,
      ...describe(points, c, name),
      ...(twin >= 0 && { copyOf: columns[twin] }),
    };
  });
}

type Described = Omit<ColumnProfile, "name" | "missing" | "copyOf">;

function describe({ data, rows, cols }: Matrix, c: number, name: string): Described {
  const [low, high] = [farEnd(), farEnd()];
  let sum = 0;
  let count = 0;
  let isWhole = true;
  let countsRows = rows > 2;
  for (let r = 0, at = c; r < rows; r++, at += cols) {
    const value = data[at];
    if (r > 0 && value !== data[at - cols] + 1) countsRows = false;
    if (Number.isNaN(value)) continue;
    reach(low, -value);
    reach(high, value);
    if (!Number.isInteger(value)) isWhole = false;
    sum += value;
    count++;
  }
  if (count === 0) return { isConstant: false, countsRows: false, namesRows: false };
  const [least, most] = [-low.value, high.value];
  const fillsRange = most - least === count - 1 || isCalledId(name);
  const namesRows = isWhole && fillsRange && count >= FEWEST_NAMES && areDistinct(data, c, cols);
  const sentinel = pileOf(low, most, count, least) ?? pileOf(high, -least, count, most);
  return {
    range: { least, mean: sum / count, most },
    isConstant: least === most && rows > 1,
    countsRows,
    namesRows,
    ...(sentinel && { sentinel: { value: sentinel === low ? least : most, count: sentinel.count } }),
  };
}

/** Such as id, patient_id, id-2 and customerID, not grid. */
function isCalledId(name: string): boolean {
  return /(^|[^a-z])id([^a-z]|$)/i.test(name) || /[a-z]I[dD]([^a-z]|$)/.test(name);
}

/** Fewer whole numbers may well be different by chance. */
const FEWEST_NAMES = 20;

/** The largest value so far, how often it stands there, and the largest below it. */
interface FarEnd {
  value: number;
  count: number;
  next: number;
}

function farEnd(): FarEnd {
  return { value: Number.NEGATIVE_INFINITY, count: 0, next: Number.NEGATIVE_INFINITY };
}

function reach(/* IN OUT */ end: FarEnd, value: number): void {
  if (value > end.value) {
    end.next = end.value;
    end.value = value;
    end.count = 1;
  } else if (value === end.value) end.count++;
  else if (value > end.next) end.next = value;
}

/**
 * The end, if it is a pile apart: it repeats, most values are elsewhere, and it is farther from the next value than the
 * others are from each other. A number that is a usual code may be nearer, and may be most of the values. `opposite` is
 * the other end in the same direction, `shown` the value as it stands in the file.
 */
function pileOf(end: FarEnd, opposite: number, count: number, shown: number): FarEnd | undefined {
  const { value, count: repeats, next } = end;
  const others = next + opposite;
  const isCode = /^(-99|-200|-?9{3,})$/.test(String(shown));
  const isPile = repeats >= 3 && Number.isFinite(next) && others > 0;
  const isRare = isCode ? count - repeats >= 3 : repeats < count / 2;
  return isPile && isRare && value - next > (isCode ? 0.5 : 2) * others ? end : undefined;
}

function areDistinct(data: Float64Array, c: number, cols: number): boolean {
  const seen = new Set<number>();
  for (let at = c; at < data.length; at += cols) {
    if (seen.has(data[at])) return false;
    seen.add(data[at]);
  }
  return true;
}

function sameColumn({ data, rows, cols }: Matrix, a: number, b: number): boolean {
  for (let r = 0, at = 0; r < rows; r++, at += cols) if (!Object.is(data[at + a], data[at + b])) return false;
  return rows > 0;
}

/** By hashing into a table that is at most half full; equal rows are compared number by number. */
function repeatedRows({ data, rows, cols }: Matrix): number {
  const size = 2 ** Math.ceil(Math.log2(2 * rows + 2));
  const heads = new Int32Array(size).fill(-1);
  const words = new Int32Array(data.buffer, data.byteOffset, 2 * data.length);
  let repeated = 0;
  for (let r = 0; r < rows; r++) {
    let slot = hash(words, 2 * r * cols, 2 * cols) & (size - 1);
    while (heads[slot] >= 0 && !sameRow(words, heads[slot], r, 2 * cols)) slot = (slot + 1) & (size - 1);
    if (heads[slot] >= 0) repeated++;
    else heads[slot] = r;
  }
  return repeated;
}

function hash(words: Int32Array, from: number, length: number): number {
  let value = 0;
  for (let i = from; i < from + length; i++) value = Math.imul(value ^ words[i], 0x9e3779b1) ^ (value >>> 15);
  return value ^ (value >>> 16);
}

function sameRow(words: Int32Array, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (words[a * length + i] !== words[b * length + i]) return false;
  return true;
}

/** How far the values of a column spread, where their quarters end, and how lopsided they are. */
export interface ColumnStatistics {
  readonly count: number;
  readonly mean: number;
  readonly deviation: number;
  /** Below which a quarter, a half and three quarters of the values lie. */
  readonly quartiles: readonly [number, number, number];
  /** The mean cube in units of the deviation: 0 of a symmetric column, above 0 with a long tail of large values. */
  readonly skew: number;
  readonly distinct: number;
  readonly isWhole: boolean;
}

/** Of the values that are there; undefined if none is. */
export function profileStatistics({ data, rows, cols }: Matrix, column: number): ColumnStatistics | undefined {
  const all = new Float64Array(rows);
  let count = 0;
  for (let at = column; at < data.length; at += cols) if (!Number.isNaN(data[at])) all[count++] = data[at];
  const values = all.subarray(0, count).sort();
  if (count === 0) return undefined;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  let [squares, cubes] = [0, 0];
  for (const value of values) {
    squares += (value - mean) ** 2;
    cubes += (value - mean) ** 3;
  }
  const deviation = Math.sqrt(squares / count);
  const at = (share: number) => values[Math.max(0, Math.ceil(share * count) - 1)];
  return {
    count,
    mean,
    deviation,
    quartiles: [at(0.25), at(0.5), at(0.75)],
    skew: deviation > 0 ? cubes / count / deviation ** 3 : 0,
    distinct: values.reduce((sum, value, i) => sum + (i === 0 || value !== values[i - 1] ? 1 : 0), 0),
    isWhole: values.every(Number.isInteger),
  };
}
