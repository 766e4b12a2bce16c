// Generated problems for the conformance suite: shapes, scales and degeneracies that break k-means kernels.

import type { Matrix, Points } from "../../src/data/matrix.ts";
import { type Random, randomStream } from "../../src/data/random.ts";

export interface Problem {
  readonly name: string;
  readonly points: Points;
  readonly weights: Float64Array | undefined;
  readonly k: number;
  /** Successive centroids; engines keep state between calls, so their order matters. */
  readonly centroids: readonly Float64Array[];
}

/** A generator seeded with small numbers begins nearly alike for all of them; streams are hashed. */
export function randomOf(number: number, seed = 0): Random {
  return randomStream(seed, "kernel problems", number);
}

/** A normal number, near enough for test data. */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

function choose<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)];
}

/** What is done to blobs to make them hard. Each changes the data in place. */
const TWISTS: Readonly<Record<string, (points: Matrix, random: Random) => void>> = {
  blobs: () => {},
  offset: ({ data }, random) => shift(data, 10 ** (8 * random())),
  "offset 1e8": ({ data }) => shift(data, 1e8),
  outliers: ({ data }, random) => each(data, (x) => (random() < 0.002 ? x * 10 ** (6 * random()) : x)),
  "one outlier": ({ data }, random) => {
    if (data.length > 0) data[Math.floor(random() * data.length)] = 1e6;
  },
  grid: ({ data }) => each(data, Math.round),
  "half grid": ({ data }) => each(data, (x) => Math.round(2 * x) / 2 + 1e8),
  duplicates: ({ data, rows, cols }, random) => {
    for (let r = 1; r < rows; r++) {
      const from = Math.floor(random() * Math.min(r, 5)) * cols;
      if (random() < 0.8) data.copyWithin(r * cols, from, from + cols);
    }
  },
  constant: ({ data }) => data.fill(3.25),
  "constant features": ({ data, cols }) => each(data, (x, i) => ((i % cols) % 3 === 0 ? 7 : x)),
  subnormal: ({ data }) => each(data, (x) => x * 5e-323),
  "tiny squares": ({ data }, random) => scale(data, 10 ** (-160 + 20 * random())),
  tiny: ({ data }) => scale(data, 1e-100),
  huge: ({ data }) => scale(data, 1e120),
  "mixed scales": ({ data, cols }) => each(data, (x, i) => x * 10 ** (((i % cols) % 7) - 3)),
  "nested scales": ({ data, cols }) => each(data, (x, i) => (Math.floor(i / cols) % 2 === 0 ? x * 1e-7 : x)),
  "heavy tails": ({ data }, random) => each(data, (x) => x / (random() + 1e-9)),
  sorted: ({ data, cols }) => data.set(sortedRows(data, cols)),
  sparse: ({ data }, random) => each(data, (x) => (random() < 0.9 ? 0 : x)),
};

function each(data: Float64Array, change: (x: number, index: number) => number): void {
  for (let i = 0; i < data.length; i++) data[i] = change(data[i], i);
}

function shift(data: Float64Array, by: number): void {
  each(data, (x) => x + by);
}

function scale(data: Float64Array, by: number): void {
  each(data, (x) => x * by);
}

function sortedRows(data: Float64Array, cols: number): Float64Array {
  const rows = Array.from({ length: data.length / cols }, (_, r) => data.slice(r * cols, (r + 1) * cols));
  return Float64Array.from(rows.sort((a, b) => a[0] - b[0]).flatMap((row) => Array.from(row)));
}

/** Blobs of m rows, d columns around k centres, then one twist. */
function pointsOf(m: number, d: number, k: number, twist: string, random: Random): Matrix {
  const spread = choose(random, [0, 0.5, 4, 30]);
  const centres = Float64Array.from({ length: k * d }, () => (normal(random) * spread) / Math.sqrt(2 * d));
  const data = new Float64Array(m * d);
  for (let r = 0; r < m; r++) {
    const c = Math.floor(random() * k) * d;
    for (let j = 0; j < d; j++) data[r * d + j] = centres[c + j] + normal(random);
  }
  const points = { data, rows: m, cols: d };
  TWISTS[twist](points, random);
  return points;
}

/** Centroids that are rows, repeat each other, tie, lie far out, and then move a lot, a little, in part or not at all. */
function centroidsOf({ data, rows, cols }: Matrix, k: number, random: Random): Float64Array[] {
  const row = () => (rows === 0 ? 0 : Math.floor(random() * rows) * cols);
  const first = new Float64Array(k * cols);
  for (let c = 0; c < k; c++) {
    const a = row();
    const b = row();
    const kind = random();
    for (let j = 0; j < cols; j++) {
      const x = data[a + j] ?? random();
      first[c * cols + j] = kind < 0.6 ? x : kind < 0.9 ? x / 2 + (data[b + j] ?? 0) / 2 : x;
    }
    if (kind > 0.95 && c > 0) first.copyWithin(c * cols, 0, cols);
    if (kind > 0.99) first[c * cols] += 1e5 * (Math.abs(first[c * cols]) + 1e-300);
  }
  const later = (of: Float64Array, share: number, by: number) =>
    of.map((w) => (random() < share ? w + by * (w - (data[row()] ?? 0)) : w));
  const second = later(first, 1, -0.3);
  const third = later(second, 1, -0.02);
  const fourth = later(third, 0.3, -0.03);
  return [first, second, third, fourth, later(fourth, 1, -1e-9), later(fourth, 0.5, -1)];
}

/** Problem `number` of a seed: every d to 40 and k to 70 comes up, with every twist. */
export function problemOf(number: number, seed = 0, rows?: number): Problem {
  const random = randomOf(number, seed);
  const d = 1 + (number % 40);
  const k = 1 + Math.floor(70 * random() ** 2);
  const twist = Object.keys(TWISTS)[number % Object.keys(TWISTS).length];
  const few = choose(random, [0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 33, 65]) + (random() < 0.002 ? 1500 : 0);
  const m = rows ?? few;
  const points = pointsOf(m, d, k, twist, random);
  const weights =
    random() < 0.25 ? Float64Array.from({ length: m }, () => (random() < 0.1 ? 0 : random() * 3)) : undefined;
  return {
    name: `${twist} m=${m} d=${d} k=${k} number=${number} seed=${seed}`,
    points,
    weights,
    k,
    centroids: centroidsOf(points, k, random),
  };
}

/** A problem of many columns and few clusters, whose rows are scored in strips and moved in groups; more than a chunk. */
export function wideProblemOf(number: number, seed = 0): Problem {
  const random = randomOf(2e6 + number, seed);
  const d = 380 + Math.floor(700 * random());
  const k = 1 + Math.floor(12 * random());
  const m = choose(random, [33, 500, 1_100]);
  return shapedProblem([number, seed], [m, d, k], choose(random, Object.keys(TWISTS)), random);
}

/** Rows, columns and clusters of problems for pair bounds. */
const PAIR_SHAPES = [
  [1_040, 70, 24],
  [90, 257, 40],
  [40, 768, 80],
  [9, 4_096, 40],
  [30, 4_096, 12],
  [200, 64, 90],
  [300, 13, 120],
  [17, 31, 700],
  [1_100, 16, 40],
  [150, 385, 33],
] as const;

/**
 * A problem of many clusters or columns. Centroids jump, then drift for some calls, some of them far and back again, so that
 * bounds of all pairs are used, worn out and begun anew.
 */
export function pairProblemOf(number: number, seed = 0): Problem {
  const random = randomOf(3e6 + number, seed);
  const [m, d, k] = PAIR_SHAPES[number % PAIR_SHAPES.length];
  const [rows, cols, clusters] = [
    m - Math.floor(random() * 8),
    d + Math.floor(random() * 9),
    k + Math.floor(random() * 9),
  ];
  const twists = Object.keys(TWISTS);
  const twist = twists[Math.floor(number / PAIR_SHAPES.length) % twists.length];
  const problem = shapedProblem([number, seed], [rows, cols, clusters], twist, random);
  const { data } = problem.points;
  let last = problem.centroids[4];
  const drifts = [0.01, 0.002, 0.01, 1e-4].map((by) => {
    const goal = Math.floor(random() * rows) * cols;
    last = last.map((w, i) => (random() < 0.5 ? w + by * (data[goal + (i % cols)] - w) : w));
    return last;
  });
  const far = (share: number) =>
    last.map((w, i) => (Math.floor(i / cols) % 7 === 0 ? w + share * (data[i % cols] - w) : w));
  const centroids = [...problem.centroids.slice(0, 5), ...drifts, far(0.9), last, far(-0.7), last];
  return { ...problem, centroids };
}

/** The problem with its points in float32; what that cannot hold is as large as it can be. */
export function narrowProblem(problem: Problem): Problem {
  const { data, rows, cols } = problem.points;
  const most = 3e38;
  const narrow = Float32Array.from(data, (x) => Math.max(-most, Math.min(most, x)));
  return { ...problem, name: `float32 ${problem.name}`, points: { data: narrow, rows, cols } };
}

/** A larger problem, of the shapes that are measured. */
export function largeProblemOf(number: number, seed = 0): Problem {
  const random = randomOf(1e6 + number, seed);
  const [m, d, k] = choose(random, [
    [20_011, 2, 3],
    [5_003, 16, 16],
    [1_001, 64, 64],
    [603, 128, 256],
    [501, 784, 10],
  ] as const);
  const twist = choose(random, Object.keys(TWISTS));
  return shapedProblem([number, seed], [m, d, k], twist, random);
}

function shapedProblem(
  [number, seed]: readonly [number, number],
  [m, d, k]: readonly [number, number, number],
  twist: string,
  random: Random,
): Problem {
  const points = pointsOf(m, d, k, twist, random);
  return {
    name: `${twist} m=${m} d=${d} k=${k} number=${number} seed=${seed}`,
    points,
    weights: undefined,
    k,
    centroids: centroidsOf(points, k, random),
  };
}
