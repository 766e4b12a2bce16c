// Points in float32: every engine, on one thread and on two, has the bits of float64 points of the same values, and keeps them
// in half the memory.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { widenPoints } from "../../src/data/matrix.ts";
import { fit, jsKernel, kmeans, matrix, path, predict } from "../../src/index.ts";
import { createWasmMachine } from "../../src/kernel/module.ts";
import { nodeHost } from "../../src/kernel/threads/node.ts";
import { startThreadPool, type ThreadedKernel } from "../../src/kernel/threads/threadedKernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare, enginesFor } from "./compare.ts";
import { narrowProblem, pairProblemOf, problemOf, wideProblemOf } from "./problems.ts";

const PROBLEMS = runs({ short: 152, long: 1_520 });
const WIDE = runs({ short: 4, long: 20 });
const PAIRS = runs({ short: 19, long: 380 });

let pools: ThreadedKernel[];

beforeAll(async () => {
  pools = await Promise.all(
    (["small", "plain", "bounded", "pruned"] as const).map((engine) =>
      startThreadPool(nodeHost, { threads: 2 }, { engine, worthwhile: 0 }),
    ),
  );
});

afterAll(() => Promise.all(pools.map((pool) => pool.close())));

describe("bits", () => {
  test.each([0, 1])(`of every engine, half %i of ${PROBLEMS} problems`, (part) => {
    const wrong: string[] = [];
    for (let number = part; number < PROBLEMS; number += 2) {
      const problem = narrowProblem(problemOf(5 * number, testSeed));
      const engines = [jsKernel, ...enginesFor(problem.points.cols).map((engine) => wasmKernel(engine))];
      wrong.push(...compare(problem, engines));
    }
    expect(wrong).toEqual([]);
  });

  test(`of ${WIDE} wide problems`, () => {
    const wrong = Array.from({ length: WIDE }, (_, number) => compare(narrowProblem(wideProblemOf(number, testSeed))));
    expect(wrong.flat()).toEqual([]);
  });

  test(`of ${PAIRS} problems with many clusters or columns`, () => {
    const wrong = Array.from({ length: PAIRS }, (_, number) =>
      compare(narrowProblem(pairProblemOf(11 * number, testSeed)), [wasmKernel("pruned")]),
    );
    expect(wrong.flat()).toEqual([]);
  });

  test("of two threads", () => {
    const wrong = Array.from({ length: runs({ short: 20, long: 120 }) }, (_, number) => {
      const problem = narrowProblem(problemOf(7 * number, testSeed, 1025 + ((number * 619) % 2100)));
      return compare(problem, problem.points.cols <= 4 ? pools.slice(0, 1) : pools.slice(1));
    });
    expect(wrong.flat()).toEqual([]);
  });
});

describe("the public functions", () => {
  const { points } = narrowProblem(problemOf(20, 0, 12_000));
  const wide = widenPoints(points);

  test("answer as on float64 points", () => {
    expect(points.data).toBeInstanceOf(Float32Array);
    const options = { k: 6, restarts: 3, seed: 1 };
    const model = kmeans(points, options);
    expect(model).toEqual(kmeans(wide, options));
    expect(model.centroids.data).toBeInstanceOf(Float64Array);
    const weights = Float64Array.from({ length: points.rows }, (_, r) => r % 3);
    expect(kmeans(points, { ...options, weights })).toEqual(kmeans(wide, { ...options, weights }));
    expect(kmeans(points, { ...options, empty: "farthest" })).toEqual(kmeans(wide, { ...options, empty: "farthest" }));
    expect(predict(model, points)).toEqual(model.labels);
    for (const privacy of ["open", "guarded"] as const) {
      const settings = { k: 3, alpha: 1, rounds: 5, privacy };
      const [ours, theirs] = [points, wide].map((own) => fit([own, own], path(2), settings));
      expect(ours).toEqual(theirs);
      expect(ours.labels()).toEqual(theirs.labels());
    }
  });

  test("copy a Float32Array as one, and widen centroids in it", () => {
    const data = Float32Array.of(1, 2, 3, 4);
    const copy = matrix({ data, cols: 2 });
    expect(copy).toEqual({ data, rows: 2, cols: 2 });
    expect(copy.data).not.toBe(data);
    const init = { data: data as unknown as Float64Array, rows: 2, cols: 2 };
    expect(kmeans(copy, { k: 2, init }).centroids.data).toBeInstanceOf(Float64Array);
    expect(predict({ data, cols: 2 }, copy)).toEqual(Uint32Array.of(0, 1));
  });
});

test("a device takes 6 bytes a number where float64 takes 10", () => {
  const machine = createWasmMachine(65_536);
  const kernel = wasmKernel(undefined, () => machine);
  const [rows, cols] = [20_000, 64];
  const bytes = [new Float32Array(rows * cols), new Float64Array(rows * cols)].map((data) => {
    const before = machine?.f64().byteLength ?? 0;
    kernel.prepare({ data, rows, cols });
    return ((machine?.f64().byteLength ?? 0) - before) / (rows * cols);
  });
  expect(bytes[0]).toBeCloseTo(6.2, 0);
  expect(bytes[1]).toBeCloseTo(10.2, 0);
});
