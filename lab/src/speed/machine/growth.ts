// Doubling tables: how the cost of an iteration grows with the points, the columns and the clusters.

import { kmeans } from "@fedkm/core";
import { cpuSeconds, print, progress, ratio } from "../../measure.ts";
import { blobs } from "../lloyd/workloads.ts";

interface Shape {
  readonly m: number;
  readonly d: number;
  readonly k: number;
}

const ITERATIONS = 10;

export function growthWithShape(isQuick: boolean): void {
  const scale = isQuick ? 1 : 4;
  const base: Shape = { m: 10_000 * scale, d: 16, k: 16 };
  const steps = [0, 1, 2, 3, 4].map((step) => 2 ** step);
  doubling(
    "m",
    "d = 16, k = 16",
    steps.map((factor) => ({ ...base, m: (base.m / 4) * factor })),
    isQuick,
  );
  doubling(
    "d",
    `m = ${base.m}, k = 16`,
    steps.map((factor) => ({ ...base, d: 8 * factor })),
    isQuick,
  );
  doubling(
    "k",
    `m = ${base.m}, d = 16`,
    steps.map((factor) => ({ ...base, k: 4 * factor })),
    isQuick,
  );
}

function doubling(name: keyof Shape, others: string, shapes: readonly Shape[], isQuick: boolean): void {
  const rows = [[name, "CPU ms", "per m k d, ratio to the first"]];
  let first = 0;
  for (const { m, d, k } of shapes) {
    progress(`growth: m = ${m}, d = ${d}, k = ${k}`);
    const points = { data: blobs(m, d, k), rows: m, cols: d };
    const init = { data: points.data.slice(0, k * d), rows: k, cols: d };
    const run = () => kmeans(points, { k, init, maxIter: ITERATIONS, tol: 0 });
    // The first run is the compiler's.
    run();
    const seconds = cpuSeconds(isQuick ? 3 : 7, run);
    const cost = seconds / (m * d * k);
    first ||= cost;
    rows.push([String({ m, d, k }[name]), (1000 * seconds).toFixed(1), ratio(cost, first)]);
  }
  progress("");
  print(`growth with ${name}: ${others}, ${ITERATIONS} iterations`, rows);
}
