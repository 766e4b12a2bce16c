// What a reproduction says in a sentence: the certificate of all runs, and where personalisation pays; and its axes.

import { expect, test } from "vitest";
import { seriesExtent, seriesTickLabel } from "../src/picture/series.ts";
import { reportCertificateLine, reportPersonalisation } from "../src/results/report.ts";

const certified = (largest_rise: number | null, relative_residual: number | null) => ({
  largest_rise,
  relative_residual,
});

test("reportCertificateLine speaks of the worst run of Algorithm 1, and of nothing else", () => {
  const other = certified(null, null);
  expect(reportCertificateLine([other])).toBeUndefined();
  expect(reportCertificateLine([other, certified(0, 1e-9), certified(0, 0.002)])).toMatch(
    /^2 runs of Algorithm 1: none raised .* by more than 0.0020 of the points' range$/,
  );
  expect(reportCertificateLine([certified(0.5, 0), certified(0, 0)])).toContain(
    "1 raised the objective, by 0.50 at most",
  );
});

test("reportPersonalisation names the cells whose interval is below 1, with the best method of each", () => {
  const cell = (split: string, method: string, mean: number, interval: number) => ({
    study: "heterogeneity",
    dataset: "var",
    split,
    method,
    start: method === "fedkm" ? "local" : null,
    alpha: method === "fedkm" ? 0.1 : null,
    own_cost_ratio_mean: mean,
    own_cost_ratio_interval: interval,
  });
  const found = reportPersonalisation([
    cell("even", "local", 1.1, 0.02),
    cell("classes:2", "local", 0.8, 0.1),
    cell("classes:2", "fedkm", 0.7, 0.1),
    cell("dirichlet:0.1", "fedkm", 0.95, 0.1),
  ]);
  expect(found?.sentences).toEqual([
    "From the local start personalisation pays, the 95 % interval below 1, for var classes:2 (fedkm, alpha 0.1: 0.70).",
  ]);
  expect(found?.tables[0].rows).toContainEqual(["local", "1.100", "0.800", ""]);
  expect(reportPersonalisation([])).toBeUndefined();
});

test.each([
  ["gcd", 3e-5, 0.2, [1e-5, 1], "decades"],
  ["own_cost_ratio", 0.77, 11, [0.5, 20], "oneTwoFive"],
  ["worst", -0.3, 1.1, [-0.4, 1.2], "linear"],
  ["worst", 0, 0, [0, 1], "linear"],
] as const)("extentOf %s from %d to %d reaches %j", (measure, low, high, domain, spacing) => {
  const points = [low, high].map((value) => ({ x: 0, value, low: value, high: value }));
  expect(seriesExtent(points, measure)).toEqual({ domain, spacing });
});

test("seriesTickLabel writes decades as powers and leaves other labels", () => {
  expect(["1e-24", "1e0", "1e3", "0.5", "12"].map(seriesTickLabel)).toEqual(["10⁻²⁴", "10⁰", "10³", "0.5", "12"]);
});
