// Sets on which the verdict and the choice of k are tried: ten kinds without clusters, mixtures, and sets like public ones.

import { type Matrix, normalStream, type Random, randomStream } from "@fedkm/core";

type Point = readonly number[];

interface Draws {
  readonly even: Random;
  readonly normal: Random;
}

export function drawsOf(name: string, seed: number): Draws {
  const even = randomStream(seed, "quality", "verdict", name);
  return { even, normal: normalStream(even) };
}

function rowsOf(rows: readonly Point[]): Matrix {
  return { data: Float64Array.from(rows.flat()), rows: rows.length, cols: rows[0].length };
}

const list = (length: number, draw: () => number) => Array.from({ length }, draw);

const pick = <T>({ even }: Draws, of: readonly T[]): T => of[Math.floor(even() * of.length)];

/** Student's t with so many degrees of freedom: a normal row over the root of a chi-square draw over its mean. */
function heavyTailed({ even, normal }: Draws, cols: number, freedom: number): Point {
  let square = 0;
  if (freedom === 1.5) square = chiSquareOfThreeHalves(even);
  else for (let i = 0; i < freedom; i++) square += normal() ** 2;
  const scale = Math.sqrt(freedom / Math.max(1e-12, square));
  return list(cols, () => scale * normal());
}

/** A chi-square draw with 1.5 degrees of freedom: twice a gamma draw of 0.75, by rejection (Ahrens and Dieter). */
function chiSquareOfThreeHalves(even: Random): number {
  const shape = 0.75;
  const bound = 1 + shape / Math.E;
  for (;;) {
    const [u, v] = [bound * even(), even()];
    if (u <= 1) {
      const x = u ** (1 / shape);
      if (v <= Math.exp(-x)) return 2 * x;
    } else {
      const x = -Math.log((bound - u) / shape);
      if (v <= x ** (shape - 1)) return 2 * x;
    }
  }
}

/** A row of each kind without clusters. */
const shapeless: Readonly<Record<string, (draws: Draws, cols: number) => () => Point>> = {
  uniform:
    ({ even }, cols) =>
    () =>
      list(cols, even),
  normal:
    ({ normal }, cols) =>
    () =>
      list(cols, normal),
  correlated: ({ normal }, cols) => {
    const mix = list(cols * cols, normal);
    return () => {
      const z = list(cols, normal);
      return z.map((_, i) => z.reduce((sum, x, j) => sum + mix[i * cols + j] * x, 0));
    };
  },
  lognormal:
    ({ normal }, cols) =>
    () =>
      list(cols, () => Math.exp(normal())),
  "t 3": (draws, cols) => () => heavyTailed(draws, cols, 3),
  "t 1.5": (draws, cols) => () => heavyTailed(draws, cols, 1.5),
  exponential:
    ({ even }, cols) =>
    () =>
      list(cols, () => -Math.log(1 - even())),
  "squared exponential":
    ({ even }, cols) =>
    () =>
      list(cols, () => Math.log(1 - even()) ** 2),
  banana:
    ({ normal }, cols) =>
    () => {
      const x = normal();
      return [x, x * x + 0.3 * normal(), ...list(cols - 2, normal)];
    },
  ring:
    ({ even, normal }, cols) =>
    () => {
      const [angle, radius] = [2 * Math.PI * even(), 1 + 0.15 * normal()];
      return [radius * Math.cos(angle), radius * Math.sin(angle), ...list(cols - 2, () => 0.15 * normal())];
    },
};

export const shapelessKinds = Object.keys(shapeless);

export interface JudgedSet {
  readonly name: string;
  readonly kind: string;
  readonly rows: Matrix;
  readonly k: number;
}

/** The number decides the kind; the rest is drawn. */
export function shapelessSet(number: number, seed: number): JudgedSet {
  const kind = shapelessKinds[number % shapelessKinds.length];
  const draws = drawsOf(`shapeless ${number}`, seed);
  const cols = pick(draws, [2, 3, 5, 10, 30]);
  const n = pick(draws, [150, 150, 150, 150, 300, 300, 300, 300, 1000, 1000, 1000, 5000, 20_000]);
  const k = pick(draws, [2, 3, 4, 6]);
  const draw = shapeless[kind](draws, cols);
  return { name: `${kind} ${n} x ${cols}, k ${k}`, kind, rows: rowsOf(Array.from({ length: n }, draw)), k };
}

export interface LabelledSet extends JudgedSet {
  readonly labels: Uint32Array;
}

const mixtureKinds = ["normal", "even balls", "t 3", "skewed"] as const;

/** Of a row around its centre, with about unit deviation in each column. */
function around(draws: Draws, kind: (typeof mixtureKinds)[number], cols: number): Point {
  const { even, normal } = draws;
  if (kind === "normal") return list(cols, normal);
  if (kind === "t 3") return heavyTailed(draws, cols, 3).map((x) => x / Math.sqrt(3));
  if (kind === "skewed") return list(cols, () => -Math.log(1 - even()) - 1);
  const direction = list(cols, normal);
  const length = (even() ** (1 / cols) * Math.sqrt(cols + 2)) / Math.hypot(...direction);
  return direction.map((x) => x * length);
}

/** Centres of which the two nearest are `separation` apart. */
function centresOf({ normal }: Draws, k: number, cols: number, separation: number): number[][] {
  let best: number[][] = [];
  let score = -1;
  // Of several draws the one whose centres are the least unequal in distance: else all but two would be far.
  for (let trial = 0; trial < 20; trial++) {
    const centres = Array.from({ length: k }, () => list(cols, normal));
    const distances = centres.flatMap((x, i) =>
      centres.slice(0, i).map((y) => Math.hypot(...x.map((own, j) => own - y[j]))),
    );
    const least = Math.min(...distances);
    if (least / Math.max(...distances) <= score) continue;
    score = least / Math.max(...distances);
    best = centres.map((own) => own.map((x) => (x / least) * separation));
  }
  return best;
}

export function mixtureSet(number: number, separation: number, seed: number): LabelledSet {
  const kind = mixtureKinds[number % mixtureKinds.length];
  const draws = drawsOf(`mixture ${number} ${separation}`, seed);
  const cols = pick(draws, [2, 3, 5, 10, 30]);
  const k = pick(draws, [2, 3, 5, 8]);
  const n = Math.max(35 * k, pick(draws, [150, 300, 600, 1500]));
  const isUnequal = draws.even() < 0.5;
  const shares = Array.from({ length: k }, () => (isUnequal ? 0.4 + draws.even() : 1));
  const all = shares.reduce((a, b) => a + b);
  const sizes = shares.map((share) => Math.max(35, Math.round((n * share) / all)));
  return mixed(draws, `${kind} ${n} x ${cols}, k ${k}`, kind, centresOf(draws, k, cols, separation), sizes);
}

function mixed(
  draws: Draws,
  name: string,
  kind: (typeof mixtureKinds)[number],
  centres: readonly Point[],
  sizes: readonly number[],
): LabelledSet {
  const labels = Uint32Array.from(sizes.flatMap((size, c) => Array<number>(size).fill(c)));
  const rows = Array.from(labels, (c) => around(draws, kind, centres[c].length).map((x, j) => x + centres[c][j]));
  return { name, kind, rows: rowsOf(rows), labels, k: centres.length };
}

// Sets of the kinds that people test a number of clusters on, from generators of our own.

interface NamedKind {
  readonly name: string;
  readonly draw: (draws: Draws) => LabelledSet;
}

/** Centres in the unit square, each at least so far from the others. */
function spreadCentres({ even }: Draws, count: number, least: number): number[][] {
  for (;;) {
    const centres: number[][] = [];
    for (let trial = 0; trial < 5000 && centres.length < count; trial++) {
      const centre = [even(), even()];
      if (centres.every(([x, y]) => Math.hypot(x - centre[0], y - centre[1]) >= least)) centres.push(centre);
    }
    if (centres.length === count) return centres;
  }
}

const onCircle = (count: number, radius: number): number[][] =>
  Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count;
    return [radius * Math.cos(angle), radius * Math.sin(angle)];
  });

const scaled = (centres: readonly Point[], by: number) => centres.map((own) => own.map((x) => x * by));
const equal = (k: number, size: number) => Array<number>(k).fill(size);

/** Seven groups of other sizes, two pairs of them joined by a thin bridge. */
function bridged(draws: Draws): LabelledSet {
  const { even } = draws;
  const discs: [number, number, number, number][] = [
    [0, 0, 3.2, 170],
    [9, 1, 3.4, 272],
    [17, -6, 2.2, 102],
    [22, 2, 2.4, 130],
    [27.6, 2, 1.3, 34],
    [6, -9, 1.6, 45],
    [10.5, -9, 1.4, 34],
  ];
  const rows: number[][] = [];
  const labels: number[] = [];
  discs.forEach(([x, y, radius, count], c) => {
    for (let i = 0; i < count; i++) {
      const [angle, away] = [2 * Math.PI * even(), radius * Math.sqrt(even())];
      rows.push([x + away * Math.cos(angle), y + away * Math.sin(angle)]);
      labels.push(c);
    }
  });
  for (const [from, to, y, c] of [
    [24.4, 26.3, 2, 3],
    [7.6, 9.1, -9, 5],
  ]) {
    for (let i = 0; i < 5; i++) {
      rows.push([from + ((to - from) * (i + 0.5)) / 5, y + 0.2 * even()]);
      labels.push(c);
    }
  }
  return { name: "bridged", kind: "even balls", rows: rowsOf(rows), labels: Uint32Array.from(labels), k: 7 };
}

/** Classes with common factors in many columns, standardised. */
function factored(draws: Draws, sizes: readonly number[], cols: number, apart: number): LabelledSet {
  const { normal } = draws;
  const loadings = Array.from({ length: cols }, () => list(3, () => normal() / 2));
  const centres = sizes.map(() => list(cols, () => apart * normal()));
  const labels = Uint32Array.from(sizes.flatMap((size, c) => Array<number>(size).fill(c)));
  const rows = Array.from(labels, (c) => {
    const factors = list(3, normal);
    return centres[c].map(
      (x, j) => x + 0.85 * normal() + loadings[j].reduce((sum, own, f) => sum + own * factors[f], 0),
    );
  });
  return { name: "factored", kind: "normal", rows: standardised(rowsOf(rows)), labels, k: sizes.length };
}

function standardised({ data, rows, cols }: Matrix): Matrix {
  const result = data.slice();
  for (let j = 0; j < cols; j++) {
    const own = list(rows, () => 0).map((_, r) => data[r * cols + j]);
    const mean = own.reduce((a, b) => a + b) / rows;
    const deviation = Math.sqrt(own.reduce((sum, x) => sum + (x - mean) ** 2, 0) / rows) || 1;
    for (let r = 0; r < rows; r++) result[r * cols + j] = (data[r * cols + j] - mean) / deviation;
  }
  return { data: result, rows, cols };
}

const cloud = (
  name: string,
  kind: (typeof mixtureKinds)[number],
  centres: (d: Draws) => Point[],
  sizes: (k: number, d: Draws) => number[],
) => ({
  name,
  draw: (draws: Draws) => {
    const places = centres(draws);
    return mixed(draws, name, kind, places, sizes(places.length, draws));
  },
});

export const clusterKinds: readonly NamedKind[] = [
  cloud(
    "15, hardly overlapping",
    "normal",
    (d) => scaled(spreadCentres(d, 15, 0.17), 1 / 0.033),
    (k) => equal(k, 333),
  ),
  cloud(
    "15, overlapping a little",
    "normal",
    (d) => scaled(spreadCentres(d, 15, 0.17), 1 / 0.045),
    (k) => equal(k, 333),
  ),
  cloud(
    "15, overlapping",
    "normal",
    (d) => scaled(spreadCentres(d, 15, 0.17), 1 / 0.055),
    (k) => equal(k, 333),
  ),
  cloud(
    "35 round",
    "normal",
    (d) => scaled(spreadCentres(d, 35, 0.115), 1 / 0.024),
    (k) => equal(k, 150),
  ),
  cloud(
    "50 round",
    "normal",
    (d) => scaled(spreadCentres(d, 50, 0.095), 1 / 0.0195),
    (k) => equal(k, 150),
  ),
  cloud(
    "31 on a grid",
    "normal",
    ({ even }) => {
      const all = Array.from({ length: 36 }, (_, c) =>
        [c % 6, Math.floor(c / 6)].map((x) => (x + 0.6 * (even() - 0.5)) / 0.155),
      );
      for (let gone = 0; gone < 5; gone++) all.splice(Math.floor(even() * all.length), 1);
      return all;
    },
    (k) => equal(k, 100),
  ),
  cloud(
    "15 in rings",
    "normal",
    () => scaled([...onCircle(1, 0), ...onCircle(6, 2), ...onCircle(8, 6)], 1 / 0.32),
    (k) => equal(k, 40),
  ),
  cloud(
    "3 large, 5 small",
    "normal",
    (d) => [
      ...scaled(onCircle(3, 0.2), 1 / 0.035),
      ...spreadCentres(d, 5, 0.26).map(([x, y]) => [35 + 24 * x, 24 * y]),
    ],
    () => [...equal(3, 1500), ...equal(5, 100)],
  ),
  cloud(
    "7 balls",
    "even balls",
    () =>
      scaled(
        [[0, 0, 0], ...[0, 1, 2].flatMap((j) => [3, -3].map((x) => [0, 1, 2].map((i) => (i === j ? x : 0))))],
        Math.sqrt(5),
      ),
    (k) => equal(k, 30),
  ),
  cloud(
    "4 balls, touching",
    "even balls",
    () =>
      scaled(
        [
          [1, 1, 1],
          [1, -1, -1],
          [-1, 1, -1],
          [-1, -1, 1],
        ],
        Math.sqrt(5) / 1.35,
      ),
    (k) => equal(k, 100),
  ),
  cloud(
    "3 small",
    "normal",
    (d) => centresOf(d, 3, 2, 5),
    (k) => equal(k, 40),
  ),
  cloud(
    "4 small, unequal",
    "normal",
    (d) => centresOf(d, 4, 2, 5),
    () => [80, 50, 30, 25],
  ),
  cloud(
    "3, separation 4",
    "normal",
    (d) => centresOf(d, 3, 2, 4),
    (k) => equal(k, 100),
  ),
  cloud(
    "5 with tails t 3",
    "t 3",
    (d) => centresOf(d, 5, 4, 8),
    (k) => equal(k, 400),
  ),
  cloud(
    "6 skewed, unequal",
    "skewed",
    (d) => centresOf(d, 6, 5, 5),
    (_, { even }) => list(6, () => Math.round(100 + 300 * even())),
  ),
  cloud(
    "5 in 20 columns",
    "normal",
    (d) => centresOf(d, 5, 20, 5),
    (k) => equal(k, 80),
  ),
  cloud(
    "2 in 30 columns",
    "normal",
    (d) => centresOf(d, 2, 30, 5),
    () => [126, 225],
  ),
  { name: "3 in 13 columns", draw: (d) => factored(d, [59, 71, 48], 13, 1.15) },
  { name: "7 in 18 columns", draw: (d) => factored(d, equal(7, 330), 18, 1.3) },
  { name: "7, two bridges", draw: bridged },
];

/** Five clusters with tails in which single rows lie a thousand deviations away. */
export function heavyTailedSet(seed: number): LabelledSet {
  const draws = drawsOf("heavy tails", seed);
  const centres = scaled(onCircle(5, 1), 12);
  const labels = Uint32Array.from({ length: 2000 }, (_, r) => r % 5);
  const rows = Array.from(labels, (c) => heavyTailed(draws, 2, 1.5).map((x, j) => x + centres[c][j]));
  return { name: "5 with tails t 1.5", kind: "t 1.5", rows: rowsOf(rows), labels, k: 5 };
}
