// Holds every engine to the bits of the reference on one problem.

import { type Points, widenPoints } from "../../src/data/matrix.ts";
import { jsKernel } from "../../src/kernel/js.ts";
import { emptyStatistics, type Kernel, type PreparedPoints } from "../../src/kernel/kernel.ts";
import { type KernelEngine, SMALL_COLUMNS } from "../../src/kernel/pick.ts";
import { wasmKernel } from "../../src/kernel/wasm.ts";
import type { Problem } from "./problems.ts";

/** Those with pair bounds. */
export const pairEngines = ["pruned", "grouped"] as const;

export function enginesFor(cols: number): readonly KernelEngine[] {
  return cols <= SMALL_COLUMNS ? ["tiny", "small"] : ["plain", "screen", "bounded", ...pairEngines];
}

/** Everything an engine says about one set of centroids, as bits. */
function answers(prepared: PreparedPoints, problem: Problem<Points>, centroids: Float64Array): Uint32Array[] {
  const { points, k } = problem;
  const statistics = emptyStatistics(k, points.cols);
  const labels = new Uint32Array(points.rows);
  prepared.statistics(centroids, statistics);
  prepared.labels(centroids, labels);
  const numbers = [labels, statistics.counts, statistics.sums, Float64Array.of(statistics.loss)];
  return numbers.map((part) => new Uint32Array(part.buffer));
}

function differences(kernel: Kernel, problem: Problem<Points>, expected: readonly Uint32Array[][]): string[] {
  const prepared = kernel.prepare(problem.points, problem.weights);
  const wrong: string[] = [];
  problem.centroids.forEach((centroids, call) => {
    answers(prepared, problem, centroids).forEach((part, which) => {
      const name = ["labels", "counts", "sums", "loss"][which];
      if (!areSame(part, expected[call][which])) wrong.push(`${kernel.name} call ${call} ${name}: ${problem.name}`);
    });
  });
  prepared.release();
  return wrong;
}

function areSame(a: Uint32Array, b: Uint32Array): boolean {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

/** Differences of the given kernels, by default every engine, from the reference on the same points in float64. */
export function compare(
  problem: Problem<Points>,
  kernels: readonly Kernel[] = enginesFor(problem.points.cols).map((engine) => wasmKernel(engine)),
): string[] {
  const reference = jsKernel.prepare(widenPoints(problem.points), problem.weights);
  const expected = problem.centroids.map((centroids) => answers(reference, problem, centroids));
  return kernels.flatMap((kernel) => differences(kernel, problem, expected));
}
