// Clusters that a neighbour recovers from messages, counted against the points.

import { complete, fitRounds, type Matrix, paperData } from "@fedkm/core";
import { expect, test } from "vitest";
import { countTrialRecoveries } from "../src/trial/trial.ts";

/** Everybody's centroids after each round, on a network with all links. */
function overheard(datasets: readonly Matrix[], alpha: number, rounds = 12): (readonly Matrix[])[] {
  const options = { k: 3, alpha, seed: 1, rounds, preset: "paper" } as const;
  return Array.from(fitRounds(datasets, complete(datasets.length), options), ({ centroids }) => centroids);
}

test.each(["iso", "var", "aniso"] as const)("countTrialRecoveries: nearly every cluster of %s data leaks", (kind) => {
  const { datasets } = paperData(kind, 10, 50, 1);
  expect(countTrialRecoveries(datasets, overheard(datasets, 1), 1)).toBeGreaterThanOrEqual(24);
});

test("countTrialRecoveries counts no cluster when the neighbour is wrong about alpha", () => {
  const { datasets } = paperData("iso", 10, 50, 1);
  expect(countTrialRecoveries(datasets, overheard(datasets, 1), 0.9)).toBe(0);
});
