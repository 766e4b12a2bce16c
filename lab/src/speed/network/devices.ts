// Many small devices on a ring: what an update costs as the network grows, what it allocates, what a result holds.

import { type HeapProfiler, Session } from "node:inspector";
import { fit, type Matrix, normalStream, randomStream, ring } from "@fedkm/core";
import { cpuSeconds, print, progress, ratio } from "../../measure.ts";

/** Devices of `rows` points around three centres, and where they start. */
export function smallDevices(size: number, rows: number): { datasets: Matrix[]; init: Matrix[] } {
  const datasets = Array.from({ length: size }, (_, i) => {
    const normal = normalStream(randomStream(i, "bench"));
    return { data: Float64Array.from({ length: 2 * rows }, (_, x) => 10 * ((x >> 1) % 3) + normal()), rows, cols: 2 };
  });
  const start = { data: Float64Array.of(0, 0, 10, 10, 20, 20), rows: 3, cols: 2 };
  return { datasets, init: datasets.map(() => start) };
}

/** CPU microseconds of a device update in a network of n devices, which must not depend on n. */
function updateCost(size: number, updates: number, times: number): number {
  const { datasets, init } = smallDevices(size, 50);
  const options = { k: 3, alpha: 1, init, rounds: updates / size, passes: 1, tol: 0, preset: "paper" } as const;
  const network = ring(size);
  // The first run is the compiler's.
  fit(datasets, network, options);
  // The run without rounds is what it costs to set up; the difference is the rounds.
  const setUp = cpuSeconds(times, () => fit(datasets, network, { ...options, rounds: 0 }));
  let made = 0;
  const whole = cpuSeconds(times, () => {
    made = fit(datasets, network, options).rounds * size;
  });
  return (1e6 * (whole - setUp)) / made;
}

export function growthWithNetwork(title: string, sizes: readonly number[], updates: number, times: number): void {
  const rows = [["n", "microseconds per device update", "ratio to the first"]];
  let first = 0;
  for (const size of sizes) {
    progress(`growth: n = ${size}`);
    const cost = updateCost(size, updates, times);
    first ||= cost;
    rows.push([String(size), cost.toFixed(2), ratio(cost, first)]);
  }
  progress("");
  print(`${title}: ring, m = 50, k = 3, d = 2, one pass`, rows);
}

/** Bytes that a device update allocates, collected or not, as V8's sampling profiler sees them. */
export function garbage(): void {
  const [size, rounds] = [1000, 100];
  const { datasets, init } = smallDevices(size, 50);
  const run = () => fit(datasets, ring(size), { k: 3, alpha: 1, init, rounds, passes: 1, tol: 0, preset: "paper" });
  run();
  const session = new Session();
  session.connect();
  session.post("HeapProfiler.startSampling", {
    samplingInterval: 512,
    includeObjectsCollectedByMajorGC: true,
    includeObjectsCollectedByMinorGC: true,
  });
  run();
  session.post("HeapProfiler.stopSampling", (_, { profile }) => {
    const total = (node: HeapProfiler.SamplingHeapProfileNode): number =>
      node.children.reduce((sum, child) => sum + total(child), node.selfSize);
    print("garbage: ring, n = 1,000, m = 50, k = 3, d = 2, one pass", [
      ["bytes allocated per device update", "bytes of its result (k d numbers)"],
      [(total(profile.head) / (rounds * size)).toFixed(0), String(3 * 2 * 8)],
    ]);
  });
  session.disconnect();
}

/** What a fitted network holds on to: points are the caller's, a model is n k d numbers and a line per round. */
export function resultMemory(): void {
  const size = 10_000;
  const { datasets, init } = smallDevices(size, 50);
  const network = ring(size);
  const used = () => {
    globalThis.gc?.();
    const { heapUsed, arrayBuffers } = process.memoryUsage();
    return heapUsed + arrayBuffers;
  };
  const before = used();
  const model = fit(datasets, network, { k: 3, alpha: 1, init, rounds: 2 });
  const held = used() - before;
  print("memory: n = 10,000, m = 50, k = 3, d = 2, ring", [
    ["points, MB", "result held, MB", "messages"],
    [((size * 50 * 2 * 8) / 1e6).toFixed(1), (held / 1e6).toFixed(1), String(model.messages)],
  ]);
}
