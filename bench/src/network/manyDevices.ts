// 100,000 devices of 20 points: CPU time and memory of a whole run, each size in a process of its own.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { fit, ring } from "@fedkm/core";
import { cpuSeconds, peakMemory, progress, ratio } from "../measure.ts";
import { print } from "../table.ts";
import { smallDevices } from "./devices.ts";

const file = fileURLToPath(import.meta.url);

interface Cost {
  readonly seconds: number;
  /** Bytes held at once beyond the caller's points, network and start. */
  readonly beyond: number;
}

export function manyDevices(isQuick: boolean): void {
  const sizes = isQuick ? [2500, 5000, 10_000] : [25_000, 50_000, 100_000];
  const rows = [["n", "CPU s", "per device, ratio to the first", "MB beyond the points", "gate, s", "gate, MB"]];
  let first = 0;
  for (const size of sizes) {
    progress(`many devices: n = ${size}`);
    const { status, stdout } = spawnSync(process.execPath, ["--expose-gc", file, String(size)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (status !== 0) throw new Error(`the run of ${size} devices failed`);
    const { seconds, beyond } = JSON.parse(stdout) as Cost;
    first ||= seconds / size;
    const gates = size === 100_000 ? ["10", "200"] : ["", ""];
    rows.push([String(size), seconds.toFixed(2), ratio(seconds / size, first), (beyond / 1e6).toFixed(0), ...gates]);
  }
  progress("");
  print("many devices: ring, m = 20, k = 3, d = 2, one pass, 100 rounds", rows);
}

function measure(size: number): Cost {
  const { datasets, init } = smallDevices(size, 20);
  const network = ring(size);
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const options = { k: 3, alpha: 1, init, rounds: 100, passes: 1, tol: 0, preset: "paper" } as const;
  const seconds = cpuSeconds(1, () => fit(datasets, network, options));
  return { seconds, beyond: Math.max(0, peakMemory() - before) };
}

if (process.argv[1] === file) console.log(JSON.stringify(measure(Number(process.argv[2]))));
