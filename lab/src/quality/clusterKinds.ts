// Data of the kinds that people test a number of clusters on, and noises of many shapes, all from seeds.

import { type Matrix, matrix, normalStream, type Random, randomStream, splitEvenly } from "@fedkm/core";

type Point = readonly number[];

interface Draws {
  readonly even: Random;
  readonly normal: Random;
}

function drawsOf(name: string, seed: number): Draws {
  const even = randomStream(seed, "quality", "kinds", name);
  return { even, normal: normalStream(even) };
}

/** A normal cloud. */
function cloud({ normal }: Draws, centre: Point, sigma: number, points: number): Point[] {
  return Array.from({ length: points }, () => centre.map((x) => x + sigma * normal()));
}

/** An even ball. */
function ball({ even, normal }: Draws, centre: Point, radius: number, points: number): Point[] {
  return Array.from({ length: points }, () => {
    const direction = centre.map(() => normal());
    const length = (radius * Math.cbrt(even())) / Math.hypot(...direction);
    return centre.map((x, at) => x + length * direction[at]);
  });
}

/** Centres in the unit square, each at least so far from the others. */
function apart({ even }: Draws, count: number, least: number): Point[] {
  for (;;) {
    const centres: Point[] = [];
    for (let trial = 0; trial < 2000 && centres.length < count; trial++) {
      const centre = [even(), even()];
      if (centres.every(([x, y]) => Math.hypot(x - centre[0], y - centre[1]) >= least)) centres.push(centre);
    }
    if (centres.length === count) return centres;
  }
}

const onCircle = (count: number, radius: number): Point[] =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });

function jitteredGrid(draws: Draws): Point[] {
  const all = Array.from({ length: 36 }, (_, c) =>
    [c % 6, Math.floor(c / 6)].map((x) => x + 0.6 * (draws.even() - 0.5)),
  );
  for (let gone = 0; gone < 5; gone++) all.splice(Math.floor(draws.even() * all.length), 1);
  return all;
}

/** Three classes in 13 columns with common factors, standardised. */
function wide(draws: Draws): Point[] {
  const { normal } = draws;
  const loadings = Array.from({ length: 13 }, () => [normal() / 2, normal() / 2, normal() / 2]);
  const centres = [0, 1, 2].map(() => Array.from({ length: 13 }, () => 1.15 * normal()));
  const rows = [59, 71, 48].flatMap((points, c) =>
    Array.from({ length: points }, () => {
      const factors = [normal(), normal(), normal()];
      return centres[c].map(
        (x, at) => x + 0.85 * normal() + loadings[at].reduce((sum, own, f) => sum + own * factors[f], 0),
      );
    }),
  );
  const columns = centres[0].map((_, at) => rows.map((row) => row[at]));
  const scales = columns.map((column) => {
    const mean = column.reduce((a, b) => a + b) / column.length;
    return { mean, deviation: Math.sqrt(column.reduce((sum, x) => sum + (x - mean) ** 2, 0) / column.length) };
  });
  return rows.map((row) => row.map((x, at) => (x - scales[at].mean) / scales[at].deviation));
}

/** Name, true k, and how the points are drawn. */
export const clusterKinds: readonly (readonly [string, number, (draws: Draws) => Point[]])[] = [
  ["15, hardly overlapping", 15, (draws) => apart(draws, 15, 0.17).flatMap((at) => cloud(draws, at, 0.035, 333))],
  ["15, overlapping", 15, (draws) => apart(draws, 15, 0.17).flatMap((at) => cloud(draws, at, 0.055, 333))],
  ["35 round", 35, (draws) => apart(draws, 35, 0.115).flatMap((at) => cloud(draws, at, 0.024, 150))],
  ["50 round", 50, (draws) => apart(draws, 50, 0.095).flatMap((at) => cloud(draws, at, 0.0195, 150))],
  ["31 on a grid", 31, (draws) => jitteredGrid(draws).flatMap((at) => cloud(draws, at, 0.155, 100))],
  [
    "rings of 15",
    15,
    (draws) => [...onCircle(1, 0), ...onCircle(6, 2), ...onCircle(8, 6)].flatMap((at) => cloud(draws, at, 0.32, 40)),
  ],
  [
    "3 of 2,000, 5 of 100",
    8,
    (draws) => [
      ...onCircle(3, 0.18).flatMap((at) => cloud(draws, at, 0.03, 2000)),
      ...apart(draws, 5, 0.24).flatMap(([x, y]) => cloud(draws, [1.2 + 0.8 * x, 0.8 * y], 0.045, 100)),
    ],
  ],
  [
    "7 balls",
    7,
    (draws) =>
      [
        [0, 0, 0],
        [3, 0, 0],
        [-3, 0, 0],
        [0, 3, 0],
        [0, -3, 0],
        [0, 0, 3],
        [0, 0, -3],
      ].flatMap((at) => ball(draws, at, 1, 30)),
  ],
  [
    "4 balls, touching",
    4,
    (draws) =>
      [
        [1, 1, 1],
        [1, -1, -1],
        [-1, 1, -1],
        [-1, -1, 1],
      ].flatMap((at) => ball(draws, at, 1.3, 100)),
  ],
  ["3 in 13 columns", 3, wide],
];

const rowsOf = (rows: number, cols: number, draw: () => number): Point[] =>
  Array.from({ length: rows }, () => Array.from({ length: cols }, draw));

export const noises: readonly (readonly [string, (draws: Draws) => Point[]])[] = [
  ["square", ({ even }) => rowsOf(1000, 2, even)],
  ["strip", ({ even }) => rowsOf(1000, 2, even).map(([x, y]) => [20 * x, y])],
  ["disc", ({ even }) => rowsOf(1300, 2, () => 2 * even() - 1).filter(([x, y]) => x * x + y * y < 1)],
  ["triangle", ({ even }) => rowsOf(2000, 2, even).filter(([x, y]) => x + y < 1)],
  ["line", ({ even }) => rowsOf(500, 1, even)],
  ["cube", ({ even }) => rowsOf(1000, 3, even)],
  ["10 even columns", ({ even }) => rowsOf(1000, 10, even)],
  ["normal", ({ normal }) => rowsOf(1000, 2, normal)],
  ["one normal column", ({ normal }) => rowsOf(500, 1, normal)],
  ["10 normal columns", ({ normal }) => rowsOf(500, 10, normal)],
  ["exponential", ({ even }) => rowsOf(1000, 2, () => -Math.log(1 - even()))],
  ["lognormal", ({ normal }) => rowsOf(1000, 2, () => Math.exp(0.7 * normal()))],
  ["Cauchy", ({ normal }) => rowsOf(400, 2, () => normal() / normal())],
  ["60 rows", ({ even }) => rowsOf(60, 2, even)],
  ["normal, 150 x 20", ({ normal }) => rowsOf(150, 20, normal)],
  ["even, 100 x 200", ({ even }) => rowsOf(100, 200, even)],
  ["normal, 200 x 800", ({ normal }) => rowsOf(200, 800, normal)],
];

/** The points of five devices. */
export function dealt(name: string, draw: (draws: Draws) => Point[], seed: number): readonly Matrix[] {
  const points = matrix(draw(drawsOf(name, seed)));
  return splitEvenly({ points, labels: new Uint32Array(points.rows) }, 5, seed).datasets;
}
