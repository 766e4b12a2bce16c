// Algorithm 1 against peers, and many small devices on a ring: what an update costs, allocates, and a result holds.

import { spawnSync } from "node:child_process";
import { type HeapProfiler, Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { erdosRenyi, fit, kmeans, type Matrix, normalStream, paperData, randomStream, ring, toRows } from "@fedkm/core";
import { cpuSeconds, print, progress, ratio } from "../measure.ts";
import { ONE_THREAD, type Python, toInstall } from "../python.ts";

// What a whole run of Algorithm 1 costs, against the same algorithm in numpy and in plain arrays of arrays.

// Algorithm 1 as one would first write it: arrays of arrays, everything recomputed. The yardstick for the packed loop.

type Rows = number[][];

const square = (a: number[], b: number[]) => a.reduce((sum, x, i) => sum + (x - b[i]) ** 2, 0);

function nearest(row: number[], rows: Rows): number {
  const squares = rows.map((other) => square(row, other));
  return squares.indexOf(Math.min(...squares));
}

function localObjective(points: Rows, own: Rows, neighbours: Rows[], alpha: number): number {
  const toNearest = (from: Rows, to: Rows) => from.reduce((sum, row) => sum + square(row, to[nearest(row, to)]), 0);
  const pulls = neighbours.map((other) => toNearest(own, other) + toNearest(other, own));
  return toNearest(points, own) / points.length + alpha * pulls.reduce((a, b) => a + b, 0);
}

function onePass(points: Rows, own: Rows, neighbours: Rows[], alpha: number): Rows {
  const sums = own.map((row) => row.map(() => 0));
  const weights = own.map(() => 0);
  const add = (c: number, row: number[], weight: number) => {
    weights[c] += weight;
    sums[c] = sums[c].map((x, i) => x + weight * row[i]);
  };
  for (const point of points) add(nearest(point, own), point, 1 / points.length);
  for (const other of neighbours) {
    for (const centroid of other) add(nearest(centroid, own), centroid, alpha);
    own.forEach((centroid, c) => {
      add(c, other[nearest(centroid, other)], alpha);
    });
  }
  return own.map((row, c) => (weights[c] > 0 ? sums[c].map((x) => x / weights[c]) : row));
}

function straightforwardFit(
  datasets: Rows[],
  neighbours: number[][],
  start: Rows[],
  alpha: number,
  rounds: number,
): Rows[] {
  const centroids = [...start];
  for (let round = 0; round < rounds; round++) {
    datasets.forEach((points, i) => {
      const others = neighbours[i].map((j) => centroids[j]);
      let objective = localObjective(points, centroids[i], others, alpha);
      for (let pass = 0; pass < 100; pass++) {
        centroids[i] = onePass(points, centroids[i], others, alpha);
        const lower = localObjective(points, centroids[i], others, alpha);
        if (objective - lower <= 1e-12 * Math.max(1, objective)) break;
        objective = lower;
      }
    });
  }
  return centroids;
}

const ROUNDS = 200;

/** The paper's largest setting: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds. */
export function wholeRun(python: Python): void {
  progress("a whole run");
  const { datasets } = paperData("iso", 10, 800, 1);
  const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
  const init = datasets.map((points) => kmeans(points, { k: 3, seed: 1 }).centroids);
  const options = { k: 3, alpha: 1, init, rounds: ROUNDS, preset: "paper" } as const;
  const ours = cpuSeconds(30, () => fit(datasets, network, options));
  const { centroids } = fit(datasets, network, options);

  const neighbours = network.neighbours.map((row) => Array.from(row));
  const [points, start] = [datasets.map(toRows), init.map(toRows)];
  let plain: number[][][] = [];
  const plainTime = cpuSeconds(1, () => {
    plain = straightforwardFit(points, neighbours, start, 1, ROUNDS);
  });
  const peer = numpy(python, { points, start, neighbours, alpha: 1, rounds: ROUNDS });
  const missing = toInstall(["numpy"], python)[0] ?? "not available";
  progress("");

  print("a whole run: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds, one core", [
    ["program", "CPU ms", "ratio to ours", "largest difference", "gate", "reach"],
    ["fedkm", (1000 * ours).toFixed(1), "1", "", "15", "8"],
    ["arrays of arrays", (1000 * plainTime).toFixed(0), ratio(plainTime, ours), difference(plain, centroids), "", ""],
    peer === undefined
      ? ["numpy", missing, "", "", "", ""]
      : [
          ...["numpy", (1000 * peer.seconds).toFixed(0), ratio(peer.seconds, ours)],
          ...[difference(peer.centroids, centroids), "", ""],
        ],
  ]);
}

function numpy({ command }: Python, problem: object): { seconds: number; centroids: number[][][] } | undefined {
  const script = fileURLToPath(new URL("../../src/speed/algorithm1.py", import.meta.url));
  const env = { ...process.env, ...ONE_THREAD };
  const { status, stdout } = spawnSync(command, [script], { input: JSON.stringify(problem), env, maxBuffer: 1e8 });
  return status === 0 ? JSON.parse(stdout.toString()) : undefined;
}

function difference(theirs: number[][][], ours: readonly Matrix[]): string {
  const flat = ours.flatMap((own) => Array.from(own.data));
  return Math.max(...theirs.flat(2).map((x, i) => Math.abs(x - flat[i]))).toExponential(0);
}

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
