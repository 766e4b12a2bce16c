// The attacks, each where its answer is known by hand, and all of them against the device that they are for.

import { matrix } from "@fedkm/core";
import { expect, test } from "vitest";
import { auditStudy } from "../src/audit.ts";
import { type ClusterSnapshot, inversionSnapshots } from "../src/inversion.ts";
import { isolatedRows } from "../src/judge.ts";
import type { ObservedMessage } from "../src/observation.ts";
import { leakOf, membershipInterval, verdictOf } from "../src/outcome.ts";
import { rowClaims } from "../src/rowTracking.ts";
import { ownStudy } from "../src/scenario.ts";

const rules = { alpha: 0.5, coupling: "nearest", typicalRows: null, grain: 0 } as const;

/** One cluster of everything: 7 rows of which the sum is (35, 7), and one neighbour at these centroids. */
function messages(others: readonly (readonly [number, number])[], sums = others.map(() => [35, 7])): ObservedMessage[] {
  return others.map(([x, y], t) => {
    // w (1 + 2 alpha) = mean + 2 alpha w', with (E2) and (E3) both matched.
    const centroids = matrix([[(sums[t][0] / 7 + x) / 2, (sums[t][1] / 7 + y) / 2]]);
    return { at: t, stamp: { epoch: 1, sequence: t }, centroids, before: undefined, neighbours: [[matrix([[x, y]])]] };
  });
}

test("snapshotsOf(messages) finds the mean of a cluster, and that it is all of the rows", () => {
  const [found] = inversionSnapshots(
    messages([
      [1, 1],
      [2, 4],
    ]),
    rules,
  );
  expect(found).toMatchObject({ message: 1, rows: 1, counts: [1] });
  expect(found.sums[0][0]).toBeCloseTo(5, 12);
  expect(found.sums[0][1]).toBeCloseTo(1, 12);
});

test("snapshotsOf(messages) finds nothing where rows changed between two messages, or in another epoch", () => {
  const others = [
    [1, 1],
    [2, 4],
  ] as const;
  const changed = [
    [35, 7],
    [36, 9],
  ];
  expect(inversionSnapshots(messages(others, changed), rules)).toEqual([]);
  const [first, second] = messages(others);
  expect(inversionSnapshots([first, { ...second, stamp: { epoch: 2, sequence: 0 } }], rules)).toEqual([]);
});

/** Two clusters, with the numbers of their rows and the sums of the only feature. */
const state = (message: number, counts: number[], sums: number[]): ClusterSnapshot => ({
  message,
  rows: counts[0] + counts[1],
  counts,
  sums: sums.map((sum) => Float64Array.of(sum)),
  error: 1e-9,
});
const empty: ObservedMessage[] = [];

test("rowsIn(snapshots) takes a row that changed its cluster from the sums of both", () => {
  const claims = rowClaims(empty, [state(0, [11, 13], [20, 90]), state(1, [10, 14], [17, 93])], rules, 20);
  expect(claims).toEqual([expect.objectContaining({ how: "moved", message: 1, values: Float64Array.of(3) })]);
});

test("rowsIn(snapshots) takes an added or deleted row from the sum of all, whatever clusters do", () => {
  const before = state(0, [11, 13], [20, 90]);
  const more = state(1, [14, 11], [50, 64]);
  expect(rowClaims(empty, [before, more], rules, 20)).toEqual([
    expect.objectContaining({ how: "added", values: Float64Array.of(4) }),
  ]);
  expect(rowClaims(empty, [more, before], rules, 20)).toEqual([
    expect.objectContaining({ how: "deleted", values: Float64Array.of(4) }),
  ]);
  // Shares of 12 and 12 look like 1 of 2, until there are 25.
  expect(rowClaims(empty, [state(0, [1, 1], [2, 7]), more], rules, 20)).toEqual([
    expect.objectContaining({ how: "added", values: Float64Array.of(114 - 12 * 9) }),
  ]);
});

test("rowsIn(snapshots) claims nothing where two rows moved, or where the sums disagree", () => {
  const before = state(0, [11, 13], [20, 90]);
  expect(rowClaims(empty, [before, state(1, [9, 15], [17, 93])], rules, 20)).toEqual([]);
  expect(rowClaims(empty, [before, state(1, [10, 14], [17, 94])], rules, 20)).toEqual([]);
});

test("isolatedRows(groups) finds a row that sums and differences of groups give, and the smallest class", () => {
  expect(isolatedRows([[0, 1, 2, 3], [0, 1], [2, 3], []])).toEqual({ rows: [], smallestClass: 2 });
  // {0, 1} + {1, 2} - {0, 2} is twice row 1, although no difference of two groups is a row.
  const { rows, smallestClass } = isolatedRows([
    [0, 1],
    [1, 2],
    [0, 2],
  ]);
  expect([...rows].sort()).toEqual([0, 1, 2]);
  expect(smallestClass).toBe(1);
  // Every row was in other groups than the others, and still no combination has fewer than two.
  expect(
    isolatedRows([
      [0, 1],
      [1, 2],
      [2, 3],
      [3, 0],
    ]),
  ).toEqual({ rows: [], smallestClass: 2 });
});

test("auditStudy(options) finds means by every inversion and single rows in an open study", async () => {
  const tallies = await auditStudy({ study: ownStudy, datasets: [], runs: 1, seed: 3 });
  const of = (attack: string) => tallies.find((one) => one.attack === attack);
  expect(of("inversion")).toMatchObject({ tried: 1, groups: 1 });
  expect(of("coalition")).toMatchObject({ tried: 1, groups: 1 });
  expect(of("sketches")).toMatchObject({ groups: 1 });
  expect(of("added row")).toMatchObject({ withRows: 1 });
  expect(of("deleted row")).toMatchObject({ withRows: 1 });
  expect(of("row space")?.rows).toBeGreaterThan(1);
  expect(of("replay")).toMatchObject({ tried: 1, withRows: 0 });
  expect(of("growth")).toMatchObject({ tried: 1, withRows: 1 });
  expect(tallies.every(({ rowError }) => rowError === null || rowError < 1e-9)).toBe(true);
  expect(verdictOf("open", tallies)).toMatch(/^Single rows can be found: \d+ here, by \d of 14 attacks/);
});

test("auditStudy(options) finds no single row in a guarded study, and groups no smaller than the minimum", async () => {
  const study = { ...ownStudy, privacy: "guarded" } as const;
  const tallies = await auditStudy({ study, datasets: [], runs: 1, seed: 3 });
  expect(tallies.map(({ attack, rows }) => [attack, rows])).toEqual(tallies.map(({ attack }) => [attack, 0]));
  for (const attack of ["row space", "growth"]) {
    expect(tallies.find((one) => one.attack === attack)?.smallestClass).toBeGreaterThanOrEqual(study.minimum);
  }
  expect(verdictOf("guarded", tallies)).toMatch(/^No single row was found\./);
});

test("words say how many digits were found, and how sure a guess is", () => {
  const nothing = { attack: "inversion", tried: 2, groups: 0, withRows: 0, rows: 0, wrong: 0 } as const;
  const more = { groupsError: null, rowError: null, guesses: 0, rightGuesses: 0, smallestClass: null };
  expect(leakOf({ ...nothing, ...more })).toBe("nothing");
  expect(leakOf({ ...nothing, ...more, withRows: 1, rowError: 3e-5 })).toBe("one row, to 4 digits");
  expect(leakOf({ ...nothing, ...more, groups: 1, groupsError: 1e-12 })).toMatch(/^cluster means, to the last digit/);
  expect(leakOf({ ...nothing, ...more, attack: "membership", guesses: 100, rightGuesses: 60 })).toBe(
    "right in 60 % of 100 guesses, 50 % is chance (95 % interval 50 % to 69 %)",
  );
  expect(membershipInterval(0, 10)[0]).toBe(0);
});
