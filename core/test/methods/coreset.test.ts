// coreset: its weights and sizes, how near it comes to pooled; and what holds for every method that floods.

import {
  complete,
  connectedComponents,
  distortion,
  graph,
  kmeans,
  type Matrix,
  matrix,
  methods,
  paperData,
  path,
  ring,
  splitBySizes,
  stack,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { backbone } from "../../src/methods/backbone.ts";
import { coreset } from "../../src/methods/coreset.ts";
import { fkm } from "../../src/methods/fkm.ts";
import { kfed } from "../../src/methods/kfed.ts";
import { forAllProblems } from "../problems.ts";

const sum = (values: ArrayLike<number>) => Array.from(values).reduce((a, b) => a + b, 0);

/** Whether a component has anything to tell: enough points on one device, or any where nobody is told. */
const enough = (points: number) => (sizes: readonly number[]) =>
  sizes.some((rows) => rows >= (sizes.length === 1 ? 1 : points));

describe("every method that floods", () => {
  const table = [
    { name: "coreset", method: coreset, speaks: enough(1) },
    { name: "backbone", method: backbone, speaks: enough(1) },
    { name: "kfed", method: kfed, speaks: enough(2) },
    { name: "fkm", method: fkm, speaks: enough(2) },
  ] as const;

  for (const { name, method, speaks } of table) {
    it(`${name} gives k finite centroids, one set for each component, or says which component has nothing to tell`, () => {
      forAllProblems(name, 60, ({ datasets, network, k, cols, alpha }) => {
        const component = connectedComponents(network);
        const silent = Array.from(component).findIndex((c) => {
          const sizes = datasets.filter((_, i) => component[i] === c).map(({ rows }) => rows);
          return !speaks(sizes);
        });
        const run = () => method(datasets, network, { k, alpha, restarts: 2 });
        if (silent >= 0) {
          expect(run).toThrow(new RegExp(`^the component of device ${silent} must have a .*, got none$`));
          return;
        }
        const { centroids, objective, messages, bytes } = run();
        centroids.forEach((own, i) => {
          expect([own.rows, own.cols]).toEqual([k, cols]);
          expect(own.data.every(Number.isFinite)).toBe(true);
          const lowest = component.indexOf(component[i]);
          expect(own.data).toEqual(centroids[lowest].data);
          if (i > lowest) expect(own.data).not.toBe(centroids[lowest].data);
        });
        expect(Number.isFinite(objective)).toBe(true);
        const linked = network.neighbours.some((row) => row.length > 0);
        expect(messages > 0 && bytes > 0).toBe(linked);
      });
    });

    it(`${name} gives the same bytes for the same seed, and leaves its arguments alone`, () => {
      const { datasets } = paperData("var", 5, 30, 3);
      const before = datasets.map(toRows);
      const run = () => method(datasets, ring(5), { k: 4, alpha: 1, seed: 9 });
      expect(run()).toEqual(run());
      expect(datasets.map(toRows)).toEqual(before);
    });

    it(`${name} refuses a wrong k, alpha, seed or restarts in one line`, () => {
      const run = (more: object) => () => method([matrix([[1], [2]])], graph(1, []), { k: 1, alpha: 1, ...more });
      expect(run({ k: 0 })).toThrow("k must be an integer of at least 1, got 0");
      expect(run({ alpha: -1 })).toThrow("alpha must be a finite number of at least 0, got -1");
      expect(run({ seed: 0.5 })).toThrow("seed must be an integer, got 0.5");
      expect(run({ restarts: 0 })).toThrow("restarts must be an integer of at least 1, got 0");
    });
  }
});

describe("coreset(datasets, graph, options)", () => {
  const { datasets, labels } = paperData("iso", 8, 60, 4);
  const network = ring(8);
  const options = { k: 3, alpha: 1, seed: 4 };
  const uneven = splitBySizes(
    { points: stack(datasets), labels: Uint32Array.from(labels.flatMap((own) => Array.from(own))) },
    [200, 100, 100, 50, 20, 8, 2, 0],
    1,
  ).datasets;

  it("weighs as much as there are points, on every device, before any clipping", () => {
    for (const coresetSize of [0, 7, 480, 2000]) {
      const { parts } = coreset(uneven, network, { ...options, coresetSize });
      parts.forEach(({ points, weights }, i) => {
        expect(points.rows).toBe(weights.length);
        expect(sum(weights)).toBeCloseTo(uneven[i].rows, 8);
      });
    }
  });

  it("solves weighted k-means on all parts, with 0 for a negative weight", () => {
    const { parts, centroids } = coreset(uneven, network, { ...options, k: 5, coresetSize: 60 });
    const weights = parts.flatMap((part) => Array.from(part.weights));
    expect(Math.min(...weights)).toBeLessThan(0);
    const points = stack(parts.map((part) => part.points));
    const clipped = { k: 5, weights: weights.map((weight) => Math.max(0, weight)) };
    const fixed = kmeans(points, { ...clipped, init: centroids[0] });
    expect(fixed.centroids).toEqual(centroids[0]);
    expect(fixed.inertia).toBeLessThan(1.01 * kmeans(points, clipped).inertia);
  });

  it("samples t points in each component, and none where points cost nothing", () => {
    const apart = graph(8, [
      [0, 1],
      [1, 2],
      [3, 4],
      [4, 5],
    ]);
    for (const coresetSize of [1, 2, 50, 333]) {
      const samples = coreset(uneven, network, { ...options, coresetSize }).parts.map((part) => part.samples);
      expect(sum(samples)).toBe(coresetSize);
      expect(samples.slice(6)).toEqual([0, 0]);
      const joined = coreset([...uneven.slice(0, 6), uneven[1], uneven[2]], apart, { ...options, coresetSize });
      const perDevice = joined.parts.map((part) => part.samples);
      expect([sum(perDevice.slice(0, 3)), sum(perDevice.slice(3, 6))]).toEqual([coresetSize, coresetSize]);
      expect(perDevice.slice(6)).toEqual([coresetSize, coresetSize]);
    }
    const byDefault = coreset(uneven, network, options).parts.map((part) => part.samples);
    expect(sum(byDefault)).toBe(20 * 3 * 8);
  });

  it("sends raw records, of which the costly ones are drawn more often", () => {
    const far = [100, 0];
    const near = Array.from({ length: 99 }, (_, i) => [i / 99, 0]);
    const { parts } = coreset([matrix([...near, far])], graph(1, []), { ...options, k: 1, coresetSize: 400 });
    const records = new Set([...near, far].map(String));
    const samples = toRows(parts[0].points).slice(0, 400);
    for (const row of samples) expect(records.has(String(row))).toBe(true);
    expect(samples.filter((row) => row[0] === 100).length).toBeGreaterThan(200);
  });

  it("with data that cost nothing sends the centres and their counts", () => {
    const spots = matrix([
      [0, 0],
      [0, 0],
      [9, 9],
    ]);
    const { parts, centroids } = coreset([spots, spots], path(2), { ...options, k: 2 });
    for (const { samples, weights } of parts) {
      expect(samples).toBe(0);
      expect(Array.from(weights).sort()).toEqual([1, 2]);
    }
    expect(distortion([spots, spots], centroids)).toBe(0);
  });

  it("names centres twice where a component has fewer points than k", () => {
    const { centroids } = coreset([matrix([[1], [5]])], graph(1, []), { ...options, k: 6 });
    expect(Array.from(centroids[0].data).sort()).toEqual([1, 1, 1, 5, 5, 5]);
  });

  it("costs at most 5 % more than pooled k-means with t = 20 k n", () => {
    for (const kind of ["iso", "var", "aniso"] as const) {
      for (const seed of [1, 2, 3]) {
        const { datasets } = paperData(kind, 10, 100, seed);
        const cost = (centroids: readonly Matrix[]) => distortion(datasets, centroids);
        const pooled = cost(methods.pooled(datasets, ring(10), options).centroids);
        const found = cost(coreset(datasets, ring(10), { ...options, seed, coresetSize: 20 * 3 * 10 }).centroids);
        expect(found / pooled, `${kind} ${seed}`).toBeLessThan(1.05);
      }
    }
  });

  it("counts both floods: one number each, then every point with its weight", () => {
    const two = datasets.slice(0, 2);
    const { parts, messages, bytes } = coreset(two, path(2), { ...options, coresetSize: 10 });
    expect(parts.map(({ points }) => points.rows)).toEqual(parts.map(({ samples }) => samples + 3));
    // Each tells its own and passes on the other's.
    expect(messages).toBe(2 * 2 * 2);
    expect(bytes).toBe(2 * 8 * (2 + (10 + 2 * 3) * (2 + 1)));
  });

  it("refuses a negative size", () => {
    const run = () => coreset(datasets, complete(8), { ...options, coresetSize: -1 });
    expect(run).toThrow("coresetSize must be an integer of at least 0, got -1");
  });
});
