// Worker threads in Node: the one file of core that knows its platform. Browsers get browser.ts instead.

import { availableParallelism } from "node:os";
import { setTimeout } from "node:timers";
import { Worker } from "node:worker_threads";
import { threadProgram } from "./pool.ts";
import { startThreadPool, type ThreadedKernel, type ThreadHost, type ThreadsOptions } from "./threadedKernel.ts";

export type { ThreadedKernel, ThreadsOptions };

/** Milliseconds from a worker's last job to its end: V8 may still compile for it, and Node 20 aborts if it ends meanwhile. */
const REST = 2000;

/** The host of this process; exported for tests. */
export const nodeHost: ThreadHost = {
  parallelism: availableParallelism(),
  start: (post, gone) =>
    new Promise((resolve, reject) => {
      const text = `const { parentPort, workerData } = require("node:worker_threads");
        (${threadProgram()})(workerData, () => parentPort.postMessage("ready"));
        parentPort.on("message", () => {});`;
      // Flags of this process may be about its own main file.
      const worker = new Worker(text, { eval: true, workerData: post, execArgv: [] });
      worker.once("message", () => {
        // A forgotten pool does not keep the process alive.
        worker.unref();
        resolve(async () => void setTimeout(() => void worker.terminate(), REST).unref());
      });
      worker.on("error", reject);
      worker.once("exit", () => {
        gone();
        reject(new Error("a worker thread ended before it was ready"));
      });
    }),
};

/**
 * Starts worker threads. `kmeans(points, { kernel })` and `fit(..., { kernel })` use them.
 * @example
 * const kernel = await startThreads({ threads: 2 });
 * kmeans(matrix([[0], [2], [9]]), { k: 2, kernel }).inertia // 2
 * await kernel.close();
 */
export function startThreads(options: ThreadsOptions = {}): Promise<ThreadedKernel> {
  return startThreadPool(nodeHost, options);
}
