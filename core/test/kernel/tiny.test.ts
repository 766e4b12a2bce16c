// The tiny engine beyond single calls: Lloyd's iteration at once, and many devices that share one place in memory.

import { expect, test } from "vitest";
import { jsKernel } from "../../src/kernel/js.ts";
import { emptyStatistics } from "../../src/kernel/kernel.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import { kmeans } from "../../src/start/kmeans.ts";
import { type Problem, problemOf, randomOf } from "./problems.ts";

const tiny = wasmKernel("tiny");

/** Generated problems that the tiny engine takes: up to 4 columns, some rows, no weights. */
const problems: Problem[] = [];
for (let seed = 0; seed < 8000; seed++) {
  if (seed % 40 > 3) continue;
  const problem = problemOf(seed);
  if (problem.weights === undefined && problem.points.rows > 0) problems.push(problem);
}

test("k-means in one call has the bits of the reference's passes, whatever ends it", () => {
  expect(problems.length).toBeGreaterThan(500);
  for (const { points, k, centroids, name } of problems) {
    const init = { data: centroids[0], rows: k, cols: points.cols };
    for (const [maxIter, tol] of [
      [300, 0],
      [3, 0],
      [300, 0.01],
    ]) {
      const [ours, reference] = [tiny, jsKernel].map((kernel) => kmeans(points, { k, init, maxIter, tol, kernel }));
      expect(ours, name).toEqual(reference);
    }
  }
});

test("the best of several starts in one call has the bits of the reference's, seeds included", () => {
  let compared = 0;
  for (const { points, k: most, name } of problems) {
    const k = Math.min(most, points.rows);
    for (const options of [
      { k, restarts: 3, seed: 4 },
      { k, restarts: 12, maxIter: 2 },
      { k: 1 + (compared % k), tol: 0.01, seed: -7 },
    ]) {
      const [ours, reference] = [tiny, jsKernel].map((kernel) => kmeans(points, { ...options, kernel }));
      expect(ours, name).toEqual(reference);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(1500);
});

/**
 * Rows so near the border of two centroids that float32 cannot tell their side: off it by `off` of their distance to it,
 * or by less than float64 can tell.
 */
function atBorder(d: number, seed: number, off: number): Problem {
  const random = randomOf(seed);
  const some = () => Float64Array.from({ length: d }, () => 20 * random() - 10);
  const [a, b, far] = [some(), some(), some()];
  const rows = Array.from({ length: 60 }, (_, r) => {
    if (r === 0) return far;
    // Along the border, which is orthogonal to b - a: in one column what another column takes back.
    const along = some();
    const normal = b.map((x, j) => x - a[j]);
    const share = along.reduce((sum, x, j) => sum + x * normal[j], 0) / normal.reduce((sum, x) => sum + x * x, 0);
    const side = off * (random() - 0.5);
    return along.map((x, j) => (a[j] + b[j]) / 2 + x - (share + side) * normal[j]);
  });
  const points = { data: Float64Array.from(rows.flatMap((row) => Array.from(row))), rows: 60, cols: d };
  const centroids = [Float64Array.from([...a, ...b, ...far.map((x) => x + 50)])];
  return { name: `at a border d=${d} off ${off}`, points, weights: undefined, k: 3, centroids };
}

test("rows that float32 cannot tell apart get the labels of the reference", () => {
  for (let seed = 0; seed < 100; seed++) {
    for (const off of [0, 1e-15, 1e-9, 1e-7, 1e-6, 1e-5]) {
      const { points, k, centroids, name } = atBorder(1 + (seed % 4), seed, off);
      const init = { data: centroids[0], rows: k, cols: points.cols };
      for (const maxIter of [1, 300]) {
        const [ours, reference] = [tiny, jsKernel].map((kernel) => kmeans(points, { k, init, maxIter, kernel }));
        expect(ours, name).toEqual(reference);
      }
    }
  }
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e200])(
  "%d anywhere in a tiny device is refused",
  (wrong) => {
    for (let at = 0; at < 14; at++) {
      const points = { data: Float64Array.from({ length: 14 }, (_, i) => i % 5), rows: 7, cols: 2 };
      points.data[at] = wrong;
      expect(() => kmeans(points, { k: 2 })).toThrow(`got ${wrong} at row ${Math.floor(at / 2)}, column ${at % 2}`);
    }
  },
);

test("devices that take turns, with changing numbers of clusters, do not disturb each other", () => {
  const [ours, reference] = [tiny, jsKernel].map((kernel) => problems.map(({ points }) => kernel.prepare(points)));
  for (let turn = 0; turn < 3; turn++) {
    problems.forEach(({ points: { rows, cols, data }, name }, i) => {
      const k = 1 + ((i + turn) % Math.min(rows, 5));
      const [found, expected] = [ours[i], reference[i]].map((prepared) => {
        const statistics = emptyStatistics(k, cols);
        const labels = new Uint32Array(rows);
        prepared.statistics(data.slice(0, k * cols), statistics);
        prepared.labels(data.slice((rows - k) * cols), labels);
        return { statistics, labels };
      });
      expect(found, name).toEqual(expected);
    });
  }
});
