// How the columns of files become those that are clustered: a number is one, a category is one for each of its values,
// 1 in rows that have it and 0 in the others. Means of such columns are shares.

import type { Matrix } from "@fedkm/core";
import { DataError, listInRefusal } from "../source/refusal.ts";
import type { Table } from "../table/table.ts";

/** A column of a file as columns of numbers. */
export interface EncodedColumn {
  readonly name: string;
  /** Of a category: its values, in the order of their columns. */
  readonly values?: readonly string[];
}

/** The columns of the files, in their order. */
export type Encoding = readonly EncodedColumn[];

/** Among the values of a category: it stands for all that are not there. */
export const OTHER_VALUE = "*";

/** The values that tables hold on all devices together. Sorted: no device comes before another. */
export function encodingOf(tables: readonly Table[]): Encoding {
  return tables[0].columns.map((name, c): EncodedColumn => {
    if (tables[0].categories?.[c] === undefined) return { name };
    const values = new Set(tables.flatMap(({ categories }) => categories?.[c]?.words ?? []));
    return { name, values: Array.from(values).sort() };
  });
}

/** Whether a column of the encoding has categories. */
export function hasCategories(encoding: Encoding): boolean {
  return encoding.some(({ values }) => values !== undefined);
}

/** The columns that are clustered. */
export function encodedColumns(encoding: Encoding): string[] {
  return encoding.flatMap(({ name, values }) => values?.map((value) => `${name}=${value}`) ?? [name]);
}

/** Where the columns of each column of the files begin. */
export function firstEncodedColumns(encoding: Encoding): number[] {
  let next = 0;
  return encoding.map(({ values }) => {
    const first = next;
    next += values?.length ?? 1;
    return first;
  });
}

/** A value that no fitted row had is refused, or counts as missing under a policy that says what to do with those. */
export function checkUnseenCategories({ file, categories }: Table, encoding: Encoding, policy: string): void {
  if (policy !== "refuse") return;
  for (const [c, { name, values }] of encoding.entries()) {
    const { words, lines } = categories?.[c] ?? { words: [], lines: [] };
    if (values?.includes(OTHER_VALUE)) continue;
    const strange = words.findIndex((word) => values?.includes(word) === false);
    if (strange < 0) continue;
    const rule = `be one of ${listInRefusal((values ?? []).map((value) => JSON.stringify(value)))}`;
    const remedy = "fix the cell, leave the row out, or fit a model to rows that have it";
    throw new DataError({ file, line: lines[strange], column: name }, rule, JSON.stringify(words[strange]), remedy);
  }
}

/** The table with the columns that are clustered; a value that the encoding does not have is missing. */
export function encodeTable(table: Table, encoding: Encoding): Table {
  if (!hasCategories(encoding)) return table;
  const columns = encodedColumns(encoding);
  const first = firstEncodedColumns(encoding);
  const { data, rows, cols } = table.points;
  const points: Matrix = { data: new Float64Array(rows * columns.length), rows, cols: columns.length };
  const missing = columns.map(() => ({ count: 0, line: 0 }));
  for (const [c, { values }] of encoding.entries()) {
    const other = values?.indexOf(OTHER_VALUE) ?? -1;
    const indexes = table.categories?.[c]?.words
      .map((word) => values?.indexOf(word) ?? -1)
      .map((at) => (at < 0 ? other : at));
    let unseen = 0;
    for (let r = 0; r < rows; r++) {
      const value = data[r * cols + c];
      const to = r * points.cols + first[c];
      if (values === undefined) points.data[to] = value;
      else {
        const position = Number.isNaN(value) ? -1 : (indexes?.[value] ?? -1);
        if (position >= 0) points.data[to + position] = 1;
        else points.data.fill(Number.NaN, to, to + values.length);
        if (position < 0 && !Number.isNaN(value)) unseen++;
      }
    }
    const { count, line } = table.missing[c];
    missing.fill({ count: count + unseen, line }, first[c], first[c] + (values?.length ?? 1));
  }
  const { categories: _, ...rest } = table;
  return { ...rest, columns, points, missing };
}

/** What a mean, or any other row of the columns that are clustered, says of a column of the files. */
export interface ColumnMean {
  readonly name: string;
  readonly mean?: number;
  /** Of a category: how large a share of the rows has each value, the largest first. */
  readonly shares?: readonly { readonly value: string; readonly share: number }[];
}

/** `mean` is in the units of the files. */
export function encodedMeans(encoding: Encoding, mean: ArrayLike<number>): ColumnMean[] {
  const first = firstEncodedColumns(encoding);
  return encoding.map(({ name, values }, c): ColumnMean => {
    if (values === undefined) return { name, mean: mean[first[c]] };
    const shares = values.map((value, v) => ({ value, share: mean[first[c] + v] }));
    return { name, shares: shares.sort((a, b) => b.share - a.share) };
  });
}
