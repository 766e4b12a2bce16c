// The noise of a device's own releases: another one for every release, every study's parameter and every device's secret,
// and the same one again only for the very same release.

import type { Matrix } from "@fedkm/core";
import type { RowSummary } from "@fedkm/core/privacy";
import { describe, expect, it } from "vitest";
import { encodeLedger, newLedger } from "../../src/privacy/ledger.ts";
import { PrivateRows } from "../../src/privacy/privateRows.ts";
import { parseStudy } from "../../src/study/study.ts";

/** A grid of few cells, each full of rows: every count is released, and its noise is the count less the rows. */
const study = parseStudy(`name: private
k: 3
alpha: 1
privacy: private
typicalRows: 4000
epsilon: 1
lifetimeEpsilon: 20
features:
  - { name: x, unit: "", min: 0, max: 28 }
  - { name: y, unit: "", min: 0, max: 28 }
`);
const SIDE = 28;
const IN_CELL = 100;
const rows = (() => {
  const data = new Float64Array(2 * SIDE * SIDE * IN_CELL);
  for (let r = 0; r < SIDE * SIDE * IN_CELL; r++) {
    const cell = Math.floor(r / IN_CELL);
    data.set([(cell % SIDE) + 0.5, Math.floor(cell / SIDE) + 0.5], 2 * r);
  }
  return { data, rows: data.length / 2, cols: 2 } satisfies Matrix;
})();
/** Neighbouring data: one row less. */
const fewer = { ...rows, data: rows.data.subarray(2), rows: rows.rows - 1 };

function device(secret: number) {
  const memory = {
    saved: encodeLedger(newLedger(new Uint8Array(32).fill(secret))),
    isLost: false,
    keep: (_: Uint8Array, done: (failure: string | undefined) => void) => done(undefined),
  };
  return new PrivateRows(study, memory, () => {});
}

const noiseIn = ({ weights }: RowSummary) => Array.from(weights, (weight) => weight - IN_CELL);

function released(own: PrivateRows): number[] {
  const { summary } = own;
  if (summary === undefined) throw new Error("nothing was released");
  expect(summary.points.rows).toBe(SIDE * SIDE);
  return noiseIn(summary);
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const product = (x: readonly number[], y: readonly number[]) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b));
}

/** One in 100,000 pairs that have nothing in common is above. */
const CHANCE = 4.4 / SIDE;

describe("the noise of a device's releases", () => {
  it("is another one when a person renews the release of the same rows", () => {
    const own = device(1);
    own.take(rows);
    const releases = [released(own)];
    for (let i = 0; i < 3; i++) {
      own.renew();
      releases.push(released(own));
    }
    for (const [i, a] of releases.entries())
      for (const b of releases.slice(i + 1)) expect(Math.abs(correlation(a, b))).toBeLessThan(CHANCE);
  });

  it("is another one for data that differ in one row, whose difference it would show", () => {
    const [own, neighbour] = [device(1), device(1)];
    own.take(rows);
    neighbour.take(fewer);
    expect(Math.abs(correlation(released(own), released(neighbour)))).toBeLessThan(CHANCE);
  });

  it("is another one on every device", () => {
    const [own, other] = [device(1), device(2)];
    own.take(rows);
    other.take(rows);
    expect(Math.abs(correlation(released(own), released(other)))).toBeLessThan(CHANCE);
  });

  it("is the same one for the same release, so that a restored folder tells nothing more", () => {
    const [own, restored] = [device(1), device(1)];
    own.take(rows);
    restored.take(rows);
    expect(released(restored)).toEqual(released(own));
  });

  it("has the variance that half of the budget pays for, and no number of it repeats its neighbour", () => {
    const own = device(1);
    own.take(rows);
    const noise = released(own);
    // Half of rho at epsilon 1 and delta 1e-5 (0.0306): counts need 1 / (2 rho).
    const expected = 1 / (2 * (0.0306 / 2));
    const variance = noise.reduce((sum, z) => sum + z * z, 0) / noise.length;
    expect(Math.abs(variance / expected - 1)).toBeLessThan(4.4 * Math.sqrt(2 / noise.length) + 0.01);
    expect(Math.abs(correlation(noise.slice(1), noise.slice(0, -1)))).toBeLessThan(CHANCE);
  });
});
