// Single rows that somebody who hears every message computes, counted against the points.

import { complete, fitRounds, type Matrix, paperData } from "@fedkm/core";
import { expect, test } from "vitest";
import { countRecoveredRows } from "../src/trial/trial.ts";

/** Everybody's centroids after each round, on a network with all links. */
function overheard(datasets: readonly Matrix[], alpha: number, rounds = 12): (readonly Matrix[])[] {
  const options = { k: 3, alpha, seed: 1, rounds, preset: "paper" } as const;
  return Array.from(fitRounds(datasets, complete(datasets.length), options), ({ centroids }) => centroids);
}

test("countRecoveredRows finds rows that change their cluster between messages, on some draws and not on all", () => {
  const found = Array.from({ length: 12 }, (_, seed) => {
    const { datasets } = paperData("aniso", 10, 50, seed + 1);
    return countRecoveredRows(datasets, overheard(datasets, 1), 1);
  });
  expect(found.some((rows) => rows > 0)).toBe(true);
  expect(found.some((rows) => rows === 0)).toBe(true);
  for (const rows of found) expect(rows).toBeLessThan(500);
});

test("countRecoveredRows finds none when the listener is wrong about alpha", () => {
  for (let seed = 1; seed <= 12; seed++) {
    const { datasets } = paperData("aniso", 10, 50, seed);
    expect(countRecoveredRows(datasets, overheard(datasets, 1), 0.9)).toBe(0);
  }
});
