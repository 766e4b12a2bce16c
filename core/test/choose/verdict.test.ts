// The verdict on clusters: not clear where there are none, whatever the silhouette says, and clear where rows leave gaps.

import { clusterVerdict, graph, kmeans, type Matrix, normalStream, randomStream } from "@fedkm/core";
import { expect, test } from "vitest";

function rowsOf(rows: number, cols: number, row: (r: number) => number[]): Matrix {
  return { data: Float64Array.from(Array.from({ length: rows }, (_, r) => row(r)).flat()), rows, cols };
}

function verdictOn(points: Matrix, k: number, seed = 1) {
  return clusterVerdict([points], graph(1, []), kmeans(points, { k, seed }).centroids, { seed });
}

const SEED = 20261118;
const random = randomStream(SEED);
const normal = normalStream(randomStream(SEED, "normal"));
const list = (cols: number, value: () => number) => Array.from({ length: cols }, value);

const shapeless: Record<string, (cols: number) => number[]> = {
  uniform: (cols) => list(cols, random),
  normal: (cols) => list(cols, normal),
  lognormal: (cols) => list(cols, () => Math.exp(normal())),
  exponential: (cols) => list(cols, () => -Math.log(1 - random())),
  "of heavy tails": (cols) => {
    const tail = Math.abs(normal()) + 1e-6;
    return list(cols, () => normal() / tail);
  },
  "of five steps": (cols) => list(cols, () => Math.floor(5 * random())),
  "of two values": (cols) => list(cols, () => Math.floor(2 * random())),
};

test.each(Object.keys(shapeless))("rows that are %s have no clusters, however they are cut", (kind) => {
  const words = [2, 3, 4, 5].flatMap((k) =>
    [
      [1200, 2],
      [300, 3],
      [150, 10],
    ].map(
      ([rows, cols]) =>
        verdictOn(
          rowsOf(rows, cols, () => shapeless[kind](cols)),
          k,
        ).word,
    ),
  );
  expect(words.filter((word) => word === "clear")).toEqual([]);
  expect(words.filter((word) => word === "none").length).toBeGreaterThanOrEqual(11);
});

test.each([
  [2, 2],
  [4, 2],
  [3, 10],
  [5, 5],
])("%i clusters in %i columns with gaps between them are clear", (k, cols) => {
  const points = rowsOf(100 * k, cols, (r) => list(cols, normal).map((x, j) => x + (j === 0 ? 6 * (r % k) : 0)));
  const { word, pairs } = verdictOn(points, k);
  expect([word, pairs.every(({ isApart }) => isApart)]).toEqual(["clear", true]);
});

test("a cluster that is cut in two is weak, and the two are named", () => {
  const points = rowsOf(600, 2, (r) => [normal() + 9 * (r % 2), (r % 2 === 0 ? 3 : 1) * normal()]);
  const { word, pairs } = verdictOn(points, 3);
  expect([word, pairs.filter(({ isApart }) => !isApart).length]).toEqual(["weak", 1]);
});

test("a ring is not clear, although its parts have a hole between them", () => {
  const ring = rowsOf(1000, 2, () => {
    const [angle, radius] = [2 * Math.PI * random(), 1 + 0.15 * normal()];
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });
  for (const k of [2, 3, 4]) expect(verdictOn(ring, k).word).not.toBe("clear");
});

test("few rows are too few to tell", () => {
  expect(
    verdictOn(
      rowsOf(12, 2, (r) => [normal() + 9 * (r % 3), normal()]),
      3,
    ).word,
  ).toBe("too few rows");
});
