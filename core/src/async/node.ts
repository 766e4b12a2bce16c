// Computations in a worker thread of Node. Browsers get browser.ts instead.

import { clearTimeout, setTimeout } from "node:timers";
import { Worker } from "node:worker_threads";
import type { WorkerProgress, WorkerReply } from "./jobs.ts";
import { type JobHost, type WorkerHandle, type WorkerOptions, workerComputations } from "./remote.ts";

export type { WorkerHandle, WorkerOptions, WorkerProgress };

/**
 * V8 may still compile for a worker that has just answered, and Node 20 aborts the whole process if such a worker ends. So
 * it rests for these milliseconds, ready for the next request, and ends when nothing can be going on.
 */
const REST = 2000;

interface Thread {
  readonly worker: Worker;
  /** What started it; undefined if we did. */
  readonly origin: (() => WorkerHandle) | undefined;
  onReply(reply: WorkerReply): void;
  onEnd(error: Error): void;
  ending?: ReturnType<typeof setTimeout>;
}

const resting = new Set<Thread>();

const nodeHost: JobHost = {
  start(request, origin, onReply, onEnd) {
    const thread = [...resting].find((candidate) => candidate.origin === origin) ?? startThread(origin);
    resting.delete(thread);
    clearTimeout(thread.ending);
    thread.worker.ref();
    Object.assign(thread, { onReply, onEnd });
    try {
      thread.worker.postMessage(request);
    } catch (error) {
      rest(thread);
      throw error;
    }
    return (isDone) => (isDone ? rest(thread) : void thread.worker.terminate());
  },
  turn: () => new Promise((resolve) => setTimeout(resolve)),
};

function startThread(origin: Thread["origin"]): Thread {
  // Built, also where the sources are run: a worker has no loader of its own. Flags of this process may be about its own main file.
  const ours = () => new Worker(new URL("../../dist/async/nodeWorker.js", import.meta.url), { execArgv: [] });
  const thread: Thread = { worker: origin === undefined ? ours() : (origin() as Worker), origin, ...idle };
  thread.worker.on("message", (reply: WorkerReply) => thread.onReply(reply));
  thread.worker.on("error", (error) => thread.onEnd(error));
  thread.worker.on("exit", () => {
    resting.delete(thread);
    thread.onEnd(new Error("the worker ended before it answered"));
  });
  return thread;
}

const idle = { onReply: () => {}, onEnd: () => {} };

/** A resting worker does not keep the process alive. */
function rest(thread: Thread): void {
  Object.assign(thread, idle);
  thread.worker.unref();
  resting.add(thread);
  thread.ending = setTimeout(() => {
    resting.delete(thread);
    void thread.worker.terminate();
  }, REST);
  thread.ending.unref();
}

const computations = workerComputations(nodeHost);

/**
 * `fit` in a worker, with the same answer.
 * @example await fitAsync(paperData("iso", 4, 30, 1).datasets, ring(4), { k: 3, alpha: 1, onProgress: console.log });
 */
export const fitAsync = computations.fitAsync;

/**
 * `kmeans` in a worker, with the same answer.
 * @example await kmeansAsync(matrix([[0], [2], [9]]), { k: 2, signal: AbortSignal.timeout(60_000) });
 */
export const kmeansAsync = computations.kmeansAsync;

/**
 * `choose` in a worker, with the same answer.
 * @example await chooseAsync(paperData("iso", 4, 60, 1).datasets, complete(4));
 */
export const chooseAsync = computations.chooseAsync;
