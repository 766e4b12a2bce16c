// Pair bounds: labels and sums of the reference on problems of many clusters and columns, by one thread and by two.

import { afterAll, beforeAll, expect, test } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { codeBall, codeCentroids, codeStep } from "../../src/kernel/codes.ts";
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

/**
 * Rows as near to a centroid c as to their own, a, while the codes say that a is nearer by all that codes can be wrong by:
 * every coordinate of a row is rounded towards a; or those of the centroids along (c) and against (a) the direction from the
 * origin, which is what squared distances are wrong by. First a is the
 * nearest, then it goes away by one unit of its codes, and only a bound of the distance to c that allows for such errors
 * lets the row go to c.
 */
function atTheEdge(d: number, error: "lengths" | "squares"): Problem {
  const random = randomOf(d);
  const rows = 4 * 511;
  const k = 24;
  const data = Float64Array.from({ length: rows * d }, () => 2 * random() - 1);
  const ball = codeBall({ data, rows, cols: d });
  if (ball === undefined) throw new Error("there must be an origin");
  const { origin, radius } = ball;
  const step = codeStep(radius);
  const signs = Array.from({ length: d }, () => (random() < 0.5 ? -1 : 1));
  // Orthogonal to the signs: half of them turned round.
  const across = signs.map((sign, j) => (j % 2 === 0 ? sign : -sign));
  across.forEach((x, j) => {
    if (j % 4 > 1) across[j] = -x;
  });
  const isLengths = error === "lengths";
  // Where centroids are short, what their codes are wrong by is little beside that of the rows.
  const size = isLengths ? 0.15 : 1;
  const others = Array.from({ length: k - 2 }, (_, c) => {
    const direction = Array.from({ length: d }, () => random() - 0.5);
    const length = (size * (c === 0 ? 1.05 : 1) * radius) / Math.hypot(...direction);
    return direction.map((x, j) => origin[j] + length * x);
  });
  const far = Float64Array.from([...others[0], ...others[0]]);
  const into = { codes: new Int16Array(2 * (d + 8)), stride: d + 7, starts: new Int32Array(8) };
  const rest = (isLengths ? 0.45 : 0.3) * Math.sqrt(d) * step;
  const grain = ((codeCentroids({ ...ball, rest }, far, d, into)?.unit ?? 0) * step) / 2;
  const reach = Math.floor(radius / grain / Math.sqrt(d));
  const off = isLengths ? 0 : 0.4;
  /** In units of their codes: along the signs and across. */
  const centroid = (along: number, aside: number) =>
    origin.map((x, j) => x + grain * (along * signs[j] + aside * across[j]));
  const [out, apart] = isLengths ? [0, Math.floor(0.1 * reach)] : [Math.floor(0.85 * reach), Math.floor(0.03 * reach)];
  // Their middle is 0.55 of a step from the origin, so that rows there are rounded by 0.45.
  const longer = Math.round((1.1 * step) / grain) - 1;
  const a = (by: number) => (isLengths ? centroid(apart + longer + by, 0) : centroid(out - off, apart + by));
  const c = isLengths ? centroid(-apart, 0) : centroid(out + off, -apart);
  const [own, axis] = [a(1), isLengths ? signs : across];
  const sampled = new Set(
    [63, 511].flatMap((count) => Array.from({ length: count }, (_, i) => Math.floor((i * rows) / count))),
  );
  for (let r = 0; r < rows; r++) {
    if (sampled.has(r)) continue;
    // In the middle of a and c, or aside of it where that is the same for both; as rounding is wanted; then onto the border.
    const aside = isLengths ? Math.floor(50 * random()) : 0;
    const codes = own.map((x, j) => Math.round(((x + c[j]) / 2 - origin[j]) / step) + aside * across[j]);
    const row = codes.map((code, j) => origin[j] + step * (code - (isLengths ? 0.45 * signs[j] : 0)));
    const lead = row.reduce((sum, x, j) => sum + (x - c[j]) ** 2 - (x - own[j]) ** 2, 0);
    const slope = axis.reduce((sum, x, j) => sum + 2 * x * (own[j] - c[j]), 0);
    const shift = (-lead - 1e-6 * radius ** 2 * random()) / slope;
    row.forEach((x, j) => {
      data[r * d + j] = x + shift * axis[j];
    });
  }
  const centroids = [0, 1, 0, 1].map((by) => Float64Array.from([...others.flat(), ...a(by), ...c]));
  return { name: `${error} d=${d}`, points: { data, rows, cols: d }, weights: undefined, k, centroids };
}

test.each(["lengths", "squares"] as const)(
  "rows whose codes are wrong by all that %s can be go to their nearest",
  (error) => {
    for (const d of [64, 256]) expect(compare(atTheEdge(d, error), [wasmKernel("pruned")])).toEqual([]);
  },
);

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
