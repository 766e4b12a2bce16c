// A reduced grid against the tables of an independent implementation: medians of GCD and shares of wrong devices.

import { expect, test } from "vitest";
import { aggregate } from "../src/aggregate.ts";
import { compareWithStudy } from "../src/agreement.ts";
import { batches } from "../src/cell.ts";
import { studies } from "../src/studies/index.ts";
import { trials } from "../src/trial.ts";

const { cells } = studies.all({ runs: 10, seed: 1, starts: ["raw"], quick: true });
const compared = cells.filter(({ method, pointsPerDevice }) => method !== "distributed" && pointsPerDevice === 200);
const aggregated = aggregate(batches(compared).flatMap((own) => trials(own)));
const rows = compareWithStudy(aggregated);

test("compareWithStudy finds every cell of 200 points a device: local, three alphas, three densities", () => {
  expect(rows.length).toBe(3 * 6);
});

test.each(rows.map((row) => [row.dataset, row.method, row.alpha, row.edge_probability, row] as const))(
  "%s, %s, alpha %s, p %s: as the independent implementation has it",
  (_dataset, _method, _alpha, _probability, row) => {
    expect(row.ratio).toBeGreaterThan(1 / Number(row.allowed_factor));
    expect(row.ratio).toBeLessThan(Number(row.allowed_factor));
    expect(Math.abs(Number(row.wrong_percent) - Number(row.their_wrong_percent))).toBeLessThanOrEqual(15);
  },
);

test("compareWithStudy sees a table that is off", () => {
  const off = aggregated.map((row) => ({ ...row, gcd_median: 4 * Number(row.gcd_median) }));
  expect(compareWithStudy(off).filter(({ agrees }) => agrees === 1)).toEqual([]);
  const wrong = aggregated.map((row) => ({ ...row, wrong_percent: 60 }));
  expect(compareWithStudy(wrong).filter(({ agrees }) => agrees === 1)).toEqual([]);
});
