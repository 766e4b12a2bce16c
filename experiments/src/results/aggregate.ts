// From runs to what a figure shows: mean, standard error, 95 % interval, median and quartiles of every cell over its runs.

import { cellColumns } from "../cell.ts";
import { intervalOf, meanValue, quantileOf, standardError } from "../statistics.ts";
import { groupCells, type TableRow, type Value } from "../table.ts";

/** What tells cells apart; runs of one cell differ in the rest. */
const groupColumns = cellColumns.filter((column) => column !== "run" && column !== "seed");

/** Measures with an error bar. */
const spread = ["gcd", "cv", "gcd_aligned", "cv_aligned", "nmi", "nmi_own", "ari", "cost_ratio"] as const;

/** What stands for the runs of a cell in a measure with an error bar, in the order of the CSV. */
const summaries: { readonly [name: string]: (values: readonly number[]) => Value } = {
  mean: meanValue,
  standard_error: standardError,
  interval: intervalOf,
  median: (values) => quantileOf(values, 0.5),
  lower_quartile: (values) => quantileOf(values, 0.25),
  upper_quartile: (values) => quantileOf(values, 0.75),
};

/** A row for every cell, its columns in the order of the CSV. `added` are measures of plug-ins, `options` swept ones. */
export function aggregate(
  runs: readonly TableRow[],
  added: readonly string[] = [],
  options: readonly string[] = [],
): TableRow[] {
  const keyOf = (row: TableRow) => {
    let key = "";
    for (const column of groupColumns) key += `${row[column]},`;
    return key;
  };
  return groupCells(runs, keyOf).map((rows) => summarise(rows, added, options));
}

function summarise(rows: readonly TableRow[], added: readonly string[], options: readonly string[]): TableRow {
  const of = (column: string) => rows.map((row) => row[column]).filter((value) => typeof value === "number");
  const rises = of("objective_rises");
  const wrong = meanValue(of("wrong_devices"));
  const found: Record<string, Value> = {};
  const put = (measure: string) => {
    const values = of(measure);
    for (const [name, summary] of Object.entries(summaries)) found[`${measure}_${name}`] = summary(values);
  };
  for (const column of [...groupColumns, ...options]) found[column] = rows[0][column];
  found.runs = rows.length;
  for (const measure of spread) put(measure);
  found.wrong_percent = wrong === null ? null : (100 * wrong) / Number(rows[0].devices);
  found.objective_rises = rises.length === 0 ? null : rises.reduce((a, b) => a + b, 0);
  found.runs_with_rises = rises.length === 0 ? null : rises.filter((count) => count > 0).length;
  found.recovered_rows_mean = meanValue(of("recovered_rows"));
  found.rounds_mean = meanValue(of("rounds"));
  found.messages_mean = meanValue(of("messages"));
  found.bytes_mean = meanValue(of("bytes"));
  found.largest_rise = most(of("largest_rise"));
  found.relative_residual_most = most(of("relative_residual"));
  for (const measure of ["own_cost_ratio", ...added]) put(measure);
  return found;
}

function most(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.max(...values);
}
