// chooseLinks: links between strangers go, links between devices of one kind stay, also where they hold different clusters.

import {
  chooseLinks,
  communities,
  communityData,
  complete,
  edges,
  erdosRenyi,
  type Graph,
  graph,
  type Matrix,
  matrix,
  normalStream,
  paperData,
  path,
  randomStream,
  splitByClasses,
  splitByLabel,
  splitBySizes,
} from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { lnFisher, lnTailOfF } from "../../src/choose/links.ts";

const between = (links: Graph) => Array.from(edges(links)).filter(([i, j]) => i < 5 && j >= 5);

const none: Matrix = { data: new Float64Array(0), rows: 0, cols: 2 };

/** All rows of one paper's set, with their classes. */
function drawn(kind: "iso" | "var" | "aniso", rows: number, seed: number) {
  const { datasets, labels } = paperData(kind, 1, rows, seed);
  return { points: datasets[0], labels: labels[0] };
}

/** Round clusters on the first axis. */
function cloud(places: readonly number[], each: number, seed: number): Matrix {
  const normal = normalStream(randomStream(seed, "cloud"));
  return matrix(places.flatMap((x) => Array.from({ length: each }, () => [x + normal(), normal()])));
}

describe("chooseLinks(datasets, graph, options)", () => {
  it("keeps the links inside two communities and drops those between, from twice the spread of a cluster on", () => {
    for (const shift of [2, 4, 8, 15]) {
      for (const seed of [0, 1]) {
        const { datasets } = communityData(5, 50, seed, shift);
        const links = communities([5, 5], 0.8, 0.3, randomStream(seed, "graph"));
        const { graph: kept, dropped } = chooseLinks(datasets, links, { k: 3, seed });
        expect(dropped, `shift ${shift}`).toEqual(between(links).map(([i, j]) => [i, j]));
        const inside = Array.from(edges(links)).filter(([i, j]) => i >= 5 || j < 5);
        expect(Array.from(edges(kept))).toEqual(inside);
      }
    }
  });

  it("sees smaller differences the more rows there are, and none where there are none", () => {
    const droppedAt = (points: number, shift: number) => {
      const { datasets } = communityData(2, points, 3, shift);
      return chooseLinks(datasets, complete(4), { k: 3 }).dropped.length;
    };
    expect([droppedAt(50, 0.4), droppedAt(1000, 0.4), droppedAt(1000, 0)]).toEqual([0, 4, 0]);
  });

  it("keeps all links where all have the same clusters, with their weights", () => {
    for (const kind of ["iso", "var", "aniso"] as const) {
      const { datasets } = paperData(kind, 4, 50, 1);
      const links = graph(4, [
        [0, 1, 2],
        [1, 2],
        [2, 3, 0.5],
      ]);
      for (const k of [1, 2, 3, 7]) {
        expect(chooseLinks(datasets, links, { k }), `${kind}, k ${k}`).toMatchObject({ graph: links, dropped: [] });
      }
    }
  });

  it("keeps links between devices that hold different clusters, and between unequal ones", () => {
    const links = erdosRenyi(8, 0.5, randomStream(1, "graph"));
    for (const kind of ["iso", "var"] as const) {
      const all = drawn(kind, 400, 2);
      for (const { datasets } of [
        splitByClasses(all, 8, 2, 1),
        splitByClasses(all, 8, 1, 1),
        splitByLabel(all, 8, 0.5, 1),
        splitBySizes(all, [250, 80, 40, 10, 8, 6, 4, 2], 1),
      ]) {
        expect(chooseLinks(datasets, links, { k: 3 }).dropped).toEqual([]);
      }
    }
  });

  it("drops a link where devices have nothing in common and k clusters are too few for both", () => {
    const here = cloud([0, 12], 20, 1);
    const there = cloud([500, 512], 20, 2);
    expect(chooseLinks([here, there], path(2), { k: 2 }).dropped).toEqual([[0, 1]]);
    // Four clusters are enough for both: nobody has to give up one.
    expect(chooseLinks([here, there], path(2), { k: 4 }).dropped).toEqual([]);
  });

  it("tells equal rows of two devices from others, although they do not vary", () => {
    const rows = (x: number) => matrix(Array.from({ length: 8 }, (_, r) => [r % 2 === 0 ? 0.1 : x]));
    expect(chooseLinks([rows(0.7), rows(0.7)], path(2), { k: 2 }).dropped).toEqual([]);
    expect(chooseLinks([rows(0.7), rows(0.8)], path(2), { k: 2 }).dropped).toEqual([[0, 1]]);
  });

  it("asks nothing of devices with few points, and leaves them their links", () => {
    const crowd = cloud([0, 9], 15, 1);
    const far = matrix([
      [500, 0],
      [510, 0],
    ]);
    const { dropped, messages, bytes } = chooseLinks([crowd, far, none], path(3), { k: 2 });
    // Only the first sends anything: a sketch of seven centroids and their counts.
    expect([dropped, messages, bytes]).toEqual([[], 1, 8 * 7 * 3]);
  });

  it("takes a sketch to each neighbour and two messages a link, and sends no mean of fewer rows than the minimum", () => {
    const lonely = matrix([...Array.from({ length: 9 }, (_, x) => [x / 9, 0]), [100, 0]]);
    const { messages, bytes, reveals } = chooseLinks([lonely, lonely], path(2), { k: 2, minimum: 2 });
    // Of the cluster of one row nothing is sent. Then rows, and of two cells count, mean, spread, shape and a flag.
    expect([messages, bytes]).toEqual([4, 8 * (2 * 1 * 3 + (1 + 2 * 6) + 1)]);
    expect(reveals).toMatch(/none of fewer than 2 rows/);
  });

  it("refuses what it cannot use, in one line", () => {
    const run = (more: object) => () => chooseLinks([cloud([0], 9, 1)], graph(1, []), { k: 1, ...more });
    expect(run({ k: 0 })).toThrow("k must be an integer of at least 1, got 0");
    expect(run({ minimum: 0 })).toThrow("minimum must be an integer of at least 1, got 0");
    expect(run({ seed: 0.5 })).toThrow("seed must be an integer, got 0.5");
  });
});

describe("tails of distributions", () => {
  it("lnTailOfF is the closed form of two degrees of freedom, far into the tail, and of one and one", () => {
    for (const below of [1, 3, 10, 90, 2000]) {
      for (const value of [0.01, 0.5, 1, 7, 300]) {
        const expected = (-below / 2) * Math.log1p((2 * value) / below);
        expect(lnTailOfF(value, 2, below) / expected).toBeCloseTo(1, 9);
      }
    }
    for (const value of [0.1, 1, 40]) {
      expect(Math.exp(lnTailOfF(value, 1, 1))).toBeCloseTo(1 - (2 / Math.PI) * Math.atan(Math.sqrt(value)), 11);
    }
    expect([lnTailOfF(0, 3, 4), lnTailOfF(Number.POSITIVE_INFINITY, 3, 4)]).toEqual([0, Number.NEGATIVE_INFINITY]);
  });

  it("lnFisher is one test itself, and p (1 - ln p) of the product of two", () => {
    expect(lnFisher([-12.5])).toBeCloseTo(-12.5, 12);
    expect(lnFisher([-900, -400])).toBeCloseTo(-1300 + Math.log(1301), 9);
    expect(lnFisher([0, 0, 0])).toBeCloseTo(0, 12);
    expect(lnFisher([-3, Number.NEGATIVE_INFINITY])).toBe(Number.NEGATIVE_INFINITY);
  });
});
