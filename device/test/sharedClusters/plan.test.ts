// The steps of shared clusters on whole numbers, against pooled k-means in doubles.

import { distortion, kmeans, type Matrix, normalStream, paperData, predict, randomStream, stack } from "@fedkm/core";
import { describe, expect, it } from "vitest";
import { type Content, stages } from "../../src/sharedClusters/generation.ts";
import { fractionBits } from "../../src/sharedClusters/lloyd.ts";
import {
  firstContent,
  integersIn,
  nextContent,
  outcomeOf,
  ownIntegers,
  stirred,
} from "../../src/sharedClusters/plan.ts";
import { codebookCells } from "../../src/sharedClusters/seed.ts";
import { sumsShape } from "../../src/sharedClusters/shape.ts";
import { SharedRows } from "../../src/sharedClusters/sharedRows.ts";
import { simulatedSecrets } from "../../src/simulation/simulatedSecrets.ts";
import type { Study } from "../../src/study/study.ts";
import { studyOfPoints } from "../../src/study/studyOfPoints.ts";
import { addInt64s, fromInt64s, toInt64s } from "../../src/wire/int64.ts";

function shared(datasets: readonly Matrix[], k: number): Study {
  const names = Array.from({ length: datasets[0].cols }, (_, f) => `x${f}`);
  return { ...studyOfPoints(datasets, names, { name: "shared", k, alpha: 0 }), clusters: "shared", colluders: 1 };
}

/** Generation after generation without any network. */
function runPlan(datasets: readonly Matrix[], k: number): Content {
  const study = shared(datasets, k);
  const shape = sumsShape(study);
  const own = datasets.map(
    (rows) =>
      new SharedRows({
        ...{ study, shape, rows, seed: 0, sign: simulatedSecrets("device").sign },
        history: { memory: undefined, onKept() {}, wallClock: () => 0 },
      }),
  );
  let content = firstContent(shape);
  for (;;) {
    const total = new Uint32Array(2 * integersIn(shape, content));
    for (const rows of own) addInt64s(total, toInt64s(ownIntegers(shape, content, rows)));
    const closed = { devices: [], count: datasets.length, totals: fromInt64s(total) };
    const found = nextContent(shape, content, closed, () => []);
    if (found === "implausible") throw new Error("honest sums must be plausible");
    content = found;
    if (content.stage === stages.rest) return content;
  }
}

/** Eight round clusters in as many dimensions as wanted. */
function blobs(d: number, rows: number, seed: number): Matrix[] {
  const random = randomStream(seed, "blobs");
  const normal = normalStream(random);
  const centres = Array.from({ length: 5 }, () => Array.from({ length: d }, () => 20 * random() - 10));
  return Array.from({ length: 4 }, () => ({
    data: Float64Array.from({ length: rows * d }, (_, i) => centres[Math.floor(i / d) % 5][i % d] + normal()),
    rows,
    cols: d,
  }));
}

/** Clusters near each other, of sizes 1:2:..:k and of widths that differ, on four devices. */
function unequalBlobs(d: number, k: number, rows: number, seed: number): Matrix[] {
  const random = randomStream(seed, "unequal");
  const normal = normalStream(random);
  const centres = Array.from({ length: k }, () => Array.from({ length: d }, () => 6 * random()));
  const widths = centres.map(() => 0.3 + 1.2 * random());
  return Array.from({ length: 4 }, () => {
    const data = new Float64Array(rows * d);
    for (let r = 0; r < rows; r++) {
      const c = Math.floor((Math.sqrt(1 + 4 * k * (k + 1) * random()) - 1) / 2);
      for (let i = 0; i < d; i++) data[r * d + i] = centres[c][i] + widths[c] * normal();
    }
    return { data, rows, cols: d };
  });
}

function pooledStep(shape: ReturnType<typeof sumsShape>, { numbers }: Content, pooled: Matrix): number {
  const { k, d, middle } = shape;
  const data = numbers.map((value, i) => value + middle[i % d]);
  const labels = predict({ data, rows: k, cols: d }, pooled);
  const [counts, sums] = [new Float64Array(k), new Float64Array(k * d)];
  labels.forEach((label, r) => {
    counts[label]++;
    for (let i = 0; i < d; i++) sums[label * d + i] += pooled.data[r * d + i] - data[label * d + i];
  });
  return Math.max(...sums.map((sum, i) => Math.abs(sum) / Math.max(1, counts[Math.floor(i / d)])));
}

describe("the plan", () => {
  it.each([
    ["two features", paperData("aniso", 10, 100, 1).datasets, 3],
    ["one feature", blobs(1, 100, 2), 3],
    ["eight features", blobs(8, 200, 3), 5],
    ["forty features", blobs(40, 100, 4), 5],
  ])("%s: ends where a step of pooled k-means moves nothing, near the best of ten", (_, datasets, k) => {
    const end = runPlan(datasets, k);
    const shape = sumsShape(shared(datasets, k));
    const pooled = stack(datasets);
    expect(end.stage).toBe(stages.rest);
    expect(end.rows).toBe(pooled.rows);
    expect(pooledStep(shape, end, pooled)).toBeLessThan(1e-9);
    const best = kmeans(pooled, { k, restarts: 10 });
    const data = end.numbers.map((value, i) => value + shape.middle[i % shape.d]);
    const own = kmeans(pooled, { k, init: { data, rows: k, cols: shape.d } });
    expect(own.inertia / best.inertia - 1).toBeLessThan(1e-4);
  });

  it("clusters of unequal size and width that three directions do not tell apart end within 1 % of the best of twenty", () => {
    const costs = Array.from({ length: 12 }, (_, seed) => {
      const datasets = unequalBlobs(10, 9, 300, seed);
      const pooled = stack(datasets);
      const { numbers } = runPlan(datasets, 9);
      const { middle, d } = sumsShape(shared(datasets, 9));
      const data = numbers.map((value, i) => value + middle[i % d]);
      const best = kmeans(pooled, { k: 9, restarts: 20, seed: 1 });
      return (2 * distortion([pooled], [{ data, rows: 9, cols: d }])) / best.inertia;
    });
    expect(Math.max(...costs)).toBeLessThan(1.01);
  });

  it("cells of the codebook: three rows in the mean, never fewer than clusters, and entries below 128 kB", () => {
    const shape = sumsShape(shared(blobs(8, 20, 1), 5));
    expect(codebookCells(shape, 1_000)).toBe(64);
    expect(codebookCells(shape, 60)).toBe(20);
    expect(codebookCells(shape, 3)).toBe(5);
    const wide = { ...shape, d: 784 };
    const content = { stage: stages.codebook, steps: 0, rows: 1_000, numbers: new Float64Array(0) };
    expect(8 * integersIn(wide, content)).toBeLessThanOrEqual(128 * 1024);
  });

  it("sums of very many rows stay below 2^63 and are asked again where bits must go", () => {
    expect(fractionBits(1_000)).toBe(40);
    for (const rows of [2 ** 20, 2 ** 30, 2 ** 45])
      expect(8 * rows * 2 ** fractionBits(rows)).toBeLessThanOrEqual(2 ** 63);
    const shape = sumsShape(shared(paperData("iso", 3, 10, 1).datasets, 1));
    const content = { stage: stages.rows, steps: 0, rows: 0, seeded: 0, numbers: Float64Array.of(0, 0) };
    const found = outcomeOf(shape, content, Float64Array.of(2 ** 30, 5, 5), 3);
    expect(found).toMatchObject({ rows: 2 ** 30, numbers: content.numbers });
  });

  it("sums that no rows within the bounds can have are implausible", () => {
    const shape = sumsShape(shared(paperData("iso", 3, 10, 1).datasets, 1));
    const content = { stage: stages.rows, steps: 0, rows: 10, seeded: 10, numbers: Float64Array.of(0, 0) };
    expect(outcomeOf(shape, content, Float64Array.of(-1, 0, 0), 3)).toBe("implausible");
    expect(outcomeOf(shape, content, Float64Array.of(10, 2 ** 45, 0), 3)).toBe("implausible");
    expect(outcomeOf(shape, content, Float64Array.of(10, 3, -3), 3)).toBe("settled");
  });

  const census = { stage: stages.census, steps: 0, rows: 0, seeded: 0, numbers: new Float64Array(0) };

  it("clusters begin with a census, which says where: elsewhere for other devices or rows, and there alone for these", () => {
    const shape = sumsShape(shared(paperData("iso", 3, 10, 1).datasets, 2));
    expect(firstContent(shape)).toEqual(census);
    const after = (devices: readonly string[], mark: number) => {
      const closed = { devices, count: devices.length, totals: Float64Array.of(mark) };
      const found = nextContent(shape, census, closed, () => []);
      return found === "implausible" ? expect.fail(found) : found;
    };
    const start = after(["a", "b", "c"], 7);
    expect(start).toMatchObject({ stage: stages.grid, steps: 0, rows: 0, seeded: 0 });
    expect(after(["c", "a", "b"], 7)).toEqual(start);
    for (const other of [after(["a", "b"], 7), after(["a", "b", "c"], 8)]) {
      other.numbers.forEach((value, i) => {
        expect(Math.abs(value - start.numbers[i])).toBeLessThan(2e-6 * shape.ranges[i % 2]);
      });
      expect(other.numbers).not.toEqual(start.numbers);
    }
  });

  it("a device's mark of its rows is always the same, and other for other rows and keys", () => {
    const study = shared(paperData("iso", 3, 10, 1).datasets, 1);
    const markOf = (name: string, data: readonly number[]) =>
      new SharedRows({
        ...{ study, shape: sumsShape(study), seed: 0, sign: simulatedSecrets(name).sign },
        rows: { data: Float64Array.from(data), rows: 1, cols: 2 },
        history: { memory: undefined, onKept() {}, wallClock: () => 0 },
      }).mark();
    const mark = markOf("a", [1, 2]);
    expect(markOf("a", [1, 2])).toBe(mark);
    expect(markOf("a", [1, 2.5])).not.toBe(mark);
    expect(markOf("b", [1, 2])).not.toBe(mark);
    // Those of 256 devices add up without rounding.
    expect(256 * mark).toBeLessThan(2 ** 53);
  });

  it("an opening before the first rest leaves no trace of what was begun; afterwards clusters go on where they were", () => {
    const shape = sumsShape(shared(paperData("iso", 3, 10, 1).datasets, 1));
    const chance = new Uint8Array(32).fill(200);
    const begun = { stage: stages.rows, steps: 7, rows: 30, seeded: 0, numbers: Float64Array.of(1, 1) };
    expect(stirred(shape, begun, chance, false)).toEqual(census);
    const closed = { devices: ["a"], count: 3, totals: Float64Array.of(30, 0, 0) };
    const rested = nextContent(shape, begun, closed, () => []);
    if (rested === "implausible") throw new Error("honest sums must be plausible");
    expect(rested).toMatchObject({ stage: stages.rest, seeded: 30 });
    expect(stirred(shape, rested, chance, false)).toMatchObject({ stage: stages.rows, seeded: 30 });
    expect(stirred(shape, rested, chance, true)).toEqual(census);
    // Twice as many rows are worth another start.
    const grown = { ...rested, stage: stages.rows };
    expect(outcomeOf(shape, grown, Float64Array.of(61, 2 ** 38, 0), 3)).toEqual(census);
    expect(outcomeOf(shape, grown, Float64Array.of(60, 2 ** 38, 0), 3)).toMatchObject({ stage: stages.rows });
  });

  it("what is asked after a change is other centroids, less than a millionth aside and within the bounds", () => {
    const shape = sumsShape(shared(paperData("iso", 3, 10, 1).datasets, 1));
    const [x, y] = shape.ranges;
    const content = { stage: stages.rows, steps: 7, rows: 10, seeded: 10, numbers: Float64Array.of(0, y / 2) };
    const { numbers } = stirred(shape, content, new Uint8Array(32).fill(200), false);
    expect(numbers[0]).toBeGreaterThan(0);
    expect(numbers[0]).toBeLessThan(1e-6 * x);
    expect(numbers[1]).toBe(y / 2);
  });
});
