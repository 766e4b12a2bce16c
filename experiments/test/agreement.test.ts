// A reduced grid against the tables of an independent implementation, from both readings of the paper's start.

import { expect, test } from "vitest";
import { aggregate } from "../src/aggregate.ts";
import { compareWithStudy, countAgreement } from "../src/agreement.ts";
import { batches } from "../src/cell.ts";
import { studies } from "../src/studies/index.ts";
import { trials } from "../src/trial.ts";

const { cells } = studies.all({ runs: 10, seed: 1, starts: ["authors", "raw"], quick: true });
const compared = cells.filter(({ method, pointsPerDevice }) => method !== "distributed" && pointsPerDevice === 200);
const aggregated = aggregate(batches(compared).flatMap((own) => trials(own)));
const rows = compareWithStudy(aggregated);

test("compareWithStudy finds every cell of 200 points a device: GCD from both starts, CV from the authors' one", () => {
  expect(countAgreement(rows)).toEqual([
    { start: "authors", method: "fedkm", agreeing: 3 * 5 * 2, of: 3 * 5 * 2 },
    { start: "authors", method: "local", agreeing: 3, of: 3 },
    { start: "raw", method: "local", agreeing: 3, of: 3 },
    { start: "raw", method: "fedkm", agreeing: 3 * 5, of: 3 * 5 },
  ]);
});

test.each(
  rows.map((row) => [row.start, row.measure, row.dataset, row.method, row.alpha, row.edge_probability, row] as const),
)("%s, %s, %s, %s, alpha %s, p %s: as the independent implementation has it", (...[, , , , , , row]) => {
  expect(row.ratio).toBeGreaterThan(1 / Number(row.allowed_factor));
  expect(row.ratio).toBeLessThan(Number(row.allowed_factor));
});

test("compareWithStudy sees a table that is off", () => {
  const off = aggregated.map((row) => ({
    ...row,
    gcd_median: 8 * Number(row.gcd_median),
    cv_median: 8 * Number(row.cv_median),
  }));
  expect(compareWithStudy(off).filter(({ agrees }) => agrees === 1)).toEqual([]);
});

test("compareWithStudy compares nothing with a start that the other implementation was not run from", () => {
  const dependable = aggregated.map((row) => ({ ...row, start: row.start === null ? null : "dependable" }));
  expect(compareWithStudy(dependable)).toEqual([]);
});

test("compareWithStudy takes two medians at rounding for the same", () => {
  const fact = { dataset: "iso", method: "distributed", alpha: null, edge_probability: 0.7, points_per_device: 50 };
  const at = { study: "figures", start: "authors", wrong_percent: 0, ...fact };
  const agrees = (median: number) =>
    compareWithStudy([{ ...at, gcd_median: median, cv_median: median }]).map((row) => row.agrees);
  expect(agrees(1e-31)).toEqual([1, 1]);
  expect(agrees(1e-20)).toEqual([0, 0]);
});
