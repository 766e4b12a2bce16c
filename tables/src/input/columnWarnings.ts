// What a careful colleague would say about the columns before clustering them.

import type { Matrix } from "@fedkm/core";
import {
  type ColumnProfile,
  type Encoding,
  firstEncodedColumns,
  profileColumns,
  standardScaling,
  type Table,
} from "@fedkm/files";
import { countLabel } from "../numbers.ts";
import { shellNames } from "../shellWords.ts";

export function columnWarnings(tables: readonly Table[]): string[] {
  const profiles = tables.map(profileColumns);
  return tables[0].columns.flatMap((name, c) => {
    if (tables[0].categories?.[c] !== undefined) return [];
    const own = profiles.map((columns) => columns[c]);
    const useless = uselessColumn(name, own);
    const shared = useless.length === 0 && namesRowsTogether(tables, own, c) ? [idWarning(name)] : [];
    return [...useless, ...shared, ...sentinels(name, own)];
  });
}

function idWarning(name: string): string {
  return `column ${JSON.stringify(name)} has another whole number in every row, as an id has; ${leftOut(name)}`;
}

function leftOut(name: string): string {
  return `leave it out with --exclude ${shellNames([name])}`;
}

/** Fewer whole numbers may well be different by chance. */
const FEWEST_NAMES = 20;

/** Whole numbers that fill their range once all files are taken together: ids that were dealt to the devices. */
function namesRowsTogether(tables: readonly Table[], own: readonly ColumnProfile[], c: number): boolean {
  const ranges = own.flatMap(({ range }) => range ?? []);
  const rows = tables.reduce((sum, { points }) => sum + points.rows, 0);
  const least = Math.min(...ranges.map((range) => range.least));
  const most = Math.max(...ranges.map((range) => range.most));
  if (tables.length < 2 || rows < FEWEST_NAMES || most - least !== rows - 1) return false;
  const seen = new Set<number>();
  for (const { points } of tables) {
    for (let at = c; at < points.data.length; at += points.cols) seen.add(points.data[at]);
  }
  return seen.size === rows && Array.from(seen).every(Number.isInteger);
}

function uselessColumn(name: string, own: readonly ColumnProfile[]): string[] {
  const quoted = JSON.stringify(name);
  const remedy = leftOut(name);
  const [{ range, copyOf }] = own;
  if (own.every((column) => column.isConstant && column.range?.least === range?.least)) {
    return [`column ${quoted} is ${range?.least} in every row and says nothing; ${remedy}`];
  }
  if (own.every(({ countsRows }) => countsRows)) {
    return [`column ${quoted} counts the rows and will be clustered like a measurement; ${remedy}`];
  }
  if (own.every(({ namesRows }) => namesRows)) {
    return [idWarning(name)];
  }
  if (copyOf !== undefined && own.every((column) => column.copyOf === copyOf)) {
    return [`column ${quoted} repeats ${JSON.stringify(copyOf)}, which then counts twice; ${remedy}`];
  }
  return [];
}

function sentinels(name: string, own: readonly ColumnProfile[]): string[] {
  const counts = new Map<number, number>();
  for (const { sentinel } of own) {
    if (sentinel !== undefined) counts.set(sentinel.value, (counts.get(sentinel.value) ?? 0) + sentinel.count);
  }
  return Array.from(
    counts,
    ([value, rows]) =>
      `column ${JSON.stringify(name)} is ${value} in ${countLabel(rows)} rows, far from all its other values; if that means ` +
      "that nothing was measured, empty these cells and use --missing",
  );
}

/** Above this ratio of deviations one column has all the say. */
const LARGEST_RATIO = 10;

/** Of columns of numbers. `datasets` are not scaled. */
export function spreadWarnings(encoding: Encoding, datasets: readonly Matrix[]): string[] {
  const { scale } = standardScaling(datasets);
  const firsts = firstEncodedColumns(encoding);
  const varying = encoding
    .map(({ name, values }, c) => ({ name, values, deviation: scale[firsts[c]], column: firsts[c] }))
    .filter(({ values, column }) => values === undefined && isVarying(datasets, column))
    .sort((a, b) => a.deviation - b.deviation);
  const [least, most] = [varying.at(0), varying.at(-1)];
  if (least === undefined || most === undefined || most.deviation <= LARGEST_RATIO * least.deviation) return [];
  const ratio = countLabel(Math.round(most.deviation / least.deviation));
  return [
    `column ${JSON.stringify(most.name)} varies ${ratio} times as much as ${JSON.stringify(least.name)} and counts for ` +
      "that much more; give all columns the same say with --scale standard",
  ];
}

/** By the values themselves: the deviation of a constant is 0 only up to rounding. */
function isVarying(datasets: readonly Matrix[], column: number): boolean {
  const first = datasets.find(({ rows }) => rows > 0)?.data[column];
  return datasets.some(({ data, cols }) => {
    for (let at = column; at < data.length; at += cols) if (data[at] !== first) return true;
    return false;
  });
}
