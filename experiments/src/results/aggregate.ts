// From runs to what a figure shows: mean, standard error, 95 % interval, median and quartiles of every cell over its runs.

import { cellColumns } from "../cell.ts";
import { groupCells, type TableRow, type Value } from "../table.ts";

/** What tells cells apart; runs of one cell differ in the rest. */
const groupColumns = cellColumns.filter((column) => column !== "run" && column !== "seed");

/** Measures with an error bar. */
const spread = ["gcd", "cv", "gcd_aligned", "cv_aligned", "nmi", "nmi_own", "ari"] as const;

/** What stands for the runs of a cell in a measure with an error bar, in the order of the CSV. */
const summaries: { readonly [name: string]: (values: readonly number[]) => Value } = {
  mean,
  standard_error: standardError,
  interval,
  median: (values) => quantile(values, 0.5),
  lower_quartile: (values) => quantile(values, 0.25),
  upper_quartile: (values) => quantile(values, 0.75),
};

/** A row for every cell, its columns in the order of the CSV. `added` are the measures of plug-ins. */
export function aggregate(runs: readonly TableRow[], added: readonly string[] = []): TableRow[] {
  const keyOf = (row: TableRow) => {
    let key = "";
    for (const column of groupColumns) key += `${row[column]},`;
    return key;
  };
  return groupCells(runs, keyOf).map((rows) => summarise(rows, added));
}

function summarise(rows: readonly TableRow[], added: readonly string[]): TableRow {
  const of = (column: string) => rows.map((row) => row[column]).filter((value) => typeof value === "number");
  const rises = of("objective_rises");
  const wrong = mean(of("wrong_devices"));
  const found: Record<string, Value> = {};
  const put = (measure: string) => {
    const values = of(measure);
    for (const [name, summary] of Object.entries(summaries)) found[`${measure}_${name}`] = summary(values);
  };
  for (const column of groupColumns) found[column] = rows[0][column];
  found.runs = rows.length;
  for (const measure of spread) put(measure);
  found.wrong_percent = wrong === null ? null : (100 * wrong) / Number(rows[0].devices);
  found.cost_ratio_mean = mean(of("cost_ratio"));
  found.objective_rises = rises.length === 0 ? null : rises.reduce((a, b) => a + b, 0);
  found.runs_with_rises = rises.length === 0 ? null : rises.filter((count) => count > 0).length;
  found.recovered_clusters_mean = mean(of("recovered_clusters"));
  found.rounds_mean = mean(of("rounds"));
  found.messages_mean = mean(of("messages"));
  found.bytes_mean = mean(of("bytes"));
  found.largest_rise = most(of("largest_rise"));
  found.relative_residual_most = most(of("relative_residual"));
  for (const measure of ["own_cost_ratio", ...added]) put(measure);
  return found;
}

function most(values: readonly number[]): number | null {
  return values.length === 0 ? null : Math.max(...values);
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((a, b) => a + b, 0) / values.length;
}

/** Of the mean; 0 for a single run, which says nothing about it. */
function standardError(values: readonly number[]): number | null {
  const middle = mean(values);
  if (middle === null) return null;
  if (values.length === 1) return 0;
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/** Student's t for 95 % and 1, 2, .. degrees of freedom. */
const studentT = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/** Half the width of the 95 % interval of the mean; 0 for a single run, as the standard error. */
function interval(values: readonly number[]): number | null {
  const error = standardError(values);
  if (error === null) return null;
  const freedom = Math.max(1, values.length - 1);
  // Beyond the table two terms of the expansion at the normal distribution are right to three decimals.
  return error * (studentT[freedom - 1] ?? 1.96 + 2.372 / freedom);
}

/** Between the two values next to it, as numpy and R have it. */
function quantile(values: readonly number[], share: number): number | null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const below = Math.floor(at);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (at - below) * (sorted[above] - sorted[below]);
}
