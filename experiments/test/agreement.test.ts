// A reduced grid against the tables of an independent implementation, from both readings of the paper's start.

import { expect, test } from "vitest";
import { cellBatches } from "../src/cell.ts";
import { aggregate } from "../src/results/aggregate.ts";
import { agreementRows, agreementSummary } from "../src/results/agreement.ts";
import type { TableRow } from "../src/table.ts";
import { trials } from "../src/trial/trial.ts";
import { plannedStudy } from "./cells.ts";

const { cells } = plannedStudy("all", { runs: 10, seed: 1, starts: ["local", "kmeans++"], quick: true });
const compared = cells.filter(({ method, pointsPerDevice }) => method !== "distributed" && pointsPerDevice === 200);
const runs = cellBatches(compared).flatMap((own) => trials(own));
const aggregated = aggregate(runs);
const rows = agreementRows(aggregated, runs);

const none = { inRange: 0, spread: 0, rounding: 0 };

test("agreementRows finds every cell of 200 points a device: GCD from both starts, CV from the authors' one", () => {
  expect(agreementSummary(rows)).toEqual([
    { start: "local", method: "fedkm", agreeing: 28, of: 28, inRange: 2, spread: 2, rounding: 0 },
    { start: "local", method: "local", agreeing: 3, of: 3, ...none },
    { start: "kmeans++", method: "local", agreeing: 3, of: 3, ...none },
    { start: "kmeans++", method: "fedkm", agreeing: 11, of: 11, inRange: 4, spread: 4, rounding: 0 },
  ]);
});

test.each(
  rows.map((row) => [row.start, row.measure, row.dataset, row.method, row.alpha, row.edge_probability, row] as const),
)("%s, %s, %s, %s, alpha %s, p %s: as the independent implementation has it", (...[, , , , , , row]) => {
  expect(row.ratio).toBeGreaterThan(1 / Number(row.allowed_factor));
  expect(row.ratio).toBeLessThan(Number(row.allowed_factor));
});

test("agreementRows sees a table that is off, by the medians and by the runs", () => {
  const eightfold = (names: readonly string[]) => (row: TableRow) => ({
    ...row,
    ...Object.fromEntries(names.map((name) => [name, 8 * Number(row[name])])),
  });
  const summaries = ["median", "lower_quartile", "upper_quartile"];
  const off = aggregated.map(eightfold(["gcd", "cv"].flatMap((measure) => summaries.map((of) => `${measure}_${of}`))));
  const found = agreementRows(off, runs.map(eightfold(["gcd", "cv"])));
  expect(found.filter(({ agrees }) => agrees !== 0)).toEqual([]);
});

test("agreementRows compares nothing with a start that the other implementation was not run from", () => {
  const dependable = aggregated.map((row) => ({ ...row, start: row.start === null ? null : "auto" }));
  expect(agreementRows(dependable, [])).toEqual([]);
});

/** One cell of distributed k-means whose median, quartiles and runs are as given; GCD and CV alike. */
function spreadCell(median: number, lower: number, upper: number, values: readonly number[]) {
  const fact = { dataset: "iso", method: "distributed", alpha: null, edge_probability: 0.7, points_per_device: 50 };
  const at = { study: "figures", start: "local", wrong_percent: 0, ...fact };
  const summary = (measure: string) => ({
    [`${measure}_median`]: median,
    [`${measure}_lower_quartile`]: lower,
    [`${measure}_upper_quartile`]: upper,
  });
  const singles = values.map((value) => ({ ...at, gcd: value, cv: value }));
  const [gcd] = agreementRows([{ ...at, ...summary("gcd"), ...summary("cv") }], singles);
  return [gcd.judged_by, gcd.agrees];
}

// Their median of this cell is 2.2e-29.
test("agreementRows asks nothing of two medians at rounding", () => {
  expect(spreadCell(1e-31, 1e-32, 1e-30, [1e-33, 1e-29])).toEqual(["rounding", null]);
});

test("agreementRows asks whether their median is among our runs where these are spread wider than the factor", () => {
  expect(spreadCell(1e-20, 1e-25, 1e-15, [1e-30, 1e-10])).toEqual(["range", 1]);
  expect(spreadCell(1e-20, 1e-25, 1e-15, [1e-28, 1e-10])).toEqual(["range", 0]);
  expect(spreadCell(1e-20, 0.8e-20, 1.5e-20, [1e-30, 1e-10])).toEqual(["factor", 0]);
});
