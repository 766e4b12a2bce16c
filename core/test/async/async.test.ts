// Computations in a worker: the bits of the synchronous ones, a free event loop, reports, aborts, refusals and ends.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { describe, expect, test, vi } from "vitest";
import { chooseAsync, fitAsync, kmeansAsync, type WorkerProgress } from "../../src/async/node.ts";
import { type JobHost, workerComputations } from "../../src/async/remote.ts";
import { choose, complete, fit, jsKernel, kmeans, type Matrix, matrix, paperData, ring } from "../../src/index.ts";

const { datasets } = paperData("var", 5, 60, 3);
const network = ring(5);
const options = { k: 3, alpha: 1, seed: 3 };

/** So much work that it is never done: with enough restarts for hours, on rows that are shared. */
function endless(): { points: Matrix; asked: { k: number; restarts: number } } {
  const data = Float64Array.from({ length: 16 * 4000 }, (_, i) => Math.sin(i * i));
  return { points: { data, rows: 4000, cols: 16 }, asked: { k: 32, restarts: 1e6 } };
}

test("have the bits of the synchronous functions, with labels and JSON", async () => {
  const model = await fitAsync(datasets, network, options);
  const expected = fit(datasets, network, options);
  expect(model).toEqual(expected);
  expect(model.labels()).toEqual(expected.labels());
  expect(JSON.stringify(model)).toBe(JSON.stringify(expected));
  // Large enough to be shared, and weighted.
  const { points } = endless();
  const asked = { k: 3, restarts: 1, maxIter: 3, weights: new Float64Array(points.rows).fill(2) };
  const before = points.data.slice(0, 100);
  expect(await kmeansAsync(points, asked)).toEqual(kmeans(points, asked));
  expect(points.data.slice(0, 100)).toEqual(before);
  const chosen = { largestK: 3, alphas: [0, 1], folds: 2 };
  expect(await chooseAsync(datasets, network, chosen)).toEqual(choose(datasets, network, chosen));
});

test("leave the event loop free and report, until an abort ends them with its reason", async () => {
  const { points, asked } = endless();
  const controller = new AbortController();
  const reason = new Error("enough");
  const reports: WorkerProgress[] = [];
  let ticks = 0;
  const timer = setInterval(() => {
    ticks++;
    if (ticks < 20 || reports.length < 3 || controller.signal.aborted) return;
    controller.abort(reason);
  }, 5);
  const watched = {
    ...asked,
    signal: controller.signal,
    onProgress: (progress: WorkerProgress) => void reports.push(progress),
  };
  await expect(kmeansAsync(points, watched)).rejects.toBe(reason);
  clearInterval(timer);
  const passes = reports.map((report) => report.passes);
  expect(passes).toEqual([...new Set(passes)].sort((a, b) => a - b));
});

test("of a network report its rounds", async () => {
  const controller = new AbortController();
  const reason = new Error("seen");
  // Rounds of hundreds of passes, so that even the fastest machine reports between two of them.
  const many = Array.from({ length: 5 }, () => endless().points);
  let seen: WorkerProgress["round"];
  const onProgress = ({ round }: WorkerProgress) => {
    if ((round?.round ?? 0) < 2) return;
    seen = round;
    controller.abort(reason);
  };
  const asked = { k: 32, alpha: 1, restarts: 1, tol: 0, rounds: 1e7, signal: controller.signal, onProgress };
  await expect(fitAsync(many, network, asked)).rejects.toBe(reason);
  expect(Object.keys(seen ?? {}).sort()).toEqual(Object.keys(fit(datasets, network, options).history[0]).sort());
});

describe("refuse", () => {
  test.each([
    ["an unknown option", { ...options, aplha: 2 }],
    ["missing options", undefined],
    ["a schedule of nobody", { ...options, schedule: [[9]] }],
  ])("%s as the synchronous function does", async (_, wrong) => {
    const asked = wrong as typeof options;
    let expected = new Error("nothing was refused");
    try {
      fit(datasets, network, asked);
    } catch (error) {
      expected = error as Error;
    }
    const refusal = await fitAsync(datasets, network, asked).catch((error: Error) => error);
    expect(refusal).toBeInstanceOf(expected.constructor);
    expect((refusal as Error).message).toBe(expected.message);
  });

  test("a kernel, a wrong signal or reporter, and data that cannot be sent", async () => {
    const asked = (more: object) => kmeansAsync(datasets[0], { k: 2, ...more });
    await expect(asked({ kernel: jsKernel })).rejects.toThrow("kernel cannot be sent to a worker, got an object");
    await expect(asked({ signal: 5 })).rejects.toThrow("signal must be an AbortSignal, got 5");
    await expect(asked({ onProgress: 5 })).rejects.toThrow("onProgress must be a function, got 5");
    await expect(asked({ worker: 5 })).rejects.toThrow("worker must be a function that starts a worker, got 5");
    await expect(asked({ init: () => 1 })).rejects.toThrow("could not be cloned");
    await expect(asked({ signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });

  test("what a reporter throws ends the computation", async () => {
    const { points, asked } = endless();
    const onProgress = () => {
      throw new Error("no more");
    };
    await expect(kmeansAsync(points, { ...asked, onProgress })).rejects.toThrow("no more");
  });
});

describe("on a host of one's own", () => {
  const points = matrix([[1], [2]]);
  const hostOf = (parts: Partial<JobHost>): JobHost => ({ start: () => () => {}, turn: async () => {}, ...parts });

  test("are refused when the worker ends without an answer", async () => {
    const host = hostOf({
      start: (_request, _worker, _heard, ended) => {
        queueMicrotask(() => ended(new Error("out of memory")));
        return () => {};
      },
    });
    await expect(workerComputations(host).kmeansAsync(points, { k: 1 })).rejects.toThrow("out of memory");
  });

  test("end the worker once, and hear nothing after that", async () => {
    const ends: boolean[] = [];
    const reports: WorkerProgress[] = [];
    const host = hostOf({
      start: (_request, _worker, heard) => {
        queueMicrotask(() => {
          heard({ answer: { inertia: 1 } });
          heard({ progress: { passes: 1 } });
          heard({ refusal: new Error("too late") });
        });
        return (isDone) => void ends.push(isDone);
      },
    });
    const onProgress = (progress: WorkerProgress) => void reports.push(progress);
    expect(await workerComputations(host).kmeansAsync(points, { k: 1, onProgress })).toEqual({ inertia: 1 });
    expect([ends, reports]).toEqual([[true], []]);
  });

  test("are stopped while data are still copied", async () => {
    const controller = new AbortController();
    let started = false;
    const host = hostOf({
      turn: async () => controller.abort(new Error("stop")),
      start: () => {
        started = true;
        return () => {};
      },
    });
    const large = { data: new Float64Array(2 ** 20), rows: 2 ** 20, cols: 1 };
    await expect(workerComputations(host).kmeansAsync(large, { k: 1, signal: controller.signal })).rejects.toThrow(
      "stop",
    );
    expect(started).toBe(false);
  });

  test("share large arrays, and send small ones and shared ones as they are", async () => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * 10_000));
    const large = new Float64Array(10_000).fill(3);
    const sent: Float64Array[] = [];
    const host = hostOf({
      start: ({ args }, _worker, heard) => {
        sent.push(...(args[0] as Matrix[]).map(({ data }) => data));
        queueMicrotask(() => heard({ answer: { centroids: [] } }));
        return () => {};
      },
    });
    const all = [shared, large, Float64Array.of(1)].map((data) => ({ data, rows: data.length, cols: 1 }));
    await workerComputations(host).fitAsync(all, complete(3), options);
    expect(sent.map((data) => data.buffer instanceof SharedArrayBuffer)).toEqual([true, true, false]);
    expect([sent[0] === shared, sent[1] === large, sent[2] === all[2].data]).toEqual([true, false, true]);
    expect(sent[1].every((x) => x === 3)).toBe(true);
  });
});

test("use a worker that has answered again, and end it when it is left alone; one that is aborted ends at once", async () => {
  const ends: string[] = [];
  let started = 0;
  const worker = () => {
    const name = String(++started);
    const made = new Worker(new URL("../../dist/async/nodeWorker.js", import.meta.url));
    return made.on("exit", () => ends.push(name));
  };
  const { points, asked } = endless();
  for (let turn = 0; turn < 3; turn++) await kmeansAsync(datasets[0], { k: 2, worker });
  await expect(kmeansAsync(datasets[0], { k: 0, worker })).rejects.toThrow("k must be");
  await expect(kmeansAsync(datasets[0], { k: 2, init: (() => 1) as never, worker })).rejects.toThrow("cloned");
  expect([started, ends]).toEqual([1, []]);
  const running = kmeansAsync(datasets[0], { k: 2, worker });
  const controller = new AbortController();
  const onProgress = () => controller.abort(new Error("enough"));
  await expect(kmeansAsync(points, { ...asked, signal: controller.signal, onProgress, worker })).rejects.toThrow(
    "enough",
  );
  await running;
  await vi.waitFor(() => expect(ends).toEqual(["2"]), 60_000);
  expect(started).toBe(2);
  await vi.waitFor(() => expect(ends).toEqual(["2", "1"]), 60_000);
});

test("leave no worker behind: a process ends by itself after an answer, a refusal and an abort", () => {
  const program = `import { kmeansAsync } from "@fedkm/core/async";
    const points = { data: Float64Array.from({ length: 320_000 }, (_, i) => Math.sin(i * i)), rows: 20_000, cols: 16 };
    const { labels } = await kmeansAsync(points, { k: 4, restarts: 1, maxIter: 2 });
    const refusal = await kmeansAsync(points, { k: 0 }).catch((error) => error.message);
    const controller = new AbortController();
    const onProgress = () => controller.abort(new Error("enough"));
    const end = await kmeansAsync(points, { k: 32, restarts: 1e6, signal: controller.signal, onProgress }).catch((error) => error.message);
    console.log(labels.length, refusal, end);`;
  const run = { cwd: fileURLToPath(new URL("../..", import.meta.url)), timeout: 600_000, encoding: "utf8" } as const;
  const printed = execFileSync(process.execPath, ["--input-type=module", "-e", program], run);
  expect(printed).toBe("20000 k must be an integer from 1 to 20000 (the rows of points), got 0 enough\n");
});
