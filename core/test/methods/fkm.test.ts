// fkm: rounds of local improvement and flooded weighted k-means, also where devices miss clusters.

import {
  distortion,
  graph,
  matrix,
  methods,
  type PaperKind,
  type Partition,
  paperData,
  path,
  ring,
  splitByLabel,
  stack,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { fkm } from "../../src/methods/fkm.ts";

const network = ring(10);
const options = { k: 3, alpha: 1, seed: 1 };

function skewed(kind: PaperKind, seed: number): Partition {
  const { datasets, labels } = paperData(kind, 10, 100, seed);
  const drawn = { points: stack(datasets), labels: Uint32Array.from(labels.flatMap((own) => Array.from(own))) };
  return splitByLabel(drawn, 10, 0.2, seed);
}

describe("fkm(datasets, graph, options)", () => {
  it("costs at most 5 % more than pooled k-means after 5 rounds of strong label skew", () => {
    for (const kind of ["iso", "var", "aniso"] as const) {
      for (const seed of [1, 2, 3, 4, 5]) {
        const { datasets } = skewed(kind, seed);
        const pooled = distortion(datasets, methods.pooled(datasets, network, options).centroids);
        const { centroids, rounds } = fkm(datasets, network, { ...options, seed, rounds: 5 });
        expect(rounds).toBeLessThanOrEqual(5);
        expect(distortion(datasets, centroids) / pooled, `${kind} ${seed}`).toBeLessThan(1.05);
      }
    }
  });

  it("reports round 0 and every further one, and stops where nothing moves", () => {
    const { datasets } = skewed("aniso", 1);
    const model = fkm(datasets, network, { ...options, rounds: 100 });
    expect(model.converged).toBe(true);
    expect(model.history.map(({ round }) => round)).toEqual(Array.from({ length: model.rounds + 1 }, (_, t) => t));
    const last = model.history[model.rounds];
    expect([last.objective, last.messages, last.bytes]).toEqual([model.objective, model.messages, model.bytes]);
    expect(last.largestMove).toBe(0);
    expect(fkm(datasets, network, { ...options, rounds: 1 })).toMatchObject({ rounds: 1, converged: false });
    expect(fkm(datasets, network, { ...options, rounds: 0 }).history.length).toBe(1);
  });

  it("comes to rest also with more centroids than clusters", () => {
    for (const kind of ["var", "aniso"] as const) {
      for (const seed of [1, 2, 3, 4]) {
        const { datasets } = skewed(kind, seed);
        const model = fkm(datasets, network, { ...options, k: 6, seed, rounds: 100 });
        expect(model.converged, `${kind} ${seed}`).toBe(true);
      }
    }
  });

  it("keeps the balance of the points: weighted means of the clusters make the mean of all", () => {
    const { datasets } = skewed("iso", 2);
    const [centroids] = fkm(datasets, network, { ...options, k: 1, minimum: 1 }).centroids;
    const all = toRows(stack(datasets));
    for (const column of [0, 1]) {
      expect(centroids.data[column]).toBeCloseTo(all.reduce((sum, row) => sum + row[column], 0) / all.length, 10);
    }
  });

  it("drops centroids without local points, so a device cannot drag what it has not seen", () => {
    const left = matrix([[0], [1], [2]]);
    const right = matrix([[100], [101], [102]]);
    const { centroids } = fkm([left, right], path(2), { ...options, k: 2, localIterations: 3 });
    expect(toRows(centroids[0]).flat().sort()).toEqual([1, 101]);
  });

  it("tells no mean of fewer points than the minimum, where anybody is told", () => {
    const crowd = [[0], [0.5], [1]];
    const lonely = [[50]];
    const pair = [matrix([...crowd, ...lonely]), matrix(crowd)];
    const farthest = (more: object) => Math.max(...fkm(pair, path(2), { ...options, k: 2, ...more }).centroids[0].data);
    expect(farthest({ rounds: 0, minimum: 2 })).toBeLessThanOrEqual(1);
    expect(farthest({ minimum: 2 })).toBeLessThan(50);
    // As the start of fit, a baseline is not handicapped unless somebody asks for it.
    expect(farthest({})).toBe(50);
    const alone = fkm([pair[0]], graph(1, []), { ...options, k: 2, minimum: 2 });
    expect(Math.max(...alone.centroids[0].data)).toBe(50);
    const singles = [matrix([[1]]), matrix([[3]])];
    expect(() => fkm(singles, path(2), { ...options, k: 2, minimum: 2 })).toThrow(
      "the component of device 0 must have a cluster of at least minimum = 2 points, got none",
    );
  });

  it("counts a flood of means and counts for every round", () => {
    const two = paperData("iso", 2, 40, 3).datasets;
    const { history } = fkm(two, path(2), { ...options, rounds: 2 });
    // Each tells its own three means and counts and passes on the other's.
    history.forEach(({ messages, bytes }, t) => {
      expect([messages, bytes]).toEqual([4 * (t + 1), 2 * 8 * (t + 1) * 2 * 3 * (2 + 1)]);
    });
  });

  it("gives every component its own answer", () => {
    const sets = [0, 10, 1000, 1010].map((at) => matrix([[at], [at + 1], [at + 2]]));
    const apart = graph(4, [
      [0, 1],
      [2, 3],
    ]);
    const { centroids } = fkm(sets, apart, { ...options, k: 2 });
    expect(toRows(centroids[0]).flat().sort()).toEqual([1, 11]);
    expect(toRows(centroids[3]).flat().sort()).toEqual([1001, 1011]);
  });

  it("stops when the signal says so, and refuses what it cannot use", () => {
    const { datasets } = skewed("iso", 1);
    const run = (more: object) => () => fkm(datasets, network, { ...options, ...more });
    expect(run({ signal: AbortSignal.abort() })).toThrow();
    expect(run({ localIterations: 0 })).toThrow("localIterations must be an integer of at least 1, got 0");
    expect(run({ minimum: 0 })).toThrow("minimum must be an integer of at least 1, got 0");
    expect(run({ rounds: -1 })).toThrow("rounds must be an integer of at least 0, got -1");
  });
});
