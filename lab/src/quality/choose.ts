// Do the devices find k and alpha without pooling? True k, no clusters where there are none, an alpha that does no harm;
// and the kinds of data that this is tried on.

import {
  chooseAlpha,
  chooseK,
  communities,
  communityData,
  distortion,
  erdosRenyi,
  fit,
  type Graph,
  type Matrix,
  matrix,
  normalStream,
  type PaperKind,
  paperData,
  type Random,
  randomStream,
  ring,
  splitBySizes,
  splitEvenly,
} from "@fedkm/core";
import { print } from "../measure.ts";
import { kinds, median } from "./problems.ts";

// Data of the kinds that people test a number of clusters on, and noises of many shapes, all from seeds.

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
const clusterKinds: readonly (readonly [string, number, (draws: Draws) => Point[]])[] = [
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

const noises: readonly (readonly [string, (draws: Draws) => Point[]])[] = [
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
function dealt(name: string, draw: (draws: Draws) => Point[], seed: number): readonly Matrix[] {
  const points = matrix(draw(drawsOf(name, seed)));
  return splitEvenly({ points, labels: new Uint32Array(points.rows) }, 5, seed).datasets;
}

const SEEDS = 20;
const KIND_SEEDS = 4;
const SIZES = [4, 6, 10, 20, 40, 60, 100, 130, 230, 400];

const network = (seed: number) => erdosRenyi(10, 0.7, randomStream(seed, "graph"));

function unequal(kind: PaperKind, seed: number): readonly Matrix[] {
  const { datasets, labels } = paperData(kind, 1, 1000, seed);
  return splitBySizes({ points: datasets[0], labels: labels[0] }, SIZES, seed).datasets;
}

/** 100 points for each of ten devices, drawn one by one. */
function drawn(seed: number, point: (even: () => number, normal: () => number) => number[]): readonly Matrix[] {
  const even = randomStream(seed, "quality", "one cluster");
  const normal = normalStream(even);
  return Array.from({ length: 10 }, () => matrix(Array.from({ length: 100 }, () => point(even, normal))));
}

export function kChosen(first: number): void {
  const cases: [string, number, (seed: number) => readonly Matrix[]][] = [
    ...kinds.map((kind): (typeof cases)[number] => [kind, 3, (seed) => paperData(kind, 10, 100, seed).datasets]),
    ...kinds.map((kind): (typeof cases)[number] => [`${kind}, unequal`, 3, (seed) => unequal(kind, seed)]),
    ["one round cluster", 1, (seed) => drawn(seed, (_, normal) => [normal(), normal()])],
    ["one long cluster", 1, (seed) => drawn(seed, (_, normal) => [9 * normal(), normal()])],
    ["evenly spread", 1, (seed) => drawn(seed, (even) => [even(), even()])],
  ];
  const rows = cases.map(([name, k, make]) => {
    const choices = Array.from({ length: SEEDS }, (_, s) =>
      chooseK(make(first + s), network(first + s), { seed: first + s }),
    );
    const right = (by: "k" | "elbow" | "silhouette") => String(choices.filter((choice) => choice[by] === k).length);
    return [
      name,
      String(k),
      right("k"),
      right("elbow"),
      right("silhouette"),
      String(choices.filter(({ agree }) => !agree).length),
      String(median(choices.map(({ messages }) => messages))),
      String(Math.round(median(choices.map(({ bytes }) => bytes)) / 1000)),
    ];
  });
  print(`choose, k: 10 devices, 1,000 points, p = 0.7, no options, how often right of ${SEEDS}`, [
    ["data", "true k", "chosen", "elbow", "silhouette", "disagreement said", "messages", "kB"],
    ...rows,
  ]);
}

/** Kinds of data that others test with, and noises, on a ring of five devices. */
export function kindsChosen(first: number): void {
  const all = [...clusterKinds, ...noises.map(([name, draw]) => [name, 1, draw] as const)];
  const rows = all.map(([name, k, draw]) => {
    const choices = Array.from({ length: KIND_SEEDS }, (_, s) =>
      chooseK(dealt(name, draw, first + s), ring(5), { seed: first + s }),
    );
    const right = (by: "k" | "elbow" | "silhouette") => String(choices.filter((choice) => choice[by] === k).length);
    const wrong = choices.filter((choice) => choice.k !== k).map((choice) => choice.k);
    return [name, String(k), right("k"), wrong.join(" "), right("elbow"), right("silhouette")];
  });
  print(`choose, k: kinds of clusters and of noise, 5 devices, no options, how often right of ${KIND_SEEDS}`, [
    ["data", "true k", "chosen", "else", "elbow", "silhouette"],
    ...rows,
  ]);
}

/** 50 points for each device to choose with, 200 fresh ones to judge by. */
export function alphaChosen(first: number): void {
  const blocks = (between: number) => (seed: number) => communities([5, 5], 0.8, between, randomStream(seed, "graph"));
  const cases: [string, (seed: number) => readonly Matrix[], (seed: number) => Graph][] = [
    ["two communities, p between 0", (seed) => communityData(5, 250, seed).datasets, blocks(0)],
    ["two communities, p between 0.1", (seed) => communityData(5, 250, seed).datasets, blocks(0.1)],
    ...kinds.map((kind): (typeof cases)[number] => [kind, (seed) => paperData(kind, 10, 250, seed).datasets, network]),
  ];
  const rows = cases.map(([name, make, links]) => {
    const results = Array.from({ length: SEEDS }, (_, s) => alphaRun(make(first + s), links(first + s), first + s));
    const worst = Math.max(...results.map(({ ratio }) => ratio));
    return [
      name,
      `${results.filter(({ ratio }) => ratio <= 1.5).length} of ${SEEDS}`,
      worst.toFixed(3),
      Math.max(...results.map(({ strongest }) => strongest)).toFixed(1),
      String(results.filter(({ alone }) => alone).length),
      String(median(results.map(({ alpha }) => alpha))),
      String(median(results.map(({ messages }) => messages))),
    ];
  });
  print(`choose, alpha: 10 devices, 50 points each, loss on fresh points relative to the best alpha, ${SEEDS} seeds`, [
    ["data", "within 1.5", "worst", "worst if alpha were 10", "alone", "median alpha", "messages"],
    ...rows,
  ]);
}

function alphaRun(drawn: readonly Matrix[], links: Graph, seed: number) {
  const part = (from: number, to: number) =>
    drawn.map(({ data, cols }) => ({ data: data.slice(cols * from, cols * to), rows: to - from, cols }));
  const [datasets, fresh] = [part(0, 50), part(50, 250)];
  const { alpha, alone, curve, messages } = chooseAlpha(datasets, links, { k: 3, seed });
  const losses = curve.map((score) =>
    distortion(fresh, fit(datasets, links, { k: 3, alpha: score.alpha, seed }).centroids),
  );
  const best = Math.min(...losses);
  const ratio = losses[curve.findIndex((score) => score.alpha === alpha)] / best;
  return { alpha, alone, messages, ratio, strongest: losses[losses.length - 1] / best };
}
