// Very many devices of 20 points: CPU time and memory of a whole run, each size in a process of its own.

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { erdosRenyi, fit, type Graph, randomStream, ring } from "@fedkm/core";
import { cpuSeconds, peakMemory, print, progress, ratio } from "../measure.ts";
import { smallDevices } from "./network.ts";

const file = fileURLToPath(import.meta.url);

/** Neighbours of a device in the random graph, on average. */
const MEAN_DEGREE = 6;

const networks: Record<"ring" | "random", (size: number) => Graph> = {
  ring,
  random: (size) => erdosRenyi(size, MEAN_DEGREE / (size - 1), randomStream(1, "bench", "graph")),
};

interface Run {
  readonly size: number;
  readonly network: keyof typeof networks;
  readonly rounds: number;
  /** Given centroids and the paper's updates, one pass each, or everything as `fit` does it by default. */
  readonly manner: "given start" | "defaults";
}

interface Cost {
  /** CPU seconds to make the network, and of the whole fit. */
  readonly networkSeconds: number;
  readonly seconds: number;
  /** Bytes held at once: by the whole process, and beyond the caller's points, network and start. */
  readonly peak: number;
  readonly beyond: number;
}

export function manyDevices(isQuick: boolean): void {
  const sizes = isQuick ? [2500, 5000, 10_000] : [25_000, 50_000, 100_000];
  const rows = [["n", "CPU s", "per device, ratio to the first", "MB beyond the points", "gate, s", "gate, MB"]];
  let first = 0;
  for (const size of sizes) {
    const { seconds, beyond } = costOf({ size, network: "ring", rounds: 100, manner: "given start" });
    first ||= seconds / size;
    const gates = size === 100_000 ? ["10", "200"] : ["", ""];
    rows.push([String(size), seconds.toFixed(2), ratio(seconds / size, first), (beyond / 1e6).toFixed(0), ...gates]);
  }
  progress("");
  print("many devices: ring, m = 20, k = 3, d = 2, one pass, 100 rounds", rows);
  millionDevices(isQuick ? 100_000 : 1_000_000);
}

function millionDevices(size: number): void {
  const rows = [["n", "network", "start", "network, CPU s", "10 rounds, CPU s", "GB at most", "gate, s", "gate, GB"]];
  const gates = size === 1_000_000 ? ["60", "4"] : ["", ""];
  for (const manner of ["given start", "defaults"] as const) {
    for (const network of ["ring", "random"] as const) {
      const { networkSeconds, seconds, peak } = costOf({ size, network, rounds: 10, manner });
      const measured = [networkSeconds.toFixed(2), seconds.toFixed(1), (peak / 1e9).toFixed(1)];
      rows.push([String(size), network, manner, ...measured, ...gates]);
    }
  }
  progress("");
  print(`very many devices: m = 20, k = 3, d = 2, ${MEAN_DEGREE} neighbours on average in the random one`, rows);
}

/** In a process of its own, so that nothing else is in its memory. */
function costOf(run: Run): Cost {
  progress(`many devices: ${run.network}, n = ${run.size}`);
  const words = ["--expose-gc", "--max-old-space-size=4096", file, JSON.stringify(run)];
  const { status, stdout } = spawnSync(process.execPath, words, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`the run of ${run.size} devices failed`);
  return JSON.parse(stdout) as Cost;
}

function measure({ size, network, rounds, manner }: Run): Cost {
  const { datasets, init } = smallDevices(size, 20);
  let graph: Graph | undefined;
  const networkSeconds = cpuSeconds(1, () => {
    graph = networks[network](size);
  });
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  const paper = { init, passes: 1, tol: 0, preset: "paper" } as const;
  const options = { k: 3, alpha: 1, rounds, ...(manner === "given start" && paper) };
  const seconds = cpuSeconds(1, () => fit(datasets, graph as Graph, options));
  const peak = peakMemory();
  return { networkSeconds, seconds, peak, beyond: Math.max(0, peak - before) };
}

if (process.argv[1] === file) console.log(JSON.stringify(measure(JSON.parse(process.argv[2]) as Run)));
