// Claims are counted right where the truth is known, and both starts are judged.

import { expect, test } from "vitest";
import { cellRow } from "../src/cell.ts";
import { judgeClaims } from "../src/results/claims.ts";
import type { TableRow } from "../src/table.ts";
import { plannedStudy } from "./cells.ts";

const options = { runs: 2, seed: 1, starts: ["local", "auto"] } as const;
const [{ cells }, { cells: atAllSizes }] = [true, false].map((quick) => plannedStudy("all", { ...options, quick }));

/** Rows in which GCD and CV are what a formula says. */
function rows(value: (cell: TableRow) => number, from = cells): TableRow[] {
  return from.map((cell) => {
    const row = cellRow(cell);
    return { ...row, gcd: value(row), cv: value(row), wrong_devices: 0, cost_ratio: 1 };
  });
}

function verdicts(found: readonly TableRow[], name: string, start = "local") {
  return found
    .filter((row) => row.name === name && row.start === start)
    .map((row) => [row.dataset, row.runs_held, row.runs, row.verdict]);
}

test("judgeClaims finds a claim that holds everywhere, and its opposite nowhere", () => {
  const falling = judgeClaims(
    rows(({ alpha }) => 1 / (1 + Number(alpha))),
    [1],
  );
  expect(verdicts(falling, "GCD falls, alpha 0 to 0.5")).toEqual([
    ["iso", 4, 4, "holds"],
    ["aniso", 4, 4, "holds"],
    ["var", 4, 4, "holds"],
  ]);
  const rising = judgeClaims(
    rows(({ alpha }) => Number(alpha)),
    [1],
  );
  expect(verdicts(rising, "GCD falls, alpha 0 to 0.5")[0]).toEqual(["iso", 0, 4, "does not hold"]);
});

test("judgeClaims judges a trend once, over all sizes by a rank test, not by its two ends", () => {
  const trend = (value: (points: number) => number, from = atAllSizes) =>
    judgeClaims(
      rows(({ points_per_device }) => value(Number(points_per_device)), from),
      [1, 2],
    );
  const falling = trend((points) => 1 / points);
  expect(verdicts(falling, "nearer to pooled with m", "auto")[0]).toEqual(["iso", 2, 2, "holds"]);
  expect(verdicts(falling, "distributed: CV rises with m")[0]).toEqual(["iso", 0, 2, "does not hold"]);
  // The largest size is below the smallest, and what lies between rises.
  const ends = trend((points) => (points === 800 ? 1 : points));
  expect(verdicts(ends, "nearer to pooled with m")[0]).toEqual(["iso", 0, 2, "does not hold"]);
  const quick = trend((points) => 1 / points, cells);
  expect(verdicts(quick, "nearer to pooled with m")[0]).toEqual(["iso", 0, 0, "too few sizes"]);
});

test("judgeClaims counts part of the runs, and the means apart from them", () => {
  // In run 2 distributed k-means is far worse, and with it the mean.
  const found = judgeClaims(
    rows(({ method, run }) => (method === "distributed" ? (run === 2 ? 100 : 0.1) : 1)),
    [1],
  );
  const [iso] = found.filter(({ name, start }) => name === "below distributed" && start === "local");
  expect(iso).toMatchObject({ runs_held: 2, runs: 4, means_held: 2, means: 2, verdict: "holds" });
  expect(verdicts(found, "distributed behind local")).toEqual([["aniso", 2, 4, "it happens"]]);
});

test("judgeClaims looks at the densities of Figures 3 and 4", () => {
  const found = judgeClaims(
    rows(({ edge_probability }) => 1 / (1 + Number(edge_probability))),
    [3, 4],
  );
  expect(verdicts(found, "GCD falls, p 0.4 to 0.7")[1]).toEqual(["aniso", 4, 4, "holds"]);
  expect(verdicts(found, "best at p = 1")[1]).toEqual(["aniso", 4, 4, "holds"]);
  expect(verdicts(found, "distributed: CV worse, p 0.4")[0]).toEqual(["iso", 4, 4, "holds"]);
});

test("judgeClaims compares how CV depends on connectivity with the baseline of which the paper says it", () => {
  const falling = (power: number) =>
    rows(({ method, edge_probability }) => Number(edge_probability) ** -(method === "distributed" ? power : 2));
  expect(verdicts(judgeClaims(falling(9), [4]), "CV depends less on p")[0]).toEqual(["iso", 4, 4, "holds"]);
  expect(verdicts(judgeClaims(falling(1), [4]), "CV depends less on p")[0]).toEqual(["iso", 0, 4, "does not hold"]);
});

test("judgeClaims judges privacy by single rows that somebody computes, from the starts with the paper's updates", () => {
  const found = (recovered: number) =>
    judgeClaims(
      rows(() => 1).map((row) => ({ ...row, recovered_rows: recovered })),
      [3],
    );
  expect(verdicts(found(0), "only aggregates are sent")[0]).toEqual(["iso", 4, 4, "holds"]);
  expect(verdicts(found(30), "only aggregates are sent")[0]).toEqual(["iso", 0, 4, "does not hold"]);
  expect(verdicts(found(30), "only aggregates are sent", "auto")).toEqual([]);
});

test("judgeClaims says mostly and in part of means, whatever single runs say", () => {
  const found = (worse: number) =>
    judgeClaims(
      rows(({ method, points_per_device }) =>
        method === "local" && Number(points_per_device) === worse ? 0.1 : 1,
      ).map((row) => (row.method === "fedkm" ? { ...row, gcd: 0.5 } : row)),
      [1],
    );
  expect(verdicts(found(0), "below local")[0]).toEqual(["iso", 4, 4, "holds"]);
  expect(verdicts(found(50), "below local")[0]).toEqual(["iso", 2, 4, "in part"]);
});

test("judgeClaims speaks only of figures that were run, in the columns of its table", () => {
  const found = judgeClaims(
    rows(() => 1),
    [2],
  );
  expect(new Set(found.map(({ figure }) => figure))).toEqual(new Set([2]));
  expect(Object.keys(found[0])).toEqual([
    "figure",
    "section",
    "name",
    "claim",
    "measured",
    "dataset",
    "start",
    "means_held",
    "means",
    "runs_held",
    "runs",
    "verdict",
  ]);
});
