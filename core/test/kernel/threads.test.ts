// Worker threads: the bits of the reference for any number of threads, and pools that end, die or are forgotten.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { runs, testSeed } from "../../../test/runs.ts";
import { fit, jsKernel, kmeans, ring } from "../../src/index.ts";
import type { KernelEngine } from "../../src/kernel/pick.ts";
import { nodeHost, startThreads } from "../../src/kernel/threads/node.ts";
import {
  type PoolTuning,
  startThreadPool,
  type ThreadedKernel,
  type ThreadHost,
} from "../../src/kernel/threads/threadedKernel.ts";
import { compare, enginesFor } from "./compare.ts";
import { largeProblemOf, problemOf } from "./problems.ts";

const PROBLEMS = runs({ short: 40, long: 240 });

/** Everything is worth sharing here. */
const poolOf = (threads: number, tuning: PoolTuning = {}, host: ThreadHost = nodeHost) =>
  startThreadPool(host, { threads }, { worthwhile: 0, ...tuning });

describe("bits", () => {
  const pools = new Map<KernelEngine, ThreadedKernel[]>();

  beforeAll(async () => {
    for (const engine of ["small", "plain", "screen", "bounded"] as const)
      pools.set(engine, await Promise.all([1, 2, 3].map((threads) => poolOf(threads, { engine }))));
  });

  afterAll(async () => {
    await Promise.all([...pools.values()].flat().map((pool) => pool.close()));
  });

  const kernelsFor = (cols: number) => enginesFor(cols).flatMap((engine) => pools.get(engine) ?? []);

  test.each([0, 1, 2, 3])(
    `every engine on 1, 2, 3 threads answers as the reference, quarter %i of ${PROBLEMS} problems`,
    (part) => {
      const wrong: string[] = [];
      for (let number = part; number < PROBLEMS; number += 4) {
        const problem = problemOf(number, testSeed, 1025 + ((number * 619) % 2100));
        wrong.push(...compare(problem, kernelsFor(problem.points.cols)));
      }
      expect(wrong).toEqual([]);
      expect([...pools.values()].map((of) => of.map(({ threads }) => threads))).toEqual(Array(4).fill([1, 2, 3]));
    },
  );

  test("larger problems of the measured shapes", () => {
    const wrong = Array.from({ length: runs({ short: 3, long: 6 }) }, (_, number) => {
      const problem = largeProblemOf(number, testSeed);
      return compare(problem, kernelsFor(problem.points.cols));
    });
    expect(wrong.flat()).toEqual([]);
  });

  test("distances", () => {
    const { points, centroids } = problemOf(17, 0, 70_001);
    const centre = centroids[0].subarray(0, points.cols);
    const expected = new Float64Array(points.rows);
    jsKernel.prepare(points).squaredDistances(centre, expected);
    for (const kernel of kernelsFor(points.cols)) {
      const found = new Float64Array(points.rows);
      kernel.prepare(points).squaredDistances(centre, found);
      // toEqual takes a second for this many numbers.
      expect(Buffer.from(found.buffer).equals(Buffer.from(expected.buffer))).toBe(true);
    }
  });
});

test("kmeans and fit use a pool like any other kernel", async () => {
  const kernel = await poolOf(2);
  const { points } = problemOf(21, 0, 5000);
  const options = { k: 7, restarts: 2 };
  expect(kmeans(points, { ...options, kernel })).toEqual(kmeans(points, options));
  const datasets = [3, 4, 5, 6].map((seed) => problemOf(40 * seed, 0, 3000).points);
  const settings = { k: 3, alpha: 1, rounds: 4 };
  expect(fit(datasets, ring(4), { ...settings, kernel })).toEqual(fit(datasets, ring(4), settings));
  await kernel.close();
});

describe("ends", () => {
  const problem = problemOf(21, 0, 5000);

  test("close ends the workers, twice is once, and the kernel goes on alone", async () => {
    const kernel = await poolOf(3);
    const before = kernel.prepare(problem.points);
    expect(kernel.threads).toBe(3);
    await Promise.all([kernel.close(), kernel.close()]);
    await kernel.close();
    expect(kernel.threads).toBe(1);
    expect(compare(problem, [kernel])).toEqual([]);
    const labels = new Uint32Array(problem.points.rows);
    before.labels(problem.centroids[0], labels);
    const expected = new Uint32Array(problem.points.rows);
    jsKernel.prepare(problem.points).labels(problem.centroids[0], expected);
    expect(labels).toEqual(expected);
  });

  test("a closed pool's threads end only after a rest, in which V8 comes to its end with them", async () => {
    const ends: number[] = [];
    const start: ThreadHost["start"] = (post, gone) =>
      nodeHost.start(post, () => {
        ends.push(performance.now());
        gone();
      });
    const kernel = await poolOf(3, {}, { parallelism: 3, start });
    const before = performance.now();
    await kernel.close();
    await vi.waitFor(() => expect(ends).toHaveLength(2), 60_000);
    expect(Math.min(...ends) - before).toBeGreaterThan(1000);
  });

  test("an aborted signal closes the pool; one that is aborted already starts none", async () => {
    const controller = new AbortController();
    const kernel = await startThreads({ threads: 2, signal: controller.signal });
    expect(kernel.threads).toBe(2);
    controller.abort();
    expect(kernel.threads).toBe(1);
    expect(compare(problem, [kernel])).toEqual([]);
    await expect(startThreads({ threads: 2, signal: controller.signal })).rejects.toThrow("aborted");
  });

  test("a signal that is aborted while workers start ends them", async () => {
    const controller = new AbortController();
    const started = startThreads({ threads: 2, signal: controller.signal });
    controller.abort();
    await expect(started).rejects.toThrow("aborted");
  });

  test("one thread, or none that can be started, is a kernel of one thread", async () => {
    const broken: ThreadHost = { parallelism: 4, start: () => Promise.reject(new Error("no workers here")) };
    for (const kernel of [await startThreads({ threads: 1 }), await startThreadPool(broken)]) {
      expect(kernel.threads).toBe(1);
      expect(compare(problem, [kernel])).toEqual([]);
      await kernel.close();
    }
  });

  test.each([0, -1, 1.5, Number.NaN])("threads: %d is refused", async (threads) => {
    await expect(startThreads({ threads })).rejects.toThrow(`threads must be an integer of at least 1, got ${threads}`);
  });

  test("a process that forgets its pool, or uses it and leaves, exits by itself", () => {
    const program = `import { startThreads } from "@fedkm/core/threads";
      import { kmeans } from "@fedkm/core";
      const kernel = await startThreads({ threads: 3 });
      const data = Float64Array.from({ length: 160_000 }, (_, i) => Math.sin(i * i));
      console.log(kernel.threads, kmeans({ data, rows: 10_000, cols: 16 }, { k: 16, restarts: 1, kernel }).labels.length);`;
    const options = {
      cwd: fileURLToPath(new URL("../..", import.meta.url)),
      timeout: 600_000,
      encoding: "utf8",
    } as const;
    expect(execFileSync(process.execPath, ["--input-type=module", "-e", program], options)).toBe("3 10000\n");
  });
});

describe("deaths", () => {
  const problem = problemOf(21, 0, 5000);

  test("a worker that dies between calls is done without", async () => {
    const killers: (() => Promise<void>)[] = [];
    const host: ThreadHost = {
      parallelism: 3,
      start: async (post, gone) => {
        const end = await nodeHost.start(post, gone);
        killers.push(end);
        return end;
      },
    };
    const kernel = await poolOf(3, {}, host);
    const prepared = kernel.prepare(problem.points);
    await killers[0]();
    await vi.waitFor(() => expect(kernel.threads).toBe(2), 60_000);
    expect(compare(problem, [kernel])).toEqual([]);
    await killers[1]();
    await vi.waitFor(() => expect(kernel.threads).toBe(1), 60_000);
    expect(compare(problem, [kernel])).toEqual([]);
    prepared.release();
    await kernel.close();
  });

  test("a worker that cannot begin is done without", async () => {
    const start: ThreadHost["start"] = (post, gone) => nodeHost.start({ ...post, module: {} }, gone);
    const kernel = await poolOf(2, {}, { parallelism: 2, start });
    expect(kernel.threads).toBe(1);
    expect(compare(problem, [kernel])).toEqual([]);
    await kernel.close();
  });

  test("a worker that could not begin is not counted when it ends later", async () => {
    let end = () => {};
    const start: ThreadHost["start"] = (_, gone) => {
      end = gone;
      return Promise.reject(new Error("cannot begin"));
    };
    const kernel = await poolOf(2, {}, { parallelism: 2, start });
    end();
    expect(kernel.threads).toBe(1);
    await kernel.close();
  });

  test("a worker that throws inside a job sends everyone to one thread", async () => {
    const start: ThreadHost["start"] = (post, gone) => {
      // It finds no pass to run.
      const layout = { ...post.layout, passes: [] } as unknown as typeof post.layout;
      return nodeHost.start({ ...post, layout }, gone);
    };
    await expectFallBack(await poolOf(2, {}, { parallelism: 2, start }));
  });

  test("a worker that dies inside a job does not hang the others", async () => {
    const text = `const { parentPort, workerData: { control, layout } } = require("node:worker_threads");
      const words = new Int32Array(control, 0, layout.words);
      parentPort.postMessage("ready");
      for (;;) {
        const gate = Atomics.load(words, layout.gate);
        if (gate & layout.open && Atomics.compareExchange(words, layout.gate, gate, gate + 1) === gate) process.exit();
      }`;
    const host: ThreadHost = {
      parallelism: 2,
      start: (post) =>
        new Promise((resolve) => {
          const worker = new Worker(text, { eval: true, workerData: post });
          worker.once("message", () => resolve(async () => void (await worker.terminate())));
        }),
    };
    await expectFallBack(await poolOf(2, { patience: 1 }, host));
  });

  /** Whether the worker joins the first job is up to the scheduler, so there are several. */
  async function expectFallBack(kernel: ThreadedKernel) {
    const other = kernel.prepare(problem.points, problem.weights);
    for (let attempt = 0; attempt < 100 && kernel.threads > 1; attempt++)
      expect(compare(problem, [kernel])).toEqual([]);
    expect(kernel.threads).toBe(1);
    expect(compare(problem, [{ name: "prepared before", prepare: () => other }])).toEqual([]);
    expect(compare(problem, [kernel])).toEqual([]);
    await kernel.close();
  }
});
