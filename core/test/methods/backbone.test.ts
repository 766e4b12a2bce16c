// backbone: many centres of every device, joined; with counts, with noise.

import { distortion, graph, kmeans, matrix, methods, paperData, path, ring, stack, toRows } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type BackboneOptions, backbone } from "../../src/methods/backbone.ts";

describe("backbone(datasets, graph, options)", () => {
  const { datasets } = paperData("iso", 8, 60, 5);
  const network = ring(8);
  const options = { k: 3, alpha: 1, seed: 5 };
  const pooled = distortion(datasets, methods.pooled(datasets, network, options).centroids);
  const cost = (more: Partial<BackboneOptions>) =>
    distortion(datasets, backbone(datasets, network, { ...options, ...more }).centroids) / pooled;

  it("finds separated clusters, nearly as well as pooled, with counts and without", () => {
    expect(cost({})).toBeLessThan(1.05);
    expect(cost({ counts: true })).toBeLessThan(1.01);
  });

  it("lets a crowd count more than a few only when counts are told", () => {
    const crowd = Array.from({ length: 30 }, () => [0]);
    const data = [matrix([...crowd, [1]])];
    const centre = (counts: boolean) =>
      backbone(data, graph(1, []), { ...options, k: 1, backboneSize: 2, counts }).centroids[0].data[0];
    expect(centre(false)).toBe(0.5);
    expect(centre(true)).toBeCloseTo(1 / 31, 12);
  });

  it("tells 2 k + 2 centres, or as many as there are points, and counts if asked to", () => {
    const two = [datasets[0], matrix(toRows(datasets[1]).slice(0, 5))];
    const plain = backbone(two, path(2), options);
    const counted = backbone(two, path(2), { ...options, counts: true });
    expect([plain.messages, plain.bytes]).toEqual([4, 2 * 8 * (8 + 5) * 2]);
    expect([counted.messages, counted.bytes]).toEqual([4, 2 * 8 * (8 + 5) * 3]);
    const small = backbone(two, path(2), { ...options, backboneSize: 4 });
    expect(small.bytes).toBe(2 * 8 * (4 + 4) * 2);
  });

  it("tells no centre of fewer points than the minimum", () => {
    const two = [datasets[0], matrix(toRows(datasets[1]).slice(0, 5))];
    const { centroids, bytes } = backbone(two, path(2), { ...options, backboneSize: 5, minimum: 2 });
    const alone = backbone(two, path(2), { ...options, backboneSize: 5 });
    expect(bytes).toBeLessThan(alone.bytes);
    expect(centroids[0].data.every(Number.isFinite)).toBe(true);
    const tooFew = () => backbone([matrix([[1]]), matrix([[2]])], path(2), { ...options, minimum: 3 });
    expect(tooFew).toThrow("the component of device 0 must have a cluster of at least minimum = 3 points, got none");
  });

  it("is k-means itself on one device whose every point is a centre", () => {
    const points = matrix(toRows(stack(datasets)).slice(0, 40));
    const { centroids } = backbone([points], graph(1, []), { ...options, backboneSize: 40 });
    const reference = kmeans(points, { k: 3, restarts: 20 });
    expect(2 * distortion([points], centroids)).toBeCloseTo(reference.inertia, 9);
  });

  describe("with noise", () => {
    const bounds = [
      [-14, 14],
      [-14, 14],
    ] as const;

    it("costs the more the smaller epsilon is, and little with a large one", () => {
      const [much, some, none] = [1, 100, 1e9].map((epsilon) => cost({ epsilon, bounds, counts: true }));
      expect(none).toBeLessThan(1.01);
      expect(some).toBeLessThan(much);
    });

    it("is of mean 0 and mean size range * columns / epsilon on every record, another on every device", () => {
      // A device of one record and without links keeps what it has made of it.
      const lone = Array.from({ length: 4000 }, () => matrix([[3, 3]]));
      const wide = [
        [0, 4],
        [0, 40],
      ] as const;
      const { centroids } = backbone(lone, graph(4000, []), {
        ...options,
        k: 1,
        restarts: 1,
        epsilon: 2,
        bounds: wide,
      });
      [4, 40].forEach((scale, column) => {
        const noise = centroids.map(({ data }) => (data[column] - 3) / scale);
        const mean = (values: number[]) => values.reduce((sum, x) => sum + x, 0) / values.length;
        expect(Math.abs(mean(noise))).toBeLessThan(0.1);
        expect(Math.abs(mean(noise.map(Math.abs)) - 1)).toBeLessThan(0.1);
        // A Laplace number is beyond its scale with probability 1 / e.
        expect(Math.abs(mean(noise.map((x) => (Math.abs(x) > 1 ? 1 : 0))) - 1 / Math.E)).toBeLessThan(0.05);
        expect(new Set(noise).size).toBe(4000);
      });
    });

    it("takes the range of all points where no bounds are declared, and is drawn from the seed", () => {
      const all = [-1, 0, 2].map((x) => matrix([[x, 10 * x]]));
      const run = (more: Partial<BackboneOptions>) =>
        backbone(all, graph(3, []), { ...options, k: 1, epsilon: 0.5, ...more }).centroids;
      const declared = [
        [-1, 2],
        [-10, 20],
      ] as const;
      expect(run({})).toEqual(run({ bounds: declared }));
      expect(run({ seed: 6 })).not.toEqual(run({}));
    });

    it("is off by default", () => {
      const lone = matrix([[3, 3]]);
      expect(backbone([lone], graph(1, []), { ...options, k: 1 }).centroids[0]).toEqual(lone);
    });

    it("clips values to the bounds", () => {
      const outlier = matrix([[1000, 0]]);
      const { centroids } = backbone([outlier], graph(1, []), { ...options, k: 1, epsilon: 1e9, bounds });
      expect(centroids[0].data[0]).toBeCloseTo(14, 5);
    });
  });

  it("refuses what it cannot use, in one line", () => {
    const run = (more: object) => () => backbone(datasets, network, { ...options, ...more });
    const pair = [0, 1] as const;
    expect(run({ backboneSize: 0 })).toThrow("backboneSize must be an integer of at least 1, got 0");
    expect(run({ bounds: [pair, pair] })).toThrow(
      "epsilon must be a finite number above 0 (with bounds), got undefined",
    );
    expect(run({ epsilon: 1, bounds: [pair] })).toThrow(
      "bounds must have 2 pairs (one for each column of datasets), got 1",
    );
    expect(run({ epsilon: 1, bounds: [pair, [3, 3]] })).toThrow(
      "bounds[1][1] must be a finite number above 3 (bounds[1][0]), got 3",
    );
    expect(run({ epsilon: 1e-300, bounds: [pair, pair] })).toThrow(
      /^datasets\[0\] with noise must hold finite numbers/,
    );
  });
});
