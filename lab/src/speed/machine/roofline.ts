// What this machine can do at most, and how near the kernel comes: read bandwidth and arithmetic rates of one core.

import { spawnSync } from "node:child_process";
import { fastKernel, normalStream, randomStream } from "@fedkm/core";
import { cpuSeconds, print, progress } from "../../measure.ts";
import { ONE_THREAD, type Python } from "../../python.ts";

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
