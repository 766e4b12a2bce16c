// Points that the kernel's memory has no room for come in blocks, and leave the bits of the reference. Here the memory is small.

import { expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { kmeans, type Points, takeRows } from "../../src/index.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import { createWasmMachine, type WasmMachine } from "../../src/kernel/module.ts";
import type { KernelEngine } from "../../src/kernel/pick.ts";
import { FIELD, placePoints } from "../../src/kernel/placedPoints.ts";
import { nodeHost } from "../../src/kernel/threads/node.ts";
import { startThreadPool } from "../../src/kernel/threads/threadedKernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare, enginesFor, pairEngines } from "./compare.ts";
import { narrowProblem, type Problem, problemOf, randomOf } from "./problems.ts";

const PROBLEMS = runs({ short: 8, long: 200 });
/** 2.4 MB. Arrays of every small size take one of them. */
const PAGES = 38;

/** A machine with a small memory that counts its passes, so that a test sees if the reference answers in its place. */
function smallMachine(pages = PAGES) {
  const machine = createWasmMachine(pages) as WasmMachine;
  const counting = {
    ...machine,
    passes: 0,
    assignRows(...args: Parameters<WasmMachine["assignRows"]>) {
      counting.passes++;
      machine.assignRows(...args);
    },
    assignTiles(...args: Parameters<WasmMachine["assignTiles"]>) {
      counting.passes++;
      return machine.assignTiles(...args);
    },
  };
  return counting;
}

/** Rows that the memory cannot hold, even without codes. */
function crowdedProblem(number: number): Problem<Points> {
  const cols = 1 + (number % 40);
  const isNarrow = number % 3 === 0;
  const bytes = (isNarrow && cols > 4 ? 4 : 8) * cols;
  const problem = problemOf(number, testSeed, Math.ceil((1.1 * PAGES * 65_536) / bytes) + (number % 17));
  return isNarrow ? narrowProblem(problem) : problem;
}

function blockRows(machine: WasmMachine, { points, weights }: Problem<Points>, engine: KernelEngine): number {
  const placed = placePoints(machine, points, weights, engine !== "plain");
  if (placed === undefined) return 0;
  machine.free(placed.block);
  return placed.blocks?.size ?? points.rows;
}

test.each([0, 1])(`blocks on 1 and 2 threads leave the bits of the reference, half %i of ${PROBLEMS}`, async (part) => {
  const wrong: string[] = [];
  for (let number = part; number < PROBLEMS; number += 2) {
    // Every number of columns and every twist come up in the long run.
    const problem = crowdedProblem(3 * number);
    const { rows, cols } = problem.points;
    const engines = enginesFor(cols).filter((engine) => engine !== "tiny");
    const alone = [number, number + 1].map((at) => {
      const [engine, machine] = [engines[at % engines.length], smallMachine()];
      return { machine, size: blockRows(machine, problem, engine), kernel: wasmKernel(engine, () => machine) };
    });
    const engine = engines[number % engines.length];
    const pool = await startThreadPool(nodeHost, { threads: 2 }, { engine, worthwhile: 0, pages: PAGES });
    wrong.push(...compare(problem, [...alone.map(({ kernel }) => kernel), pool]));
    await pool.close();
    for (const { machine, size } of alone) {
      // Constant points have the same centroids in all calls.
      const isBlocked = size >= 1_024 && size < rows && machine.passes >= Math.ceil(rows / size);
      if (!isBlocked) wrong.push(`${machine.passes} passes, blocks of ${size} rows: ${problem.name}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("kmeans on blocks has the bits of the reference, with its seeds and farthest points", () => {
  const { points } = crowdedProblem(36);
  const blocked = wasmKernel(undefined, () => smallMachine());
  for (const options of [
    { k: 9, restarts: 1 },
    { k: 30, restarts: 1, empty: "farthest", tol: 1e-3 },
  ] as const) {
    expect(kmeans(points, { ...options, kernel: blocked })).toEqual(kmeans(points, { ...options, kernel: jsKernel }));
  }
});

test.each(pairEngines)("pair bounds of %s wait outside while other blocks are in memory", (engine) => {
  const random = randomOf(7);
  const data = Float64Array.from({ length: 3_000 * 130 }, (_, at) => 6 * random() + (Math.floor(at / 130) % 40));
  const points = { data, rows: 3_000, cols: 130 };
  const machine = smallMachine(60);
  const shares: number[] = [];
  const counting: WasmMachine = {
    ...machine,
    assignRows(pass, state, rows) {
      machine.assignRows(pass, state, rows);
      shares.push(machine.i32()[state / 4 + FIELD.scored] / points.rows / 40);
    },
  };
  const options = {
    k: 40,
    init: takeRows(
      points,
      Array.from({ length: 40 }, (_, c) => 3 * c),
    ),
    maxIter: 4,
    tol: 0,
  };
  const blocked = kmeans(points, { ...options, kernel: wasmKernel(engine, () => counting) });
  expect(blocked).toEqual(kmeans(points, { ...options, kernel: jsKernel }));
  expect(machine.passes).toBeGreaterThanOrEqual(12);
  expect(shares.at(-1)).toBeLessThan(0.5);
});

test("released blocks give their memory to the next", () => {
  const machine = smallMachine();
  const problem = crowdedProblem(25);
  const before = blockRows(machine, problem, "pruned");
  const kernel = wasmKernel("pruned", () => machine);
  for (let i = 0; i < 20; i++) {
    const prepared = kernel.prepare(problem.points);
    prepared.labels(problem.centroids[0], new Uint32Array(problem.points.rows));
    prepared.release();
  }
  expect(machine.passes).toBeGreaterThanOrEqual(20);
  expect(blockRows(machine, problem, "pruned")).toBe(before);
});
