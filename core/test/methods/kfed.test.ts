// kfed: one shot, late devices, and what never leaves a device.

import {
  adjustedRandIndex,
  complete,
  graph,
  type Matrix,
  matrix,
  path,
  predict,
  randomStream,
  ring,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { kfed, lateKfedLabels } from "../../src/methods/kfed.ts";
import { randomMatrix } from "../problems.ts";

/** Devices that hold `each` points of some of the blobs, in turn; the centres of the blobs lie `apart` from each other. */
function blobs(held: readonly (readonly number[])[], each: number, cols: number, apart: number, shift = 0, seed = 1) {
  const random = randomStream(seed, "blobs");
  const count = 1 + Math.max(...held.flat());
  const centres = toRows(randomMatrix(random, count, cols, apart / Math.sqrt(2 * cols)));
  const labels = held.map((own) => Uint32Array.from({ length: own.length * each }, (_, r) => own[r % own.length]));
  const datasets = labels.map((own) => {
    const noise = toRows(randomMatrix(random, own.length, cols, 1));
    return matrix(noise.map((row, r) => row.map((x, i) => x + centres[own[r]][i] + shift)));
  });
  return { datasets, labels };
}

const flat = (labels: readonly Uint32Array[]) => labels.flatMap((own) => Array.from(own));
const options = { k: 4, alpha: 1, seed: 3 };
const held = [
  [0, 1],
  [2, 3],
  [1, 2],
  [3, 0],
  [0, 2],
];

describe("kfed(datasets, graph, options)", () => {
  it("recovers separated blobs exactly, though no device has seen all", () => {
    for (const cols of [2, 10, 100]) {
      const { datasets, labels } = blobs(held, 15, cols, 60 + 4 * Math.sqrt(cols));
      const model = kfed(datasets, ring(5), { ...options, localCentroids: 2 });
      expect(adjustedRandIndex(flat(model.labels()), flat(labels)), `${cols} columns`).toBe(1);
      const nearest = datasets.map((points, i) => predict(model.centroids[i], points));
      expect(flat(nearest)).toEqual(flat(model.labels()));
    }
  });

  it("sees through the noise of 300 columns by the directions that part the clusters, also far from the origin", () => {
    const all = [0, 1, 2];
    for (const shift of [0, 1e9]) {
      for (const seed of [1, 2, 3]) {
        const { datasets, labels } = blobs([all, all], 20, 300, 8, shift, seed);
        // One start: plain distances would lead it astray.
        const model = kfed(datasets, path(2), { ...options, k: 3, restarts: 1 });
        expect(adjustedRandIndex(flat(model.labels()), flat(labels))).toBeGreaterThan(0.95);
      }
    }
  });

  it("starts Lloyd from the cores: points three times nearer to their centre than to the other", () => {
    // k-means gives 5 and 21; 15 is in the core of neither, so Lloyd starts from 5 and 27, where 15 goes to the left.
    const points = matrix([2, 3, 6, 9, 15, 27].map((x) => [x]));
    const { centroids, labels } = kfed([points], graph(1, []), { ...options, k: 2 });
    expect(Array.from(centroids[0].data).sort((a, b) => a - b)).toEqual([7, 27]);
    expect(adjustedRandIndex(labels()[0], [0, 0, 0, 0, 0, 1])).toBe(1);
  });

  it("gives a late device the labels it would have had on time", () => {
    const { datasets } = blobs([...held, [1, 3, 0]], 12, 5, 40);
    const late = datasets[5];
    for (const localCentroids of [2, 3, 4]) {
      const own = { ...options, localCentroids };
      const onTime = kfed(datasets, complete(6), own);
      const without = kfed(datasets.slice(0, 5), complete(5), own);
      expect(lateKfedLabels(late, onTime.centroids[5], own)).toEqual(onTime.labels()[5]);
      expect(lateKfedLabels(late, without.centroids[0], own)).toEqual(onTime.labels()[5]);
    }
    expect(
      lateKfedLabels(
        matrix([[1, 2]]),
        matrix([
          [0, 0],
          [1, 1],
        ]),
        { ...options, k: 2 },
      ),
    ).toEqual(Uint32Array.of(1));
  });

  it("stays finite where no point is clearly in a cluster, and with duplicates only", () => {
    const random = randomStream(6, "crowd");
    const crowd = Array.from({ length: 4 }, () => randomMatrix(random, 40, 3, 1));
    const same = Array.from({ length: 3 }, () => matrix(Array.from({ length: 9 }, () => [2, 2, 2])));
    const spots = same.map((_, i) =>
      matrix([
        [1, 0, 0],
        [1, 0, 0],
        [i, 5, 0],
        [i, 5, 0],
        [i, 5, 0],
      ]),
    );
    for (const datasets of [crowd, same, spots]) {
      for (const k of [1, 2, 3, 8]) {
        const { centroids } = kfed(datasets, complete(datasets.length), { ...options, k });
        for (const { rows, data } of centroids) {
          expect(rows).toBe(k);
          expect(data.every(Number.isFinite)).toBe(true);
        }
      }
    }
  });

  it("tells fewer centres, never records, where a device has no more points than k", () => {
    const random = randomStream(7, "few");
    for (const sizes of [
      [4, 4],
      [3, 2],
      [5, 1],
      [2, 0],
      [7, 3],
    ]) {
      const datasets = sizes.map((rows) => (rows === 0 ? emptyDevice(2) : randomMatrix(random, rows, 2)));
      const { centroids, bytes } = kfed(datasets, path(2), { ...options, minimum: 2 });
      const records = new Set(datasets.flatMap(toRows).map(String));
      for (const row of toRows(centroids[0])) expect(records.has(String(row))).toBe(false);
      const most = sizes.reduce((sum, rows) => sum + Math.min(4, Math.floor(rows / 2)), 0);
      expect(bytes).toBeLessThanOrEqual(2 * 8 * 2 * most);
    }
  });

  it("begins with the lowest device that told anything, and adds the farthest of the others' centres", () => {
    const datasets = [[[7]], [[0], [0], [4], [4]], [[100], [100], [1], [1]], [[-50], [-50], [5], [5]]].map(matrix);
    const { centroids } = kfed(datasets, path(4), { ...options, localCentroids: 2, minimum: 2, join: "mean" });
    const found = Array.from(centroids[3].data);
    expect([found.slice(0, 2).sort(), found.slice(2)]).toEqual([
      [0.5, 4.5],
      [100, -50],
    ]);
  });

  it("keeps a lone device's own clusters, and says which component has nothing to tell", () => {
    const lone = kfed([matrix([[1], [9]])], graph(1, []), { ...options, k: 2 });
    expect(toRows(lone.centroids[0]).flat().sort()).toEqual([1, 9]);
    expect([lone.messages, lone.bytes]).toEqual([0, 0]);
    expect(() => kfed([matrix([[1]]), matrix([[2]])], path(2), { ...options, k: 1, minimum: 2 })).toThrow(
      "the component of device 0 must have a cluster of at least minimum = 2 points, got none",
    );
  });

  it("floods its centres once, without counts", () => {
    const { datasets } = blobs(
      [
        [0, 1],
        [0, 1],
      ],
      10,
      3,
      40,
    );
    const { messages, bytes, rounds } = kfed(datasets, path(2), { ...options, localCentroids: 2 });
    // Each tells its own two and passes on the other's.
    expect([messages, bytes, rounds]).toEqual([4, 2 * 8 * 2 * 2 * 3, 0]);
  });

  it("joins the flooded centres in the three published forms", () => {
    // Two centres of each device; those of the second stand for few rows.
    const many = Array.from({ length: 9 }, () => [0]);
    const datasets = [matrix([...many, [10]]), matrix([[3], [9]]), matrix([[4], [9.5]])];
    const joined = (join: "mean" | "lloyd" | "weighted") =>
      Array.from(kfed(datasets, path(3), { ...options, k: 2, join }).centroids[0].data).sort((a, b) => a - b);
    expect(joined("mean")).toEqual([(0 + 3 + 4) / 3, (10 + 9 + 9.5) / 3]);
    expect(joined("lloyd")).toEqual(joined("mean"));
    expect(joined("weighted")[0]).toBeCloseTo((9 * 0 + 3 + 4) / 11, 12);
    const bytes = (join: "lloyd" | "weighted") => kfed(datasets, path(3), { ...options, k: 2, join }).bytes;
    expect(bytes("weighted")).toBe(2 * bytes("lloyd"));
    // Farthest-first from 0 and 1 takes 100; one step leaves 6 with 1, Lloyd's iteration goes on to its end.
    const [first, ...others] = [
      [0, 1],
      [6, 100],
      [7, 8],
    ].map((own) => matrix(own.map((x) => [x])));
    const steps = (join: "mean" | "lloyd") =>
      Array.from(kfed([first, ...others], path(3), { ...options, k: 3, localCentroids: 2, join }).centroids[0].data);
    expect(steps("mean").sort((a, b) => a - b)).toEqual([0, (1 + 6 + 7 + 8) / 4, 100]);
    expect(steps("lloyd").sort((a, b) => a - b)).toEqual([0.5, 7, 100]);
  });

  it("refuses what it cannot use, in one line", () => {
    const { datasets } = blobs([[0, 1]], 10, 3, 40);
    const run = (more: object) => () => kfed(datasets, graph(1, []), { ...options, ...more });
    expect(run({ localCentroids: 5 })).toThrow("localCentroids must be an integer from 1 to 4 (k), got 5");
    expect(run({ minimum: 0 })).toThrow("minimum must be an integer of at least 1, got 0");
    expect(run({ join: "median" })).toThrow('join must be one of mean, lloyd, weighted, got "median"');
    const late = () => lateKfedLabels(datasets[0], matrix([[1, 2, 3]]), options);
    expect(late).toThrow("centroids must be 4 x 3 (k), got 1 x 3");
  });
});

function emptyDevice(cols: number): Matrix {
  return { data: new Float64Array(0), rows: 0, cols };
}
