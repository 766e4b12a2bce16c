// Sets on which private clusters are measured: those that numpy or scikit-learn draws or has, where they are at hand.

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

/** Clusters in [-1, 1] of rows that deviate by as much. */
export function blobs(cols: number, k: number, deviation: number, rows: number): Matrix {
  const random = randomStream(7 * cols + k, "blobs");
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: k * cols }, () => 1.4 * random() - 0.7);
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    const c = Math.floor(k * random());
    for (let i = 0; i < cols; i++) {
      data[r * cols + i] = Math.min(1, Math.max(-1, centres[c * cols + i] + deviation * normal()));
    }
  }
  return { data, rows, cols };
}

/** What Python finds as X; undefined where scikit-learn, which brings numpy, is not at hand. */
function fromPython(lines: readonly string[]): Matrix | undefined {
  const { command, modules } = findPython();
  if (!modules.has("sklearn")) return undefined;
  const code = [
    "import sys, numpy as np",
    "from sklearn.datasets import *",
    ...lines,
    'sys.stdout.buffer.write(np.array(X.shape, "<f8").tobytes() + np.ascontiguousarray(X, "<f8").tobytes())',
  ];
  const { stdout } = spawnSync(command, ["-c", code.join("\n")], { maxBuffer: 2 ** 28 });
  const [rows, cols, ...data] = new Float64Array(new Uint8Array(stdout).buffer);
  return { data: Float64Array.from(data), rows, cols };
}

function setOf(name: string, k: number, rows: Matrix | undefined, bars: readonly Bar[]): PrivateSet[] {
  return rows === undefined ? [] : [{ name, k, rows, bars }];
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

/** 20,000 rows around centres in [-0.7, 0.7]; skewed ones have sizes 1:2:..:k and columns of unequal widths. */
function drawnSet(cols: number, k: number, deviation: number, bars: readonly Bar[], isSkewed = false): PrivateSet[] {
  const [sizes, widths] = isSkewed
    ? [`np.arange(1.0, ${k + 1})`, `g.uniform(0.5, 1.5, (${k}, ${cols}))`]
    : [`np.ones(${k})`, `np.ones((${k}, ${cols}))`];
  const lines = [
    `g = np.random.default_rng(${7 * cols + k})`,
    `centres = g.uniform(-0.7, 0.7, (${k}, ${cols}))`,
    `sizes = ${sizes}`,
    `labels = g.choice(${k}, 20000, p=sizes / sizes.sum())`,
    `widths = ${deviation} * ${widths}`,
    `X = np.clip(centres[labels] + g.normal(size=(20000, ${cols})) * widths[labels], -1, 1)`,
  ];
  return setOf(`${cols} columns, k ${k}${isSkewed ? ", skewed" : ""}`, k, fromPython(lines), bars);
}

/** Those that numpy draws. */
export const drawnSets = (): PrivateSet[] => [
  ...drawnSet(2, 4, 0.1, easy),
  ...drawnSet(2, 16, 0.06, plain, true),
  ...drawnSet(8, 8, 0.15, easy),
  ...drawnSet(8, 16, 0.2, plain, true),
  ...drawnSet(16, 4, 0.2, easy),
  ...drawnSet(16, 16, 0.25, plain, true),
  ...drawnSet(50, 2, 0.3, easy),
  ...drawnSet(50, 16, 0.15, wide(1.95, 2.4)),
  ...drawnSet(50, 16, 0.35, wide(1.32, 1.4), true),
  ...drawnSet(50, 8, 0.5, wide(1.08, 1.2)),
];

const SCALED = "X = 2 * (X - X.min(0)) / np.maximum(X.max(0) - X.min(0), 1e-12) - 1";
const IN_BALL = "X = (X - X.mean(0)) / np.sqrt(((X - X.mean(0)) ** 2).sum(1)).max()";

/** Those that scikit-learn brings. */
export const bundledSets = (): PrivateSet[] => [
  ...setOf("digits", 10, fromPython(["X = load_digits().data / 8 - 1"]), [
    [0.5, 2, 2.2],
    [1, 1.27, 1.35],
    [5, 1.03, 1.05],
  ]),
  ...setOf("breast", 2, fromPython(["X = load_breast_cancer().data", SCALED]), [
    [0.5, 1.6, 2.2],
    [1, 1.06, 1.15],
    [5, 1.03, 1.05],
  ]),
  ...setOf("iris", 3, fromPython(["X = load_iris().data", SCALED]), [[0.5], [1], [5]]),
  ...setOf("wine", 3, fromPython(["X = load_wine().data", SCALED]), [[0.5], [1], [5]]),
];

/** Clusters and columns of those that papers draw with it, 20,000 rows in the unit ball. */
const PUBLISHED = [4, 16, 64, 128].flatMap((cols) => [4, 16, 64].map((k) => [k, cols] as const));

export const publishedSets = (): PrivateSet[] =>
  PUBLISHED.flatMap(([k, cols]) => {
    const draws = `make_blobs(n_samples=20000, n_features=${cols}, centers=${k}, random_state=1)[0]`;
    return setOf(`make_blobs, ${cols} columns, k ${k}`, k, fromPython([`X = ${draws}`, IN_BALL]), [[0.5], [1], [5]]);
  });
