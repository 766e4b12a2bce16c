// A neighbour that pushes a centroid to the cap on its drift from both sides, and reads how far rows are from their mean.

import { expect, it } from "vitest";
import type { Matrix } from "../../src/data/matrix.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import type { Kernel } from "../../src/kernel/kernel.ts";
import { guardPoints } from "../../src/privacy/guarded.ts";
import { updateDevice } from "../../src/update/updateDevice.ts";

/** Two clusters of 50 rows each, at 0 and 100, half of their rows to each side by this much: sums do not depend on it. */
function rowsAround(away: number): Matrix {
  const data = Float64Array.from({ length: 100 }, (_, r) => (r < 50 ? 0 : 100) + (r % 2 === 0 ? away : -away));
  return { data, rows: 100, cols: 1 };
}

const means: Matrix = { data: Float64Array.of(0, 100), rows: 2, cols: 1 };

function guardedKernel(points: Matrix): Kernel {
  const guard = guardPoints(points, jsKernel.prepare(points), 10);
  guard.publishCores(means.data);
  guard.publish(means.data);
  return { name: "guarded", prepare: () => guard };
}

/** What the neighbour takes for the deviation of the rows: half of the way between both ends, times the standard error. */
function deviationRead(points: Matrix, kernel: Kernel): number {
  const [low, high] = [-40, 40].map((push) => {
    const neighbour = { data: Float64Array.of(push, 100), rows: 2, cols: 1 };
    return updateDevice(points, means, [neighbour], { alpha: 100, robust: true, passes: 1, kernel }).centroids.data[0];
  });
  return (((high - low) / 2) * Math.sqrt(50)) / 5;
}

const deviationOf = (away: number) => away * Math.sqrt(100 / 98);

it("it reads the deviation of open rows to the last digits, so the attack works", () => {
  for (const away of [1, 1.05, 1.1])
    expect(deviationRead(rowsAround(away), jsKernel)).toBeCloseTo(deviationOf(away), 9);
});

it("it reads a coarse step of guarded rows, which is the same for all that are near it", () => {
  const read = [0.9, 1, 1.05, 1.1].map((away) => deviationRead(rowsAround(away), guardedKernel(rowsAround(away))));
  expect(read).toEqual([1, 1, 1, 1].map(() => expect.closeTo(1, 9)));
  const wide = rowsAround(1.3);
  expect(deviationRead(wide, guardedKernel(wide))).toBeCloseTo(Math.SQRT2, 9);
});

it("it cannot change that step: whatever is published afterwards, the deviation stays that of the own k-means", () => {
  const points = rowsAround(1.05);
  const guard = guardPoints(points, jsKernel.prepare(points), 10);
  guard.publishCores(means.data);
  for (let border = -1; border < 101; border += 0.25) {
    guard.publish(Float64Array.of(border - 1, border + 1));
    expect(guard.deviation).toBe(1);
  }
});
