// Rows in pieces: what partialFit answers for all rows so far, against fit of all rows at once.

import { describe, expect, it } from "vitest";
import { randomStream } from "../../src/data/random.ts";
import {
  complete,
  distortion,
  fit,
  type Matrix,
  matrix,
  normalStream,
  partialFit,
  path,
  predict,
  ring,
  stack,
  takeRows,
} from "../../src/index.ts";

/** Rows around so many centres, which all devices have in common, in the order of their centres or mixed. */
function blobs(rows: number, cols: number, groups: number, seed: number, isMixed: boolean, device = 0): Matrix {
  const random = randomStream(seed, "blobs");
  const middle = normalStream(random);
  const normal = normalStream(randomStream(seed, "rows", device));
  const centres = Array.from({ length: groups * cols }, () => 6 * middle());
  const group = (r: number) => (isMixed ? r % groups : Math.floor((r * groups) / rows));
  return matrix(
    Array.from({ length: rows }, (_, r) =>
      Array.from({ length: cols }, (_, c) => centres[group(r) * cols + c] + normal()),
    ),
  );
}

function piecesOf(points: Matrix, size: number): Matrix[] {
  return Array.from({ length: Math.ceil(points.rows / size) }, (_, p) =>
    takeRows(
      points,
      Array.from({ length: Math.min(size, points.rows - p * size) }, (_, r) => p * size + r),
    ),
  );
}

describe("partialFit", () => {
  it("costs at most 1 % more than fit of all rows, in whatever order they come", () => {
    for (const [seed, [cols, k]] of [
      [2, 3],
      [8, 5],
      [5, 20],
    ].entries()) {
      for (const isMixed of [true, false]) {
        const devices = [0, 1].map((i) => blobs(2500, cols, k, seed, isMixed, i));
        const options = { k, alpha: 1, weighting: "sample", seed, summaryRows: 1000 } as const;
        const { summaryRows: _, ...asWhole } = options;
        const whole = fit(devices, path(2), asWhole);
        const pieces = devices.map((own) => piecesOf(own, 500));
        let model: ReturnType<typeof partialFit> | undefined;
        for (const p of pieces[0].keys()) model = partialFit(model, [pieces[0][p], pieces[1][p]], path(2), options);
        if (model === undefined) throw new Error("there are pieces");
        const cost = distortion(devices, model.centroids) / distortion(devices, whole.centroids);
        expect(cost, `${cols} columns, k = ${k}, ${isMixed ? "mixed" : "in order"}`).toBeLessThan(1.01);
        // What a summary no longer shows is counted all the same.
        const { centroids, inertia } = model;
        const exact = 2 * distortion(devices, centroids);
        expect(inertia / exact).toBeCloseTo(1, 2);
        for (const { points, weights } of model.summaries) {
          expect(points.rows).toBeLessThanOrEqual(1000);
          expect(weights.reduce((sum, own) => sum + own, 0)).toBeCloseTo(2500, 6);
        }
      }
    }
  });

  it("is fit as long as the summary holds all rows, and weights count", () => {
    const [a, b] = [0, 1].map((seed) => blobs(90, 3, 3, seed, true));
    const [first, second] = [a, b].map((points) => piecesOf(points, 45));
    const options = { k: 3, alpha: 0.5 };
    const weights = [first, second].map(([own]) => Array.from({ length: own.rows }, (_, r) => 1 + (r % 3)));
    const twice = partialFit(
      partialFit(undefined, [first[0], second[0]], complete(2), { ...options, weights }),
      [first[1], second[1]],
      complete(2),
      options,
    );
    const ones = weights.map((own) => [...own, ...own.map(() => 1)]);
    const whole = fit([a, b], complete(2), { ...options, weights: ones });
    expect(twice.objective).toBeCloseTo(whole.objective, 9);
    expect(twice.inertia).toBeCloseTo(whole.inertia, 6);
    expect(twice.labels().map(({ length }) => length)).toEqual([45, 45]);
  });

  it("keeps the numbers of clusters, and takes devices without new rows", () => {
    const rows = blobs(3000, 2, 4, 9, true);
    const pieces = piecesOf(rows, 300);
    const none = { data: new Float64Array(0), rows: 0, cols: 2 };
    const options = { k: 4, alpha: 1, summaryRows: 400 };
    let model = partialFit(undefined, [pieces[0], pieces[1], pieces[2]], ring(3), options);
    const before = predict(model.centroids[0], rows);
    for (const piece of pieces.slice(3)) model = partialFit(model, [none, piece, none], ring(3), options);
    const after = predict(model.centroids[0], rows);
    const same = before.filter((label, r) => label === after[r]).length;
    expect(same / rows.rows).toBeGreaterThan(0.97);
    expect(stack(model.summaries.map(({ points }) => points)).rows).toBeLessThanOrEqual(1200);
  });

  it("refuses other devices, other columns, too small a summary, and what counts rows", () => {
    const points = blobs(30, 2, 2, 1, true);
    const model = partialFit(undefined, [points], complete(1), { k: 2, alpha: 0 });
    const next =
      (batches: Matrix[], more = {}) =>
      () =>
        partialFit(model, batches, complete(batches.length), { k: 2, alpha: 0, ...more });
    expect(next([points, points])).toThrow("batches must be of 1 devices with 2 columns (as before), got 2 with 2");
    expect(next([blobs(30, 3, 2, 1, true)])).toThrow("got 1 with 3");
    expect(next([points], { summaryRows: 3 })).toThrow("summaryRows must be an integer of at least 4 (twice k), got 3");
    expect(next([points], { privacy: "guarded" })).toThrow("which count rows");
  });
});
