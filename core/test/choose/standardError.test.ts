// The rule of one standard error, by hand: the losses of all folds again, their error, and the least alpha within it.

import { type AlphaChoice, chooseAlpha, fit, type Matrix, paperData, ring } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { takeRows } from "../../src/data/matrix.ts";
import { randomStream, shuffled } from "../../src/data/random.ts";
import { lossOf } from "../../src/kernel/model.ts";

const [DEVICES, K, SEED, HOLD_OUT] = [4, 3, 5, 0.2];
const alphas = [0, 0.01, 0.1, 1, 10];
const network = ring(DEVICES);

/** By alpha, device and fold: what a device's centroids lose on its own rows that were kept back, for each row. */
function lossesByHand(datasets: readonly Matrix[], folds: number): number[][][] {
  const losses = alphas.map(() => datasets.map((): number[] => []));
  for (let fold = 0; fold < folds; fold++) {
    const deals = datasets.map((points, i) => {
      const size = Math.round(HOLD_OUT * points.rows);
      const order = shuffled(points.rows, randomStream(SEED, "holdOut", i));
      const turned = order.map((_, r) => order[(fold * size + r) % points.rows]);
      return { held: takeRows(points, turned.subarray(0, size)), kept: takeRows(points, turned.subarray(size)) };
    });
    let before: readonly Matrix[] | undefined;
    for (const [a, alpha] of alphas.entries()) {
      const kept = deals.map((deal) => deal.kept);
      const rough = { tol: 1e-6, jointSteps: false, seed: SEED };
      before = fit(kept, network, { ...rough, k: K, alpha, init: before ?? "local" }).centroids;
      for (const [i, { held }] of deals.entries()) losses[a][i].push(lossOf(held, before[i]) / held.rows);
    }
  }
  return losses;
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The textbook's: the deviation of the differences over folds, with one less than their number, over its root. */
function errorOfMean(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

const problem = (seed: number) => paperData("var", DEVICES, 40, seed).datasets;
const choose = (datasets: readonly Matrix[], folds: number): AlphaChoice =>
  chooseAlpha(datasets, network, { k: K, alphas, folds, holdOut: HOLD_OUT, seed: SEED });

describe("chooseAlpha", () => {
  it.each([2, 3, 5])("has the losses and the standard errors of %i folds", (folds) => {
    const datasets = problem(1);
    const losses = lossesByHand(datasets, folds);
    const { curve } = choose(datasets, folds);
    const means = losses.map((own) => mean(own.map(mean)));
    const best = losses[means.indexOf(Math.min(...means))];
    for (const [a, { loss, standardError }] of curve.entries()) {
      expect(loss / means[a]).toBeCloseTo(1, 9);
      const errors = losses[a].map((own, i) => errorOfMean(own.map((value, fold) => value - best[i][fold])) / DEVICES);
      expect(standardError).toBeCloseTo(Math.hypot(...errors), 9);
    }
  });

  it("takes the least alpha whose loss is within its error of the lowest, which is often not the lowest", () => {
    let earlier = 0;
    for (let seed = 0; seed < 8; seed++) {
      const { alpha, curve } = choose(problem(seed), 3);
      const lowest = Math.min(...curve.map(({ loss }) => loss));
      const within = curve.filter(({ loss, standardError }) => loss <= lowest + standardError);
      expect(alpha).toBe(within[0].alpha);
      if (within[0].loss > lowest) earlier++;
    }
    expect(earlier).toBeGreaterThan(0);
  });
});
