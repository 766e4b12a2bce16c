// Pair bounds: labels and sums of the reference on problems of many clusters and columns, by one thread and by two.

import { afterAll, beforeAll, expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { codeBall, codeStep } from "../../src/kernel/codes.ts";
import { createWasmMachine, type WasmMachine } from "../../src/kernel/module.ts";
import { pickEngine } from "../../src/kernel/pick.ts";
import { FIELD } from "../../src/kernel/placedPoints.ts";
import { nodeHost } from "../../src/kernel/threads/node.ts";
import { startThreadPool, type ThreadedKernel } from "../../src/kernel/threads/threadedKernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare, pairEngines } from "./compare.ts";
import { type Problem, pairProblemOf, randomOf } from "./problems.ts";

// In 190 problems every shape meets every twist; each third of them still has all shapes and all twists.
const PROBLEMS = runs({ short: 190, long: 2_090 });
const STEP = runs({ short: 3, long: 1 });

const alone = pairEngines.map((engine) => wasmKernel(engine));
let pools: ThreadedKernel[];

beforeAll(async () => {
  pools = await Promise.all(
    pairEngines.map((engine) => startThreadPool(nodeHost, { threads: 2 }, { engine, worthwhile: 0 })),
  );
});

afterAll(() => Promise.all(pools.map((pool) => pool.close())));

/** Devices of up to 1,024 rows are left to one thread. */
function problemDifferences(number: number): string[] {
  const problem = pairProblemOf(number, testSeed);
  return compare(problem, problem.points.rows > 1_024 ? [...alone, ...pools] : alone);
}

test.each([0, 1, 2, 3])(
  `pair bounds on 1 and 2 threads leave the bits of the reference, quarter %i of ${Math.ceil(PROBLEMS / STEP)} problems`,
  (part) => {
    const wrong: string[] = [];
    for (let number = part * STEP; number < PROBLEMS; number += 4 * STEP) wrong.push(...problemDifferences(number));
    expect(wrong).toEqual([]);
  },
);

/**
 * Rows in the middle of two of many centroids that are all about as far from each other, at all distances from the border.
 * Every `each`th centroid goes towards the next by `place(call)`: for the rows between them nothing but its way tells.
 */
function between(d: number, each: number, place: (call: number) => number): Problem {
  const random = randomOf(d);
  const k = 64;
  const centres = Array.from({ length: k }, () => {
    const direction = Array.from({ length: d }, () => random() - 0.5);
    return direction.map((x) => (100 * x) / Math.hypot(...direction));
  });
  const towards = (c: number, share: number) => centres[c].map((x, j) => x + share * (centres[(c + 1) % k][j] - x));
  const rows = Array.from({ length: 600 }, (_, r) =>
    towards(r % k, 0.5 + (random() - 0.5) * 10 ** (-0.7 - 4 * random())),
  );
  const centroids = Array.from({ length: 60 }, (_, call) =>
    Float64Array.from(centres.flatMap((centre, c) => (c % each === 0 ? towards(c, place(call)) : centre))),
  );
  const points = { data: Float64Array.from(rows.flat()), rows: rows.length, cols: d };
  return { name: `between d=${d}`, points, weights: undefined, k, centroids };
}

// A unit of the bounds is about 5e-5 of the way to the next centroid.
test.each([1e-6, 3e-5, 1e-3])("centroids that drift by %d of their way a call get the rows that they reach", (way) => {
  for (const d of [33, 130])
    expect(
      compare(
        between(d, 3, (call) => way * call),
        alone,
      ),
    ).toEqual([]);
});

test("a centroid that goes to and fro until its ways add up to more than a bound holds gets its rows each time", () => {
  for (const d of [33, 130])
    expect(
      compare(
        between(d, 32, (call) => 0.2 * (call % 2)),
        alone,
      ),
    ).toEqual([]);
});

/** Whole numbers whose squares add up to `square`, the largest first. */
function wholeVector(d: number, square: number): number[] {
  let left = square;
  return Array.from({ length: d }, () => {
    const x = Math.floor(Math.sqrt(left));
    left -= x * x;
    return x;
  });
}

interface Ties {
  readonly rows: number;
  readonly k: number;
  /** The longest row, nearly. */
  readonly spread?: number;
  /** By what every coordinate of a row is rounded towards its last centroid, and so away from the other. */
  readonly rounded?: number;
  /** By what every coordinate of both centroids is rounded, so that the square of the one seems smaller, of the other larger. */
  readonly off?: number;
}

/**
 * Of the coordinates of the two centroids: half of the way from one to the other. The score of both in 16 columns ends in
 * nearly 2^14, which an index takes off.
 */
const APART = 793;

/**
 * Rows as far from their last centroid as from another with a lower index, to which they belong; a call before, theirs was
 * nearer. Codes have a step and a grain of 1, so that they are wrong by nothing but what is asked for.
 */
function ties(d: number, { rows, k, spread = 40_000, rounded = 0, off = 0 }: Ties): Problem {
  const random = randomOf(d);
  const data = new Float64Array(rows * d);
  for (let r = 0; r < rows; r++) {
    const pairs = Array.from({ length: d / 2 }, () => Math.floor((spread / Math.sqrt(d)) * random()));
    const sum = () => pairs.reduce((total, x) => total + x, 0);
    if (off > 0) pairs[0] -= sum() % (APART / off);
    // On the border: orthogonal to the way between the centroids, of which `off` goes across.
    const aside = [(off * sum()) / APART + (rounded * d) / 2, 0];
    pairs.forEach((x, i) => {
      data[r * d + 2 * i] = x + aside[Math.min(1, i)] - rounded;
      data[r * d + 2 * i + 1] = -x + aside[Math.min(1, i)] - rounded;
    });
  }
  // Where the ball of the codes takes its samples: their median is the origin, and the longest makes a step of 1.
  const longest = wholeVector(d, Math.round((32_700 / 1.1) ** 2));
  for (const count of [511, 63])
    for (let i = 0; i < count; i++)
      data.set(
        longest.map((x) => (i % 16 === 0 ? x : 0)),
        Math.floor((i * rows) / count) * d,
      );
  // The longest centroid makes a grain of 1.
  const reach = 1.01 * (32_700 + rounded * Math.sqrt(d));
  const far = wholeVector(d, Math.round((Math.sqrt(reach ** 2 + 2 ** 31) - reach) ** 2)).map((x) => -x);
  const others = Array.from({ length: k - 2 }, () => far).flat();
  const at = (x: number, across: number) => Array.from({ length: d }, (_, j) => x + (j % 2 === 0 ? across : -across));
  const centroids = [-100, 0].map((way) => {
    return Float64Array.from([...at(-APART, off), ...at(APART + way, -off), ...others]);
  });
  return { name: `ties d=${d}`, points: { data, rows, cols: d }, weights: undefined, k, centroids };
}

test.each<[string, Ties]>([
  ["codes are exact", { rows: 20_000, k: 3 }],
  ["rows are rounded towards their last centroid", { rows: 4_000, k: 3, spread: 4_000, rounded: 7 / 16 }],
  ["centroids are rounded across", { rows: 4_000, k: 3, off: 1 / 4 }],
  ["scores carry the index of one of many centroids", { rows: 700, k: 8_200 }],
])("rows as far from one centroid as from their last go to the lower index where %s", (_, kind) => {
  for (const d of kind.k > 3 ? [16] : [16, 64]) {
    const problem = ties(d, kind);
    const ball = codeBall(problem.points);
    expect([...new Set(ball?.origin), codeStep(ball?.radius ?? 0)]).toEqual([0, expect.closeTo(1, 8)]);
    expect(compare(problem, alone)).toEqual([]);
  }
});

/** Rows that spread in few directions but for a little; the centroids are rows at first, then go a share of the way to others. */
function flat(d: number, k: number): Problem {
  const random = randomOf(d);
  const axes = Array.from({ length: 12 }, () => Array.from({ length: d }, () => random() - 0.5));
  const rows = Array.from({ length: 700 }, () => {
    const along = axes.map(() => 20 * (random() - 0.5));
    return Array.from({ length: d }, (_, j) => axes.reduce((sum, axis, a) => sum + along[a] * axis[j], random()));
  });
  const towards = (share: number) => (c: number) => rows[c].map((x, j) => x + share * (rows[k + c][j] - x));
  const centroids = [0, 0.4, 0.41, 0.9].map((share) =>
    Float64Array.from(Array.from({ length: k }, (_, c) => towards(share)(c)).flat()),
  );
  const points = { data: Float64Array.from(rows.flat()), rows: rows.length, cols: d };
  return { name: `flat d=${d}`, points, weights: undefined, k, centroids };
}

test("where rows spread in few directions, a projection spares most scores of the first call and those after jumps", () => {
  for (const engine of pairEngines) {
    const machine = createWasmMachine(400) as WasmMachine;
    const shares: number[] = [];
    const counting: WasmMachine = {
      ...machine,
      assignRows(pass, state, rows) {
        machine.assignRows(pass, state, rows);
        shares.push(machine.i32()[state / 4 + FIELD.scored] / rows / 96);
      },
    };
    for (const d of [130, 265]) expect(compare(flat(d, 96), [wasmKernel(engine, () => counting)])).toEqual([]);
    expect(shares).toHaveLength(8);
    for (const call of [0, 1, 4, 5]) expect(shares[call]).toBeLessThan(0.4);
  }
});

test("they are for wide rows and many clusters, as far as they pay for their memory", () => {
  const engines = [
    [10_000, 768, 500],
    [10_000, 784, 4_000],
    [10_000, 256, 250],
    [10_000, 784, 10],
    [10_000, 128, 256],
    [10_000, 256, 3_000],
    [10_000, 256, 9_000],
  ].map(([rows, cols, k]) => pickEngine(rows, cols, k));
  expect(engines).toEqual(["pruned", "pruned", "pruned", "bounded", "bounded", "grouped", "bounded"]);
});
