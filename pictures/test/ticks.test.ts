// Ticks of any axis: labels that differ, fit into their margin and never touch.

import fc from "fast-check";
import { expect, test } from "vitest";
import { propertyParameters } from "../../test/runs.ts";
import {
  axisStepLabels,
  axisTicks,
  compactLabel,
  countLabel,
  domainOf,
  type Spacing,
  textWidth,
} from "../src/ticks.ts";

/** From 1e-12 to 1e15, of any sign. */
const magnitude = fc
  .record({ digits: fc.double({ min: 1, max: 10, noNaN: true }), power: fc.integer({ min: -12, max: 14 }) })
  .map(({ digits, power }) => digits * 10 ** power);
const signed = fc.tuple(magnitude, fc.boolean()).map(([value, isNegative]) => (isNegative ? -value : value));

const linearDomain = fc.oneof(
  fc.tuple(signed, signed).map(([a, b]) => domainOf([a, b])),
  // A small span on a large offset.
  fc
    .tuple(signed, fc.integer({ min: -11, max: 0 }))
    .map(([offset, power]) => domainOf([offset, offset + Math.abs(offset) * 10 ** power])),
  signed.map((value) => domainOf([value])),
);
const logDomain = fc.tuple(magnitude, magnitude).map((ends) => domainOf(ends));

function checkLabels(domain: readonly [number, number], spacing: Spacing, direction: "across" | "up", length: number) {
  const { axis, room, beyond } = axisTicks({ domain, length, spacing, direction });
  const labels = axis.ticks.map(axis.tickFormat);
  expect(labels.length).toBeGreaterThan(0);
  expect(new Set(labels).size).toBe(labels.length);
  const along = spacing === "linear" ? (value: number) => value : Math.log;
  const place = (value: number) => (length * (along(value) - along(domain[0]))) / (along(domain[1]) - along(domain[0]));
  let end = Number.NEGATIVE_INFINITY;
  axis.ticks.forEach((value, i) => {
    expect(labels[i]).not.toBe("");
    expect(value).toBeGreaterThanOrEqual(domain[0]);
    expect(value).toBeLessThanOrEqual(domain[1]);
    expect(textWidth(labels[i])).toBeLessThan(room);
    const half = (direction === "up" ? 11 : textWidth(labels[i])) / 2;
    expect(place(value) - half).toBeGreaterThan(end);
    end = place(value) + half;
    expect(place(value) - half).toBeGreaterThanOrEqual(-beyond[0] - 1e-6);
    expect(end).toBeLessThanOrEqual(length + beyond[1] + 1e-6);
  });
  // A margin that leaves room for the panel.
  expect(room).toBeLessThan(90);
}

const lengths = fc.integer({ min: 60, max: 800 });
const directions = fc.constantFrom("across" as const, "up" as const);

test("axisTicks gives a linear axis of any domain labels that differ, fit and stay apart", () => {
  fc.assert(
    fc.property(linearDomain, directions, lengths, (domain, direction, length) =>
      checkLabels(domain, "linear", direction, length),
    ),
    propertyParameters({ short: 1000, long: 20_000 }),
  );
});

test("axisTicks gives a log axis of any domain labels that differ, fit and stay apart", () => {
  const spacings = fc.constantFrom("decades" as const, "oneTwoFive" as const);
  fc.assert(
    fc.property(logDomain, spacings, directions, lengths, (domain, spacing, direction, length) =>
      checkLabels(domain, spacing, direction, length),
    ),
    propertyParameters({ short: 1000, long: 20_000 }),
  );
});

function labels(domain: [number, number], spacing: Spacing, whole = false): string[] {
  const { axis } = axisTicks({ domain, length: 500, spacing, direction: "across", whole });
  return axis.ticks.map(axis.tickFormat);
}

test("axisTicks writes all labels of a linear axis in one unit with the same decimals", () => {
  expect(labels([0, 1], "linear")).toEqual(["0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
  expect(labels([0, 50_000], "linear")).toEqual(["0", "10 k", "20 k", "30 k", "40 k", "50 k"]);
  expect(labels([1.2e6, 3.1e6], "linear")).toEqual(["1.5 M", "2.0 M", "2.5 M", "3.0 M"]);
  expect(labels([0, 2.5e-4], "linear")).toEqual(["0", "5e-5", "1.0e-4", "1.5e-4", "2.0e-4", "2.5e-4"]);
});

test("axisTicks writes a small span on a large offset as differences", () => {
  expect(labels([1e9, 1e9 + 4], "linear")).toEqual(["1.00000 G", "+1", "+2", "+3", "+4"]);
});

test("axisTicks writes decades with exponents and 1-2-5 ticks as numbers", () => {
  expect(labels([1e-6, 1e-2], "decades")).toEqual(["1e-6", "1e-5", "1e-4", "1e-3", "1e-2"]);
  expect(labels([10, 10_000], "oneTwoFive")).toEqual([
    "10",
    "20",
    "50",
    "100",
    "200",
    "500",
    "1,000",
    "2,000",
    "5,000",
    "10 k",
  ]);
});

test("axisTicks gives whole ticks only, where half a round makes no sense", () => {
  expect(labels([0, 2], "linear", true)).toEqual(["0", "1", "2"]);
  expect(labels(domainOf([1]), "linear", true)).toEqual(["1"]);
});

test("compact writes a number in few characters", () => {
  const written = [1_234_567, 12_300, 9_999, 950, 0.25, 0.00012, 1e-6, 0, -2e9, 3e15].map(compactLabel);
  expect(written).toEqual(["1.2 M", "12.3 k", "9,999", "950", "0.25", "1.2e-4", "1e-6", "0", "-2 G", "3e15"]);
});

test("axisStepLabels writes every step with the same digits", () => {
  expect(axisStepLabels(2e-4, 5)).toEqual(["0", "0.0002", "0.0004", "0.0006", "0.0008", "0.0010"]);
  expect(axisStepLabels(1.2e-5, 3)).toEqual(["0", "1.2e-5", "2.4e-5", "3.6e-5"]);
  expect(axisStepLabels(80_000, 2)).toEqual(["0", "80 k", "160 k"]);
});

test("domainOf gives a single value a scale", () => {
  expect(domainOf([5, 5])).toEqual([4.5, 5.5]);
  expect(domainOf([0])).toEqual([0, 1]);
  expect(domainOf([2, 1, 3])).toEqual([1, 3]);
});

test("a count has its thousands apart, and zero has no sign", () => {
  expect([636_768, 0, -0, -1200].map(countLabel)).toEqual(["636,768", "0", "0", "-1,200"]);
});
