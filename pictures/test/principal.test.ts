// Principal components against a case computed by hand, their definition, and scikit-learn's numbers.

import { matrix, randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import { givenTrialPoints } from "../../experiments/src/trial/datasets.ts";
import { principalAxes, principalComponents } from "../src/principal.ts";

test("principalComponents puts points of a line on one axis, and nothing on the next", () => {
  const { data } = principalComponents(
    matrix([
      [0, 0],
      [3, 4],
      [6, 8],
    ]),
    2,
  );
  expect(Array.from(data, (x) => Math.abs(x))).toEqual([5, 0, 0, 0, 5, 0].map((x) => expect.closeTo(x, 12)));
});

test("principalComponents and principalAxes refuse more components than columns", () => {
  for (const find of [principalComponents, principalAxes]) {
    expect(() => find(matrix([[1, 2]]), 3)).toThrow(
      "count must be an integer from 1 to 2 (the columns of points), got 3",
    );
  }
});

test("the digits' 16 components have scikit-learn's variances and coordinates", () => {
  const { points } = givenTrialPoints("digits");
  expect([points.rows, points.cols]).toEqual([1797, 16]);
  const variance = (c: number) =>
    points.data.reduce((sum, x, at) => (at % 16 === c ? sum + x * x : sum), 0) / points.rows;
  const expected = [178.90731578, 163.62664073, 141.70953623, 101.04411456];
  expect(expected.map((_, c) => variance(c))).toEqual(expected.map((value) => expect.closeTo(value, 6)));
  expect(variance(15)).toBeCloseTo(16.93743321, 6);
  const first = Array.from(points.data.subarray(0, 3), Math.abs);
  expect(first).toEqual([1.25946645, 21.27488348, 9.46305462].map((value) => expect.closeTo(value, 6)));
});

/** Points around a few centres, in many columns. */
function wide(rows: number, cols: number, spreads: readonly number[]) {
  const random = randomStream(8);
  const directions = spreads.map(() => Float64Array.from({ length: cols }, () => random() - 0.5));
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    const places = spreads.map((spread) => spread * (random() - 0.5));
    for (let x = 0; x < cols; x++) {
      data[r * cols + x] = directions.reduce((sum, axis, i) => sum + places[i] * axis[x], random() - 0.5);
    }
  }
  return { data, rows, cols };
}

test("principalAxes finds the same directions in many columns as Jacobi's rotations", () => {
  const points = wide(300, 80, [20, 12, 5]);
  const exact = principalComponents(points, 2);
  const { means, axes, shares } = principalAxes(points, 2);
  const variance = (c: number) => exact.data.reduce((sum, x, at) => (at % 2 === c ? sum + x * x : sum), 0);
  expect(shares[0] / shares[1]).toBeCloseTo(variance(0) / variance(1), 3);
  for (let r = 0; r < points.rows; r++) {
    const row = points.data.subarray(r * points.cols, (r + 1) * points.cols);
    axes.forEach((axis, c) => {
      const place = axis.reduce((sum, entry, x) => sum + entry * (row[x] - means[x]), 0);
      expect(Math.abs(place - exact.data[2 * r + c])).toBeLessThan(0.5);
    });
  }
});

test("principalAxes gives axes of length 1 at right angles, even of points in one place", () => {
  for (const points of [wide(5, 100, [3]), wide(50, 4, [3, 1]), { data: new Float64Array(700), rows: 7, cols: 100 }]) {
    const { axes, shares } = principalAxes(points, 2);
    const dot = (a: Float64Array, b: Float64Array) => a.reduce((sum, x, i) => sum + x * b[i], 0);
    expect(dot(axes[0], axes[0])).toBeCloseTo(1, 9);
    expect(dot(axes[1], axes[1])).toBeCloseTo(1, 9);
    expect(dot(axes[0], axes[1])).toBeCloseTo(0, 9);
    for (const share of shares) expect(share).toBeGreaterThanOrEqual(0);
  }
});
