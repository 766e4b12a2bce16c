// Means, standard errors and medians by hand.

import { expect, test } from "vitest";
import { aggregate } from "../src/results/aggregate.ts";
import { trials } from "../src/trial/trial.ts";
import { aloneCell, testCell } from "./cells.ts";

const drawn = { pointsPerDevice: 20, rounds: 2 };
const [row] = trials([testCell(drawn)]);
const runs = [4, 1, 3, 8].map((gcd, i) => ({
  ...row,
  run: i + 1,
  seed: i,
  gcd,
  wrong_devices: i,
  objective_rises: 2 * (i % 2),
}));

test("aggregate gives mean, standard error and median over the runs of a cell", () => {
  // Mean 4, squared deviations 0 + 9 + 1 + 16 = 26, standard error sqrt(26 / 3 / 4).
  expect(aggregate(runs)).toEqual([
    expect.objectContaining({
      runs: 4,
      gcd_mean: 4,
      gcd_standard_error: expect.closeTo(Math.sqrt(26 / 12), 12),
      // Student's t with three degrees of freedom.
      gcd_interval: expect.closeTo(3.182 * Math.sqrt(26 / 12), 12),
      gcd_median: 3.5,
      gcd_lower_quartile: 2.5,
      gcd_upper_quartile: 5,
      wrong_percent: 15,
      objective_rises: 4,
      runs_with_rises: 2,
      nmi_mean: null,
    }),
  ]);
});

test("aggregate knows an odd median, and no error from one run", () => {
  expect(aggregate(runs.slice(0, 3))[0].gcd_median).toBe(3);
  expect(aggregate(runs.slice(0, 1))[0]).toMatchObject({ gcd_mean: 4, gcd_standard_error: 0, gcd_median: 4 });
});

test("aggregate keeps cells apart that differ in anything but run and seed", () => {
  const local = trials([aloneCell({ ...drawn, run: 1, seed: 1 })]);
  expect(aggregate([...runs, ...local, { ...row, alpha: 0.5 }]).map(({ runs: count }) => count)).toEqual([4, 1, 1]);
});
