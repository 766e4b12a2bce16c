// npm run bench: what a run of Algorithm 1 costs, as ratios to peers in the same process tree, and how the cost grows.

import { spawnSync } from "node:child_process";
import { type HeapProfiler, Session } from "node:inspector";
import { fileURLToPath } from "node:url";
import { erdosRenyi, fit, kmeans, type Matrix, normalStream, paperData, randomStream, ring, toRows } from "@fedkm/core";
import { straightforwardFit } from "./straightforward.ts";
import { print } from "./table.ts";

const ROUNDS = 200;

wholeRun();
growth();
garbage();
memory();

/** The paper's largest setting: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds. */
function wholeRun(): void {
  const { datasets } = paperData("iso", 10, 800, 1);
  const network = erdosRenyi(10, 0.7, randomStream(1, "graph"));
  const init = datasets.map((points) => kmeans(points, { k: 3, seed: 1 }).centroids);
  const options = { k: 3, alpha: 1, init, rounds: ROUNDS, preset: "paper" } as const;
  const ours = cpuMilliseconds(15, () => fit(datasets, network, options));
  const { centroids } = fit(datasets, network, options);

  const neighbours = network.neighbours.map((row) => Array.from(row));
  const [points, start] = [datasets.map(toRows), init.map(toRows)];
  let plain: number[][][] = [];
  const plainTime = cpuMilliseconds(1, () => {
    plain = straightforwardFit(points, neighbours, start, 1, ROUNDS);
  });
  const peer = numpy({ points, start, neighbours, alpha: 1, rounds: ROUNDS });

  print("a whole run: n = 10, m = 800, k = 3, d = 2, alpha = 1, 200 cyclic rounds, one core", [
    ["program", "CPU ms", "ratio to ours", "largest difference"],
    ["fedkm, JavaScript", ours.toFixed(1), "1", ""],
    ["arrays of arrays", plainTime.toFixed(0), ratio(plainTime, ours), difference(plain, centroids)],
    peer === undefined
      ? ["numpy", "not available", "", "install python3-numpy to compare"]
      : [
          "numpy",
          (1000 * peer.seconds).toFixed(0),
          ratio(1000 * peer.seconds, ours),
          difference(peer.centroids, centroids),
        ],
  ]);
}

/** A ring of n devices with 50 points each: a device update must not cost more in a larger network. */
function growth(): void {
  const rows = [["n", "microseconds per device update", "ratio to n = 10"]];
  let first = 0;
  for (const size of [10, 100, 1000, 10_000]) {
    const { datasets, init } = smallDevices(size, 50);
    const rounds = 200_000 / size;
    const options = { k: 3, alpha: 1, init, rounds, passes: 1, tol: 0, preset: "paper" } as const;
    const network = ring(size);
    // The run without rounds is what it costs to set up; the difference is the rounds.
    const setUp = cpuMilliseconds(5, () => fit(datasets, network, { ...options, rounds: 0 }));
    let updates = 0;
    const whole = cpuMilliseconds(5, () => {
      updates = fit(datasets, network, options).rounds * size;
    });
    const perUpdate = (1000 * (whole - setUp)) / updates;
    first ||= perUpdate;
    rows.push([String(size), perUpdate.toFixed(2), ratio(perUpdate, first)]);
  }
  print("growth with the network: ring, m = 50, k = 3, d = 2, one pass", rows);
}

/** Bytes that a device update allocates, collected or not, as V8's sampling profiler sees them. */
function garbage(): void {
  const size = 1000;
  const rounds = 100;
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
function memory(): void {
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

function smallDevices(size: number, rows: number): { datasets: Matrix[]; init: Matrix[] } {
  const datasets = Array.from({ length: size }, (_, i) => {
    const normal = normalStream(randomStream(i, "bench"));
    return { data: Float64Array.from({ length: 2 * rows }, (_, x) => 10 * ((x >> 1) % 3) + normal()), rows, cols: 2 };
  });
  const init = datasets.map(() => ({ data: Float64Array.of(0, 0, 10, 10, 20, 20), rows: 3, cols: 2 }));
  return { datasets, init };
}

function numpy(problem: object): { seconds: number; centroids: number[][][] } | undefined {
  const script = fileURLToPath(new URL("../src/peer.py", import.meta.url));
  const env = { ...process.env, OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1" };
  const { status, stdout } = spawnSync("python3", [script], { input: JSON.stringify(problem), env, maxBuffer: 1e8 });
  return status === 0 ? JSON.parse(stdout.toString()) : undefined;
}

/** Best of several, in CPU time: other work on the machine disturbs it least. */
function cpuMilliseconds(times: number, run: () => void): number {
  let best = Number.POSITIVE_INFINITY;
  for (let t = 0; t < times; t++) {
    const before = process.cpuUsage();
    run();
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  return best;
}

function ratio(theirs: number, ours: number): string {
  return (theirs / ours).toPrecision(2);
}

function difference(theirs: number[][][], ours: readonly Matrix[]): string {
  const flat = ours.flatMap((own) => Array.from(own.data));
  return Math.max(...theirs.flat(2).map((x, i) => Math.abs(x - flat[i]))).toExponential(0);
}
