// Data that nobody here made is like this: many small devices, clusters that overlap, rows sorted before they are dealt.

import {
  complete,
  distortion,
  fit,
  graph,
  kmeans,
  type LabelledPoints,
  type Matrix,
  matrix,
  methods,
  normalStream,
  path,
  type Random,
  randomStream,
  ring,
  splitEvenly,
  stack,
  star,
  toRows,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";

/** Round clusters, `rows` points around each centre. */
function clusters(centres: readonly number[][], rows: number, sigma: number, random: Random): LabelledPoints {
  const normal = normalStream(random);
  const points = centres.flatMap(([x, y]) =>
    Array.from({ length: rows }, () => [x + sigma * normal(), y + sigma * normal()]),
  );
  return { points: matrix(points), labels: Uint32Array.from(points, (_, r) => Math.floor(r / rows)) };
}

function centresApart(k: number, apart: number, random: Random): number[][] {
  const centres: number[][] = [];
  while (centres.length < k) {
    const [x, y] = [20 * random() - 10, 20 * random() - 10];
    if (centres.every(([a, b]) => Math.hypot(a - x, b - y) >= apart)) centres.push([x, y]);
  }
  return centres;
}

/** 100 devices with 7 points of eight clusters each, after one device with 100 points of the first cluster. */
function largeAndTiny(seed: number): Matrix[] {
  const random = randomStream(seed, "everybody", "tiny");
  const centres = centresApart(8, 5, random);
  const large = clusters([centres[0]], 100, 0.7, random).points;
  const rest = clusters(centres, 88, 0.7, random);
  const few = { points: matrix(toRows(rest.points).slice(4)), labels: rest.labels.slice(4) };
  return [large, ...splitEvenly(few, 100, seed).datasets];
}

/** The cost of the worst device on all points, over that of the best of several pooled k-means. */
function costsOf(datasets: readonly Matrix[], k: number): (centroids: readonly Matrix[]) => number {
  const all = stack(datasets);
  const best = kmeans(all, { k, restarts: 20 }).inertia;
  return (centroids) => Math.max(...centroids.map((own) => (2 * distortion([all], [own])) / best));
}

describe("devices with fewer rows than k", () => {
  const datasets = largeAndTiny(1);
  const options = { k: 8, alpha: 1, seed: 1 };
  const network = ring(101);

  it("count in fit, consensus and fkm beside a large device that has one of eight clusters", () => {
    const costOf = costsOf(datasets, 8);
    const fitted = fit(datasets, network, { ...options, alpha: 10, weighting: "sample", rounds: 5 });
    expect(costOf(fitted.centroids)).toBeLessThan(1.05);
    expect(costOf(methods.consensus(datasets, network, options).centroids)).toBeLessThan(1.001);
    expect(costOf(methods.fkm(datasets, network, options).centroids)).toBeLessThan(1.05);
  });

  it("are enough without any other, on every network", () => {
    const tiny = datasets.slice(1);
    const costOf = costsOf(tiny, 8);
    for (const links of [ring(100), star(100), path(100)]) {
      const { centroids, converged } = methods.consensus(tiny, links, options);
      expect(converged).toBe(true);
      expect(costOf(centroids)).toBeLessThan(1.001);
    }
    const fitted = fit(tiny, ring(100), { ...options, alpha: 10, weighting: "sample", rounds: 5 });
    expect(costOf(fitted.centroids)).toBeLessThan(1.05);
  });

  it("find 31 clusters that no device has rows for, also where sketches are merged on a path", () => {
    const random = randomStream(2, "everybody", "grid");
    const centres = Array.from({ length: 31 }, (_, c) => [
      3.6 * (c % 6) + random(),
      3.6 * Math.floor(c / 6) + random(),
    ]);
    const own = splitEvenly(clusters(centres, 60, 0.6, random), 120, 2).datasets;
    const costOf = costsOf(own, 31);
    for (const links of [path(120), star(120)]) {
      const { centroids } = methods.consensus(own, links, { k: 31, alpha: 1, seed: 2 });
      expect(costOf(centroids.slice(0, 1))).toBeLessThan(1.05);
    }
  });

  it("start at the common seed with init auto in a component where nobody has k rows", () => {
    const tiny = datasets.slice(1, 31);
    const auto = fit(tiny, ring(30), { ...options, rounds: 0 });
    expect(auto.centroids).toEqual(fit(tiny, ring(30), { ...options, rounds: 0, init: "federated" }).centroids);
    expect(() => fit(tiny, ring(30), { ...options, init: "local" })).toThrow(
      "device 0 must have at least k = 8 points",
    );
  });
});

describe("minimum, on devices with fewer rows than k", () => {
  const pairs = [0, 10, 20].map((at) => matrix([[at], [at + 1], [100 + at], [101 + at]]));
  const seedOf = (minimum: number, links = path(3)) =>
    toRows(fit(pairs, links, { k: 6, alpha: 1, init: "federated", minimum, rounds: 0 }).centroids[0])
      .flat()
      .sort((a, b) => a - b);

  it("sends means of at least so many rows, and no row", () => {
    expect(seedOf(2)).toEqual([0.5, 10.5, 20.5, 100.5, 110.5, 120.5]);
    // One mean of all four rows each, named twice to make six.
    expect(seedOf(3)).toEqual([50.5, 50.5, 60.5, 60.5, 70.5, 70.5]);
  });

  it("is refused where nobody has so many, and does not bind a device without neighbours", () => {
    expect(() => seedOf(5)).toThrow(
      "no device in the component of device 0 has minimum = 5 points; lower minimum or give init",
    );
    expect(new Set(seedOf(5, graph(3, [])))).toEqual(new Set([0, 1, 100, 101]));
  });
});

describe("consensus from a good start", () => {
  it("never rises above it, and comes to rest, with overlapping clusters sorted over a star", () => {
    for (const seed of [1, 2]) {
      const random = randomStream(seed, "everybody", "overlapping");
      const { points } = clusters(centresApart(15, 3, random), 100, 1.5, random);
      const rows = toRows(points).sort(([a], [b]) => a - b);
      const datasets = Array.from({ length: 10 }, (_, i) => matrix(rows.slice(150 * i, 150 * (i + 1))));
      const { history, centroids, converged } = methods.consensus(datasets, star(10), { k: 15, alpha: 1, seed });
      expect(converged).toBe(true);
      history.slice(1).forEach(({ objective }, t) => {
        expect(objective).toBeLessThanOrEqual(history[t].objective * (1 + 1e-12));
      });
      for (const own of centroids) expect(own).toEqual(centroids[0]);
      expect(costsOf(datasets, 15)(centroids)).toBeLessThan(1.05);
    }
  });

  it("makes sweeps where settle, beta or passes says how", () => {
    const datasets = largeAndTiny(3).slice(0, 4);
    const run = (more: object) => methods.consensus(datasets, complete(4), { k: 2, alpha: 1, rounds: 1, ...more });
    // A sweep sends centroids to three neighbours each, a sum goes up and down a tree.
    const sent = (more: object) => {
      const { history } = run(more);
      return history[1].bytes - history[0].bytes;
    };
    expect(sent({})).toBe(2 * 3 * 2 * 3 * 8);
    for (const more of [{ settle: 40 }, { beta: 0.1 }, { passes: 1 }]) expect(sent(more)).toBe(4 * 3 * 2 * 2 * 8);
  });
});
