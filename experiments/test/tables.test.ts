// The numbers beside a picture: pgfplots reads the one file as it is, LaTeX the other.

import { expect, test } from "vitest";
import { latexTable, pgfplotsTable } from "../src/picture/tables.ts";
import type { DotGrid, PanelGrid } from "../src/studies/plan.ts";

const grid: PanelGrid = {
  ...{ title: "t", caption: "c", summary: "error", measure: "gcd", methods: ["fedkm", "local"] },
  rows: [{ label: "GCD, iso", where: { dataset: "iso" } }],
  columns: [{ label: "α = 0.5", where: {} }],
  x: { column: "points_per_device", label: "points per device, m", ticks: [50, 100] },
};

const row = (method: string, points: number, mean: number) => ({
  ...{ dataset: "iso", method, points_per_device: points },
  ...{ gcd_mean: mean, gcd_standard_error: mean / 4, gcd_interval: mean / 2 },
  ...{ gcd_median: mean / 2, gcd_lower_quartile: mean / 4, gcd_upper_quartile: 2 * mean },
});
const table = [row("fedkm", 50, 0.004), row("fedkm", 100, 0.002), row("local", 50, 0.5)];

test("pgfplotsTable has a line for each x and three columns for each panel and method, nan where there is nothing", () => {
  expect(pgfplotsTable(table, grid, "error")).toBe(
    [
      "x,gcd_iso_alpha_0.5_fedkm,gcd_iso_alpha_0.5_fedkm_minus,gcd_iso_alpha_0.5_fedkm_plus,gcd_iso_alpha_0.5_local,gcd_iso_alpha_0.5_local_minus,gcd_iso_alpha_0.5_local_plus",
      "50,0.004,0.001,0.001,0.5,0.125,0.125",
      "100,0.002,0.0005,0.0005,nan,nan,nan",
      "",
    ].join("\n"),
  );
});

test("latexTable writes value and bar with one power of ten, and the median with its quartiles", () => {
  const tex = latexTable(table, grid, "mean");
  expect(tex).toContain("GCD, iso, $\\alpha$ = 0.5, Algorithm 1 & $(4.00\\pm2.00){\\times}10^{-3}$ & $(2.00");
  expect(tex).toContain("Local k-means & $0.50\\pm0.25$ & --");
  expect(tex.startsWith("\\begin{tabular}{lcc}\n\\toprule")).toBe(true);
  expect(latexTable(table, grid, "median")).toContain("$0.25\\,[0.13, 1.00]$");
});

test("both write a picture of dots too: entries down, data and measures across", () => {
  const { x: _x, measure: _measure, methods: _methods, columns: _columns, ...rest } = grid;
  const dots: DotGrid = {
    ...rest,
    columns: [{ label: "GCD", where: { points_per_device: 50 }, measure: "gcd" }],
    entries: ["fedkm", "local"].map((method) => ({ label: `${method} & ρ 1`, method, where: { method } })),
  };
  expect(latexTable(table, dots, "mean")).toContain("local \\& $\\rho$ 1 & $0.50\\pm0.25$ \\\\");
  expect(pgfplotsTable(table, dots, "mean").split("\n")[2]).toBe("1,0.5,0.25,0.25");
});
