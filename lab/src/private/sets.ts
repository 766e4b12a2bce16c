// Sets on which private clusters are measured: drawn ones, and those that scikit-learn has or draws, where it is at hand.

import { spawnSync } from "node:child_process";
import { type Matrix, normalStream, randomStream } from "@fedkm/core";
import { findPython } from "../python.ts";

/** Epsilon, and the bars of the median and of the worst seed as ratios of the cost without noise, if there are. */
type Bar = readonly [epsilon: number, median?: number, worst?: number];

export interface PrivateSet {
  readonly name: string;
  /** Within [-1, 1] in every column. */
  readonly rows: Matrix;
  readonly k: number;
  readonly bars: readonly Bar[];
}

/** Clusters in [-1, 1]; skewed ones have sizes 1:2:..:k and columns of unequal widths. */
export function blobs(cols: number, k: number, deviation: number, isSkewed: boolean, rows = 20_000): Matrix {
  const random = randomStream(7 * cols + k, "blobs");
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: k * cols }, () => 1.4 * random() - 0.7);
  const deviations = centres.map(() => deviation * (isSkewed ? 0.5 + random() : 1));
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    // The larger root of a uniform number grows with the numbers below it: sizes 1:2:..:k.
    const c = Math.floor(isSkewed ? (Math.sqrt(1 + 4 * k * (k + 1) * random()) - 1) / 2 : k * random());
    for (let i = 0; i < cols; i++) {
      const at = Math.min(c, k - 1) * cols + i;
      data[r * cols + i] = Math.min(1, Math.max(-1, centres[at] + deviations[at] * normal()));
    }
  }
  return { data, rows, cols };
}

const easy = [
  [0.5, 1.005, 1.01],
  [1, 1.005, 1.01],
  [5, 1.005, 1.01],
] as const;
const wide = (median: number, worst: number) =>
  [
    [0.1, median, worst],
    [0.5, 1.04, 1.08],
    [1, 1.02, 1.05],
    [5, 1.02, 1.05],
  ] as const;
const plain = [
  [0.5, 1.1, 1.2],
  [1, 1.05, 1.1],
  [5, 1.03, 1.06],
] as const;

export const drawnSets = (): PrivateSet[] => [
  { name: "2 columns, k 4", rows: blobs(2, 4, 0.1, false), k: 4, bars: easy },
  { name: "2 columns, k 16, skewed", rows: blobs(2, 16, 0.06, true), k: 16, bars: plain },
  { name: "8 columns, k 8", rows: blobs(8, 8, 0.15, false), k: 8, bars: easy },
  { name: "8 columns, k 16, skewed", rows: blobs(8, 16, 0.2, true), k: 16, bars: plain },
  { name: "16 columns, k 4", rows: blobs(16, 4, 0.2, false), k: 4, bars: easy },
  { name: "16 columns, k 16, skewed", rows: blobs(16, 16, 0.25, true), k: 16, bars: plain },
  { name: "50 columns, k 2", rows: blobs(50, 2, 0.3, false), k: 2, bars: easy },
  { name: "50 columns, k 16", rows: blobs(50, 16, 0.15, false), k: 16, bars: wide(1.95, 2.4) },
  { name: "50 columns, k 16, skewed", rows: blobs(50, 16, 0.35, true), k: 16, bars: wide(1.32, 1.4) },
  { name: "50 columns, k 8", rows: blobs(50, 8, 0.5, false), k: 8, bars: wide(1.08, 1.2) },
];

const SCALED = "2 * (X - X.min(0)) / np.maximum(X.max(0) - X.min(0), 1e-12) - 1";
const IN_BALL = "(X - X.mean(0)) / np.sqrt(((X - X.mean(0)) ** 2).sum(1)).max()";

/** What scikit-learn loads or draws as X, scaled; undefined where it is not at hand. */
function fromPython(loads: string, scaled: string): Matrix | undefined {
  const { command, modules } = findPython();
  if (!modules.has("sklearn")) return undefined;
  const code = `import sys, numpy as np
from sklearn.datasets import *
X = ${loads}
X = ${scaled}
sys.stdout.buffer.write(np.array(X.shape, "<f8").tobytes() + np.ascontiguousarray(X, "<f8").tobytes())`;
  const { stdout } = spawnSync(command, ["-c", code], { maxBuffer: 2 ** 28 });
  const [rows, cols, ...data] = new Float64Array(new Uint8Array(stdout).buffer);
  return { data: Float64Array.from(data), rows, cols };
}

function setOf(name: string, k: number, rows: Matrix | undefined, bars: readonly Bar[]): PrivateSet[] {
  return rows === undefined ? [] : [{ name, k, rows, bars }];
}

/** Those that it brings. */
export const bundledSets = (): PrivateSet[] => [
  ...setOf("digits", 10, fromPython("load_digits().data", "X / 8 - 1"), [
    [0.5, 2, 2.2],
    [1, 1.27, 1.35],
    [5, 1.03, 1.05],
  ]),
  ...setOf("breast", 2, fromPython("load_breast_cancer().data", SCALED), [
    [0.5, 1.6, 2.2],
    [1, 1.06, 1.15],
    [5, 1.03, 1.05],
  ]),
  ...setOf("iris", 3, fromPython("load_iris().data", SCALED), [[0.5], [1], [5]]),
  ...setOf("wine", 3, fromPython("load_wine().data", SCALED), [[0.5], [1], [5]]),
];

/** Clusters and columns of those that papers draw with it, 20,000 rows in the unit ball. */
const PUBLISHED = [4, 16, 64, 128].flatMap((cols) => [4, 16, 64].map((k) => [k, cols] as const));

export const publishedSets = (): PrivateSet[] =>
  PUBLISHED.flatMap(([k, cols]) => {
    const draws = `make_blobs(n_samples=20000, n_features=${cols}, centers=${k}, random_state=1)[0]`;
    return setOf(`make_blobs, ${cols} columns, k ${k}`, k, fromPython(draws, IN_BALL), [[0.5], [1], [5]]);
  });
