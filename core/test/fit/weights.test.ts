// Weights of rows: whole ones are repeated rows to the bit, others mean the same up to rounding.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { propertyParameters } from "../../../test/runs.ts";
import { MOST_REPEATED_ROWS } from "../../src/data/rowWeights.ts";
import {
  adjustedRandIndex,
  complete,
  fit,
  fitRounds,
  kmeans,
  type Matrix,
  matrix,
  methods,
  path,
  takeRows,
} from "../../src/index.ts";

/** The rows as often as their weights say. */
function repeated(points: Matrix, weights: readonly number[]): Matrix {
  return takeRows(
    points,
    weights.flatMap((weight, r) => new Array<number>(weight).fill(r)),
  );
}

const whole = fc.integer({ min: 0, max: 5 });
const coordinate = fc.double({ min: -1e3, max: 1e3, noNaN: true });

/** Rows of one device, at least one of which counts. */
function device(cols: number, least: number) {
  const row = fc.tuple(fc.array(coordinate, { minLength: cols, maxLength: cols }), whole);
  return fc
    .array(row, { minLength: least, maxLength: 40 })
    .filter((rows) => rows.reduce((sum, [, weight]) => sum + weight, 0) >= least)
    .map((rows) => ({ points: matrix(rows.map(([own]) => own)), weights: rows.map(([, weight]) => weight) }));
}

const network = fc
  .record({ cols: fc.integer({ min: 1, max: 6 }), k: fc.integer({ min: 1, max: 4 }), seed: fc.nat(1000) })
  .chain(({ cols, k, seed }) =>
    fc.record({
      k: fc.constant(k),
      seed: fc.constant(seed),
      devices: fc.array(device(cols, k), { minLength: 1, maxLength: 4 }),
    }),
  );

describe("weights of rows", () => {
  it("kmeans with whole weights is kmeans of repeated rows, to the bit", () => {
    fc.assert(
      fc.property(network, ({ k, seed, devices: [{ points, weights }] }) => {
        const weighted = kmeans(points, { k, seed, weights });
        const { labels, ...expected } = kmeans(repeated(points, weights), { k, seed });
        expect(weighted).toMatchObject({ ...expected });
        const every = weights.flatMap((weight, r) => new Array<number>(weight).fill(weighted.labels[r]));
        expect(every).toEqual(Array.from(labels));
        expect(weighted.labels).toHaveLength(points.rows);
      }),
      propertyParameters({ short: 200, long: 2000 }),
    );
  });

  it("fit with whole weights is fit of repeated rows, to the bit", () => {
    fc.assert(
      fc.property(network, ({ k, seed, devices }) => {
        const options = { k, seed, alpha: 0.5, weighting: seed % 2 === 0 ? "sample" : "device" } as const;
        const datasets = devices.map(({ points }) => points);
        const weights = devices.map((own) => own.weights);
        const weighted = fit(datasets, path(devices.length), { ...options, weights });
        const copies = devices.map((own) => repeated(own.points, own.weights));
        const expected = fit(copies, path(devices.length), options);
        expect(weighted.centroids).toEqual(expected.centroids);
        expect(weighted.history).toEqual(expected.history);
        expect(weighted.inertia).toBe(expected.inertia);
        expect(weighted.labels().map(({ length }) => length)).toEqual(datasets.map(({ rows }) => rows));
      }),
      propertyParameters({ short: 200, long: 2000 }),
    );
  });

  /** Three clusters that nobody can miss. */
  const datasets = [0, 1].map((i) =>
    matrix(Array.from({ length: 60 }, (_, r) => [10 * (r % 3) + Math.sin(r + i), Math.cos(3 * r + i)])),
  );
  const wholeWeights = datasets.map(({ rows }, i) => Array.from({ length: rows }, (_, r) => 1 + ((r + i) % 4)));

  it("other weights, and more than can be repeated, give the same clusters up to rounding", () => {
    const expected = fit(datasets, complete(2), { k: 3, alpha: 0.5, weights: wholeWeights });
    for (const factor of [0.3, 1e-9, MOST_REPEATED_ROWS]) {
      const weights = wholeWeights.map((own) => own.map((weight) => factor * weight));
      for (const init of ["auto", "local", "federated"] as const) {
        const found = fit(datasets, complete(2), { k: 3, alpha: 0.5, weights, init });
        expect(found.objective).toBeCloseTo(expected.objective, 6);
        expect(found.inertia / factor).toBeCloseTo(expected.inertia, 4);
        expect(adjustedRandIndex(found.labels()[0], expected.labels()[0])).toBe(1);
      }
      const own = kmeans(datasets[0], { k: 3, weights: weights[0] });
      expect(own.inertia / factor).toBeCloseTo(kmeans(datasets[0], { k: 3, weights: wholeWeights[0] }).inertia, 6);
    }
  });

  it("rows of weight 0 get a label and move nothing", () => {
    const far = matrix([[0], [1], [9], [10], [1e6]]);
    for (const weights of [
      [1, 1, 1, 1, 0],
      [0.5, 0.5, 0.5, 0.5, 0],
    ]) {
      expect(kmeans(far, { k: 2, weights }).centroids.data.toSorted()).toEqual(Float64Array.of(0.5, 9.5));
      const { centroids, labels } = fit([far], complete(1), { k: 2, alpha: 0, weights: [weights] });
      expect(centroids[0].data.toSorted()).toEqual(Float64Array.of(0.5, 9.5));
      expect(labels()[0][4]).toBe(labels()[0][3]);
    }
  });

  it("refuses weights that are none, all 0, of other rows, or that rows could hide behind", () => {
    const refused = (weights: unknown, more: object = {}) => {
      const options = { k: 1, alpha: 1, weights, ...more } as Parameters<typeof fitRounds>[2];
      return expect(() => fitRounds(datasets, complete(2), options));
    };
    refused([[1]]).toThrow("weights must have 2 lists (one for each device), got 1");
    refused([wholeWeights[0], [1]]).toThrow("weights[1] must have 60 numbers (the rows of datasets[1]), got 1");
    refused([wholeWeights[0], wholeWeights[1].map(() => 0)]).toThrow("weights[1] must not all be 0");
    refused([wholeWeights[0], wholeWeights[1].map(() => -1)]).toThrow("weights[1][0] must be");
    refused(wholeWeights, { minimum: 5 }).toThrow('weights must not be used with minimum or privacy "guarded"');
    refused(wholeWeights, { privacy: "guarded" }).toThrow("which count rows");
    const options = { k: 1, alpha: 1, weights: wholeWeights } as unknown as Parameters<typeof methods.consensus>[2];
    expect(() => methods.consensus(datasets, complete(2), options)).toThrow("weights");
  });
});
