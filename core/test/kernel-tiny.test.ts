// The tiny engine beyond single calls: Lloyd's iteration at once, and many devices that share one place in memory.

import { expect, test } from "vitest";
import { jsKernel } from "../src/kernel/js.ts";
import { emptyStatistics } from "../src/kernel/kernel.ts";
import { wasmKernel } from "../src/kernel/wasm.ts";
import { kmeans } from "../src/kmeans.ts";
import { type Problem, problemOf } from "./kernel-problems.ts";

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
