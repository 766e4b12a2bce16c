// One thread against all of the machine's, on the workloads that are large enough to share: wall time in turns.

import { kmeans, type Matrix } from "@fedkm/core";
import { startThreads, type ThreadedKernel } from "@fedkm/core/threads";
import { print, progress, ratio } from "../../measure.ts";
import type { PointsOf } from "./compare.ts";
import { readNumbers, type Workload, workloads } from "./workloads.ts";

/** One thread's time over that of several, at least. */
const GATE = 1.5;
const SHARED = ["B", "C", "D", "E"];

export async function compareThreads(isQuick: boolean, pointsOf: PointsOf): Promise<void> {
  const kernel = await startThreads();
  const { threads } = kernel;
  const rows = [["", "m", "d", "k", "1 thread, s", `${threads} threads, s`, "times as fast", "gate", "same labels"]];
  try {
    for (const workload of workloads(isQuick).filter(({ name }) => SHARED.includes(name))) {
      rows.push(rowOf(workload, pointsOf(workload), kernel, isQuick ? 1 : 3));
    }
  } finally {
    await kernel.close();
    progress("");
  }
  print(`k-means on one and on ${threads} threads, wall time, 20 iterations`, rows);
}

function rowOf({ name, m, d, k, cap }: Workload, file: string, kernel: ThreadedKernel, turns: number): string[] {
  const data = readNumbers(file);
  const points: Matrix = { data, rows: m, cols: d };
  const options = { k, init: { data: data.slice(0, k * d), rows: k, cols: d }, maxIter: cap, tol: 0 };
  let alone = Number.POSITIVE_INFINITY;
  let together = Number.POSITIVE_INFINITY;
  let isSame = true;
  // In turns, because the machine may have other work to do at times; the first turn also pays for fresh memory.
  for (let turn = 0; turn <= turns; turn++) {
    progress(`${name}: threads, turn ${turn}`);
    const one = timed(() => kmeans(points, options));
    const several = timed(() => kmeans(points, { ...options, kernel }));
    alone = Math.min(alone, one.seconds);
    together = Math.min(together, several.seconds);
    isSame &&= one.value.labels.every((label, r) => label === several.value.labels[r]);
  }
  const seconds = [alone, together].map((value) => value.toPrecision(3));
  return [
    name,
    String(m),
    String(d),
    String(k),
    ...seconds,
    ratio(alone, together),
    String(GATE),
    isSame ? "yes" : "NO",
  ];
}

function timed<T>(run: () => T): { value: T; seconds: number } {
  const start = performance.now();
  const value = run();
  return { value, seconds: (performance.now() - start) / 1000 };
}
