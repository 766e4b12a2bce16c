// Pair bounds: labels and sums of the reference on problems of many clusters and columns, by one thread and by two.

import { afterAll, beforeAll, expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { pickEngine } from "../../src/kernel/pick.ts";
import { nodeHost } from "../../src/kernel/threads/node.ts";
import { startThreadPool, type ThreadedKernel } from "../../src/kernel/threads/threadedKernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare } from "./compare.ts";
import { type Problem, pairProblemOf, randomOf } from "./problems.ts";

// In 190 problems every shape meets every twist.
const PROBLEMS = runs({ short: 190, long: 2_090 });

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
  `pair bounds on 1 and 2 threads leave the bits of the reference, quarter %i of ${PROBLEMS} problems`,
  (part) => {
    const wrong: string[] = [];
    for (let number = part; number < PROBLEMS; number += 4) wrong.push(...problemDifferences(number));
    expect(wrong).toEqual([]);
  },
);

/**
 * Rows between pairs of centroids that all lie on one line, far from each other: a few units of a bound decide, and what a
 * centroid has gone is all that brings it nearer.
 */
function between(d: number, way: number, calls: number): Problem {
  const random = randomOf(d);
  const k = 64;
  const direction = Float64Array.from({ length: d }, () => random() - 0.5);
  const length = Math.hypot(...direction);
  const at = (place: number) => direction.map((x) => (place * x) / length);
  const places = Float64Array.from({ length: k }, (_, c) => 100 * (c - k / 2) + 30 * random());
  const rows = Array.from({ length: 600 }, () => {
    const c = Math.floor(random() * (k - 1));
    // Near the middle of its neighbours, at all distances from it.
    return at((places[c] + places[c + 1]) / 2 + (random() - 0.5) * 10 ** (2 - 5 * random()));
  });
  const centroids = Array.from({ length: calls }, (_, call) => {
    const moved = places.map((place, c) => place + (c % 3 === 0 ? way * Math.sin(call * (1 + c / k)) : 0));
    return Float64Array.from(Array.from(moved, (place) => Array.from(at(place))).flat());
  });
  const points = { data: Float64Array.from(rows.flatMap((row) => Array.from(row))), rows: rows.length, cols: d };
  return { name: `between d=${d} way=${way}`, points, weights: undefined, k, centroids };
}

test.each([
  [5, 0.001, 30],
  [16, 0.3, 30],
  [33, 5, 30],
  [16, 40, 60],
  [8, 2_000, 60],
])("rows of %i columns between centroids that go %d to and fro get the labels of the reference", (d, way, calls) => {
  expect(compare(between(d, way, calls), [wasmKernel("pruned")])).toEqual([]);
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
