// A workbook as readers and labellers see it, whatever program wrote it: the names of its sheets, which of them are tables,
// and the rows of one.

import { DataError, listInRefusal } from "../source/refusal.ts";
import type { CellValue } from "../table/cellColumns.ts";

/** A number, a text, true or false; a date in days since 1970; an error such as #DIV/0!; a formula that has no value. */
export type SheetCell =
  | number
  | string
  | boolean
  | { readonly days: number }
  | { readonly error: string }
  | { readonly formula: true };

export interface SheetRow {
  /** From 1, as the sheet counts. */
  readonly row: number;
  /** By their columns; undefined where nothing stands. */
  readonly cells: readonly (SheetCell | undefined)[];
}

export interface Workbook {
  readonly file: string;
  readonly sheets: readonly string[];
  /** The one that is read. */
  readonly sheet: string;
  /** The file of the archive that holds it, and what is in that. */
  readonly part: string;
  readonly content: Uint8Array;
  /** Calls back with every row that has a cell with something in it. */
  eachRow(use: (row: SheetRow) => void): void;
  /** The part with cells in the rows that have some, from the column of this number on; the rest stays as it is. */
  withCells(content: Uint8Array, column: number, cellsOf: (row: number) => AddedCells | undefined): Uint8Array;
}

export type AddedCells = readonly CellValue[];

/** Stands for all sheets that have the same columns. */
export const ALL_SHEETS = "all";

/** A sheet with less than this share of the rows of another is its cover, or notes on it. */
const COVER = 0.125;

/** The sheet that is meant; without a word the first that is a table, by its rows of several cells with a number among them. */
export function mainSheet(all: readonly Workbook[], names: readonly string[], wanted: string | undefined): Workbook {
  const [{ file, part }] = all;
  if ((wanted !== undefined && wanted !== ALL_SHEETS) || all.length === 1) {
    const name = names[chosenSheet(names, wanted === ALL_SHEETS ? undefined : wanted)];
    return all.find(({ sheet }) => sheet === name) ?? refuseSheet({ file, part }, names, wanted);
  }
  const rows = all.map((workbook) => {
    let count = 0;
    workbook.eachRow(({ cells }) => {
      if (cells.filter((cell) => cell !== undefined).length > 1 && cells.some((cell) => typeof cell === "number"))
        count++;
    });
    return count;
  });
  return all.find((_, s) => rows[s] >= COVER * Math.max(...rows)) ?? all[0];
}

/** The place of the sheet that is meant, -1 if there is none; the first unless one is named. */
export function chosenSheet(names: readonly string[], sheet: string | undefined): number {
  if (sheet === undefined) return 0;
  const named = names.indexOf(sheet);
  return named >= 0 || !/^\d+$/.test(sheet) || Number(sheet) > names.length ? named : Number(sheet) - 1;
}

export function refuseSheet(
  { file, part }: { readonly file: string; readonly part: string },
  names: readonly string[],
  wanted: string | undefined,
): never {
  const known = listInRefusal(names.map((name) => JSON.stringify(name)));
  const rule = wanted === undefined ? "hold a sheet" : `have the sheet ${JSON.stringify(wanted)}`;
  const remedies = names.length > 0 ? [{ kind: "sheet", sheets: names } as const] : "save the workbook again";
  throw new DataError({ file, part: JSON.stringify(part), byte: 0 }, rule, `the sheets ${known || "none"}`, remedies);
}

/** The letters of a column from 0: A, B, ... Z, AA. */
export function columnLetters(column: number): string {
  const last = String.fromCharCode(65 + (column % 26));
  return column < 26 ? last : columnLetters(Math.floor(column / 26) - 1) + last;
}
