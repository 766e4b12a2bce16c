// Quantiles over all devices, against sorted pooled values.

import { matrix } from "@fedkm/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyParameters } from "../../test/runs.ts";
import { federatedQuantiles } from "../src/node.ts";

const shares = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1];

function quantilesOf(devices: readonly (readonly number[])[], wanted = shares): number[] {
  return federatedQuantiles(
    devices.map((values) => matrix(values.map((value) => [value]))),
    0,
    wanted,
  );
}

function sortedQuantiles(devices: readonly (readonly number[])[], wanted = shares): number[] {
  const sorted = devices.flat().sort((a, b) => a - b);
  return wanted.map((share) => sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1]);
}

test("quantiles over devices are those of sorted pooled values, to 1e-11 of the range", () => {
  const value = fc.oneof(fc.double({ min: -1e9, max: 1e9, noNaN: true }), fc.constantFrom(0, 1, 0.5, 1e-3, 7));
  const column = fc.array(fc.array(value, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 4 });
  const isClose = (devices: readonly (readonly number[])[]) => {
    const all = devices.flat();
    const range = Math.max(...all) - Math.min(...all);
    const expected = sortedQuantiles(devices);
    for (const [q, found] of quantilesOf(devices).entries()) {
      expect(Math.abs(found - expected[q])).toBeLessThanOrEqual(Math.max(Number.MIN_VALUE, 1e-11 * range));
    }
  };
  fc.assert(fc.property(column, isClose), propertyParameters({ short: 200, long: 5000 }));
});

test("quantiles of values that differ in their last bits are values of rows", () => {
  expect(quantilesOf([[1e9, 999999999.9999999]], [0.5])).toEqual([999999999.9999999]);
  expect(quantilesOf([[1e9], [999999999.9999999]], [0.5, 0.75])).toEqual([999999999.9999999, 1e9]);
  const ulps = fc.array(fc.array(fc.integer({ min: 0, max: 5000 }), { minLength: 1, maxLength: 20 }), {
    minLength: 1,
    maxLength: 3,
  });
  const isExact = (devices: readonly (readonly number[])[]) => {
    for (const [first, last] of [
      [1e9, 2 ** -23],
      [-3, 2 ** -51],
      [2 ** 52, 1],
    ]) {
      const values = devices.map((steps) => steps.map((step) => first + step * last));
      expect(quantilesOf(values)).toEqual(sortedQuantiles(values));
    }
  };
  fc.assert(fc.property(ulps, isExact), propertyParameters({ short: 60, long: 1000 }));
});
