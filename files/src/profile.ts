// What a table is like: ranges, missing cells, columns that say nothing or say the same, rows that repeat.

import type { Matrix } from "@fedkm/core";
import type { Table } from "./table.ts";

export interface ColumnProfile {
  readonly name: string;
  readonly missing: number;
  /** Of the values that are there; undefined if none is. */
  readonly range?: { readonly least: number; readonly mean: number; readonly most: number };
  readonly isConstant: boolean;
  /** Each value one more than the one above: a row number, not a feature. */
  readonly countsRows: boolean;
  /** An earlier column with the same values. */
  readonly copyOf?: string;
}

export interface Profile {
  readonly rows: number;
  readonly columns: readonly ColumnProfile[];
  /** Rows that are equal to an earlier one. */
  readonly repeatedRows: number;
}

export function profile(table: Table): Profile {
  return { rows: table.points.rows, columns: profileColumns(table), repeatedRows: repeatedRows(table.points) };
}

export function profileColumns({ columns, points, missing }: Table): ColumnProfile[] {
  return columns.map((name, c): ColumnProfile => {
    const twin = columns.findIndex((_, other) => other < c && sameColumn(points, other, c));
    return {
      name,
      missing: missing[c].count,
      ...describe(points, c),
      ...(twin >= 0 && { copyOf: columns[twin] }),
    };
  });
}

function describe({ data, rows, cols }: Matrix, c: number): Pick<ColumnProfile, "range" | "isConstant" | "countsRows"> {
  let least = Number.POSITIVE_INFINITY;
  let most = Number.NEGATIVE_INFINITY;
  let sum = 0;
  let count = 0;
  let countsRows = rows > 2;
  for (let r = 0, at = c; r < rows; r++, at += cols) {
    const value = data[at];
    if (r > 0 && value !== data[at - cols] + 1) countsRows = false;
    if (Number.isNaN(value)) continue;
    if (value < least) least = value;
    if (value > most) most = value;
    sum += value;
    count++;
  }
  if (count === 0) return { isConstant: false, countsRows: false };
  return { range: { least, mean: sum / count, most }, isConstant: least === most && rows > 1, countsRows };
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
