// Pair bounds: labels and sums of the reference on problems of many clusters and columns, by one thread and by two.

import { afterAll, beforeAll, expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { pickEngine } from "../../src/kernel/pick.ts";
import { nodeHost } from "../../src/kernel/threads/node.ts";
import { startThreadPool, type ThreadedKernel } from "../../src/kernel/threads/threadedKernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare } from "./compare.ts";
import { type Problem, pairProblemOf, randomOf } from "./problems.ts";

// In 190 problems every shape meets every twist; each third of them still has all shapes and all twists.
const PROBLEMS = runs({ short: 190, long: 2_090 });
const STEP = runs({ short: 3, long: 1 });

let pool: ThreadedKernel;

beforeAll(async () => {
  pool = await startThreadPool(nodeHost, { threads: 2 }, { engine: "pruned", worthwhile: 0 });
});

afterAll(() => pool.close());

/** Devices of up to 1,024 rows are left to one thread. */
function problemDifferences(number: number): string[] {
  const problem = pairProblemOf(number, testSeed);
  const alone = wasmKernel("pruned");
  return compare(problem, problem.points.rows > 1_024 ? [alone, pool] : [alone]);
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
        [wasmKernel("pruned")],
      ),
    ).toEqual([]);
});

test("a centroid that goes to and fro until its ways add up to more than a bound holds gets its rows each time", () => {
  for (const d of [33, 130])
    expect(
      compare(
        between(d, 32, (call) => 0.2 * (call % 2)),
        [wasmKernel("pruned")],
      ),
    ).toEqual([]);
});

test("they are for wide rows and many clusters, as far as they pay for their memory", () => {
  const engines = [
    [10_000, 768, 500],
    [10_000, 784, 4_000],
    [10_000, 256, 250],
    [10_000, 784, 10],
    [10_000, 128, 256],
    [10_000, 256, 3_000],
  ].map(([rows, cols, k]) => pickEngine(rows, cols, k));
  expect(engines).toEqual(["pruned", "pruned", "pruned", "bounded", "bounded", "bounded"]);
});
