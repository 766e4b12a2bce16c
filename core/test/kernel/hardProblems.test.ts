// Larger problems, points at the error bound of the screen, and what the kernel promises beside its answers.

import { expect, test, vi } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { compile } from "../../assembly/build.mjs";
import type { Matrix } from "../../src/data/matrix.ts";
import { TINY_BYTES, WASM_BYTES } from "../../src/kernel/bytes.ts";
import { codeBall, codeStep } from "../../src/kernel/codes.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import { theWasmMachine } from "../../src/kernel/module.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { compare } from "./compare.ts";
import { largeProblemOf, type Problem, randomOf, wideProblemOf } from "./problems.ts";

const LARGER = runs({ short: 6, long: 20 });

test(`every engine answers with the bits of the reference on ${LARGER} larger problems`, () => {
  const wrong = Array.from({ length: LARGER }, (_, number) => compare(largeProblemOf(number, testSeed))).flat();
  expect(wrong).toEqual([]);
});

test(`every engine answers with the bits of the reference on ${LARGER} wide problems`, () => {
  const wrong = Array.from({ length: LARGER }, (_, number) => compare(wideProblemOf(number, testSeed))).flat();
  expect(wrong).toEqual([]);
});

/**
 * Points on the bisector of two centroids a and b whose codes are as wrong as codes can be: every coordinate is rounded
 * by almost half a step, always towards the same centroid, and all coordinates of a - b have one size, so that the
 * inequality of Cauchy and Schwarz is nearly an equality. The screen sees a lead of about its error bound where there
 * is none. Rows that the screen samples for its origin and radius stay random.
 */
function atTheBound(d: number, seed: number): { points: Matrix; centroids: Float64Array } {
  const random = randomOf(seed);
  const rows = 511 * 63;
  const data = Float64Array.from({ length: rows * d }, () => 2 * random() - 1);
  const points = { data, rows, cols: d };
  const ball = codeBall(points);
  if (ball === undefined) throw new Error("the sample must have a origin");
  const { origin, radius } = ball;
  const step = codeStep(radius);
  const signs = Float64Array.from({ length: d }, () => (random() < 0.5 ? -1 : 1));
  const a = origin.map((x, j) => x + 0.3 * signs[j] + 0.1 * random());
  const b = a.map((x, j) => x - 0.6 * signs[j]);
  for (let r = 0; r < rows; r++) {
    if (r % 63 === 0 || r % 511 === 0) continue;
    const codes = Float64Array.from({ length: d }, () => Math.round(((random() - 0.5) * radius) / step / Math.sqrt(d)));
    const side = random() < 0.5 ? -1 : 1;
    // The imbalance of a row: its projection on a - b, less that of the middle of a and b, in units of a step.
    const imbalance = (share: number) =>
      signs.reduce(
        (sum, sign, j) => sum + sign * (codes[j] + share * side * sign - ((a[j] + b[j]) / 2 - origin[j]) / step),
        0,
      );
    codes[0] -= signs[0] * Math.round(imbalance(0.45));
    const share = 0.45 - (side * imbalance(0.45)) / d;
    const off = (random() - 0.5) * 10 ** (-16 * random());
    for (let j = 0; j < d; j++)
      data[r * d + j] = origin[j] + step * (codes[j] + share * side * signs[j] + off * signs[j]);
  }
  return { points, centroids: Float64Array.from([...a, ...b]) };
}

test.each([5, 6, 16, 31, 64])(
  "points of %i columns at the error bound of the screen get the labels of the reference",
  (d) => {
    for (let seed = 0; seed < 2; seed++) {
      const { points, centroids } = atTheBound(d, seed);
      const nearly = centroids.map((w, i) => (i === 0 ? w + 1e-9 : w));
      const problem = {
        name: `at the bound d=${d}`,
        points,
        weights: undefined,
        k: 2,
        centroids: [centroids, nearly, centroids],
      };
      expect(compare(problem)).toEqual([]);
    }
  },
);

test("squaredDistances has the bits of the reference", () => {
  for (const d of [1, 2, 4, 5, 16, 33]) {
    const random = randomOf(d);
    const points = { data: Float64Array.from({ length: 1031 * d }, () => random() + 1e6), rows: 1031, cols: d };
    const origin = points.data.slice(0, d);
    const [ours, reference] = [wasmKernel(), jsKernel].map((kernel) => {
      const into = new Float64Array(points.rows);
      kernel.prepare(points).squaredDistances(origin, into);
      return into;
    });
    expect(ours).toEqual(reference);
  }
});

/**
 * Two heaps and, between them, rows on the line from one centroid to the other: for these a step of both centroids along
 * the line takes from their slack all that it can take.
 */
function betweenHeaps(d: number, seed: number): Problem {
  const random = randomOf(seed);
  const direction = Array.from({ length: d }, () => random() - 0.5);
  const length = Math.hypot(...direction);
  const at = (place: number) => direction.map((x) => (place * x) / length);
  const rows = Array.from({ length: 4000 }, (_, r) => {
    if (r % 10 === 0) return at(2 * random() - 1);
    return at(r % 2 === 0 ? 10 : -10).map((x) => x + 0.1 * (random() - 0.5));
  });
  const heaps = (shift: number) => Float64Array.from([...at(shift - 10), ...at(shift + 10)]);
  // Often enough at one place for slack to be worth keeping, then a border that goes through the rows in small steps.
  const shifts = [0, 0, 0, 0, ...Array.from({ length: 40 }, (_, n) => 0.3 * Math.sin(n / 3))];
  const points = { data: Float64Array.from(rows.flat()), rows: rows.length, cols: d };
  return { name: `between heaps d=${d}`, points, weights: undefined, k: 2, centroids: shifts.map(heaps) };
}

test.each([5, 8, 16, 31])("rows of %i columns that movement alone decides get the labels of the reference", (d) => {
  for (let seed = 0; seed < 2; seed++) expect(compare(betweenHeaps(d, seed))).toEqual([]);
});

test("released devices give their memory to the next", () => {
  const points = { data: new Float64Array(50_000 * 8).fill(1), rows: 50_000, cols: 8 };
  const kernel = wasmKernel();
  kernel.prepare(points).release();
  const before = theWasmMachine()?.f64().length;
  for (let i = 0; i < 50; i++) kernel.prepare(points).release();
  expect(theWasmMachine()?.f64().length).toBe(before);
});

test("the committed bytes are what the sources compile to", async () => {
  expect(await compile("index.ts")).toBe(WASM_BYTES);
  expect(await compile("tiny/index.ts")).toBe(TINY_BYTES);
});

test("where WebAssembly SIMD is missing the reference answers", async () => {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", { validate: () => false });
  const fresh = await import("../../src/kernel/wasm.ts");
  const points = { data: Float64Array.from({ length: 600 }, (_, i) => Math.sqrt(i)), rows: 100, cols: 6 };
  const labels = new Uint32Array(100);
  fresh.wasmKernel().prepare(points).labels(points.data.slice(0, 12), labels);
  vi.unstubAllGlobals();
  const expected = new Uint32Array(100);
  jsKernel.prepare(points).labels(points.data.slice(0, 12), expected);
  expect(labels).toEqual(expected);
});
