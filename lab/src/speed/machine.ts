// What the machine could do at most, how the cost of an iteration grows, and the memory that k-means needs.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fastKernel, kmeans, normalStream, randomStream } from "@fedkm/core";
import { cpuSeconds, peakMemory, print, progress, ratio } from "../measure.ts";
import { ONE_THREAD, type Python } from "../python.ts";
import type { PointsOf } from "./lloyd.ts";
import { blobs, readNumbers, workloads } from "./workloads.ts";

// What this machine can do at most, and how near the kernel comes: read bandwidth and arithmetic rates of one core.

export function roofline(python: Python, isQuick: boolean): void {
  progress("roofline");
  const times = isQuick ? 5 : 20;
  const rows = [
    ["one core", "reached"],
    ["memory read (memchr of the C library)", `${bandwidth(times)} GB/s`],
  ];
  for (const { name, m, d, k } of SHAPES) {
    rows.push([`kernel, ${name}: m = ${m}, d = ${d}, k = ${k}`, `${kernelRate(m, d, k, times)} G/s`]);
  }
  for (const [name, rate] of Object.entries(productRates(python))) rows.push([name, `${rate.toFixed(0)} G/s`]);
  progress("");
  print("roofline: G/s are 10^9 multiplications and additions of m k d, in the cache", rows);
}

/** Shapes for which the kernel picks each of its engines, small enough for the cache. */
const SHAPES = [
  { name: "int16 screen", m: 1024, d: 128, k: 256 },
  { name: "float64 rows", m: 400, d: 128, k: 256 },
  { name: "float64 registers", m: 4096, d: 2, k: 16 },
] as const;

/** A byte that is not there is looked for in an array far larger than any cache. */
function bandwidth(times: number): string {
  const bytes = Buffer.alloc(2 ** 28, 1);
  const seconds = cpuSeconds(times, () => bytes.indexOf(2));
  return (bytes.length / seconds / 1e9).toFixed(1);
}

/** Centroids jump to and fro, so that nothing can be known from the call before. */
function kernelRate(m: number, d: number, k: number, times: number): string {
  const normal = normalStream(randomStream(1, "roofline"));
  const numbers = (length: number) => Float64Array.from({ length }, normal);
  const prepared = fastKernel.prepare({ data: numbers(m * d), rows: m, cols: d });
  const centroids = [numbers(k * d), numbers(k * d)];
  const statistics = { counts: new Float64Array(k), sums: new Float64Array(k * d), loss: 0 };
  const calls = Math.ceil(2e8 / (m * k * d));
  const seconds = cpuSeconds(times, () => {
    for (let call = 0; call < calls; call++) prepared.statistics(centroids[call & 1], statistics, false);
  });
  prepared.release();
  return ((2 * calls * m * k * d) / seconds / 1e9).toFixed(0);
}

const PRODUCT = `
import json, time, numpy as np
rates = {}
for kind in (np.float64, np.float32):
    a = np.random.rand(512, 512).astype(kind)
    best = 1e9
    for _ in range(20):
        begin = time.process_time()
        for _ in range(5): a @ a
        best = min(best, time.process_time() - begin)
    rates["numpy, product of matrices, " + kind.__name__] = 5 * 2 * 512 ** 3 / best / 1e9
print(json.dumps(rates))
`;

/** Nothing where numpy is missing. OpenBLAS is told to use AVX2, which it may not know this processor has. */
function productRates({ command }: Python): Record<string, number> {
  const env = { ...process.env, ...ONE_THREAD, OPENBLAS_CORETYPE: "Haswell" };
  const { status, stdout } = spawnSync(command, ["-c", PRODUCT], { env, encoding: "utf8" });
  return status === 0 ? JSON.parse(stdout) : {};
}

// Doubling tables: how the cost of an iteration grows with the points, the columns and the clusters.

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

const file = fileURLToPath(import.meta.url);
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(0);

export function kernelMemory(isQuick: boolean, pointsOf: PointsOf): void {
  const rows = [["", "points X, MB", "beyond, MB", "budget 1.3 X + 64 MB", ""]];
  for (const workload of workloads(isQuick).filter(({ name }) => name === "B" || name === "E")) {
    const { name, m, d, k } = workload;
    const words = [pointsOf(workload), m, d, k].map(String);
    progress(`memory: ${name}`);
    const { status, stdout } = spawnSync(process.execPath, ["--expose-gc", file, ...words], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`the memory of ${name} could not be measured`);
    const beyond = Number(stdout);
    const size = 8 * m * d;
    const budget = 1.3 * size + 64e6;
    rows.push([name, megabytes(size), megabytes(beyond), megabytes(budget), beyond <= budget ? "held" : "missed"]);
  }
  progress("");
  print("memory of k-means beyond the points, at its highest, 20 iterations", rows);
}

function measure(points: string, m: number, d: number, k: number): number {
  const data = readNumbers(points);
  const init = { data: data.slice(0, k * d), rows: k, cols: d };
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  kmeans({ data, rows: m, cols: d }, { k, init, maxIter: 20, tol: 0 });
  return Math.max(0, peakMemory() - before);
}

if (process.argv[1] === file) {
  const [points, m, d, k] = process.argv.slice(2);
  console.log(measure(points, Number(m), Number(d), Number(k)));
}
