// Memory that k-means needs beyond the caller's points, each workload in a process of its own.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { kmeans } from "@fedkm/core";
import { peakMemory, print, progress } from "../../measure.ts";
import type { PointsOf } from "../lloyd/compare.ts";
import { readNumbers, workloads } from "../lloyd/workloads.ts";

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
