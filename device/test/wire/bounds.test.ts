// Centroids at the bounds of a study: taken at them, and not one step of a double beyond, in every place of a frame.

import { describe, expect, it } from "vitest";
import type { Contract } from "../../src/wire/frames.ts";
import { decodeFrame, encodeCentroidsFrame } from "../../src/wire/studyFrames.ts";
import { said } from "../problem.ts";

const bounds = [
  { low: -100, high: 100 },
  { low: 0, high: 1 },
  { low: 5, high: 7.5 },
];
const contract: Contract = {
  k: 2,
  d: bounds.length,
  hash: Uint8Array.from({ length: 16 }, (_, i) => i + 1),
  low: Float64Array.from(bounds, ({ low }) => low),
  high: Float64Array.from(bounds, ({ high }) => high),
};

/** The next double above or below. */
function beyond(value: number, sign: number): number {
  const step = Math.max(Math.abs(value) * 2 ** -52, Number.MIN_VALUE);
  return value + sign * step;
}

function fate(cluster: number, column: number, value: number): string {
  const rows = [0, 1].map(() => bounds.map(({ low, high }) => (low + high) / 2));
  rows[cluster][column] = value;
  const frame = encodeCentroidsFrame(contract, { epoch: 1, sequence: 1 }, said(rows.flat(), [true, true]));
  const decoded = decodeFrame(contract, frame);
  return decoded.kind === "refused" ? decoded.reason : decoded.kind;
}

describe.each([0, 1])("centroid %d", (cluster) => {
  it.each(bounds.map((own, column) => [column, own.low, own.high]))(
    "in column %d is taken from %d to %d and refused beyond",
    (column, low, high) => {
      for (const value of [low, beyond(low, 1), (low + high) / 2, beyond(high, -1), high])
        expect(fate(cluster, column, value), String(value)).toBe("centroids");
      for (const value of [beyond(low, -1), low - 1, -1e150, beyond(high, 1), high + 1, 1e150])
        expect(fate(cluster, column, value), String(value)).toBe("bounds");
      for (const value of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY])
        expect(fate(cluster, column, value), String(value)).toBe("number");
    },
  );
});
