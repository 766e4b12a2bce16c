// Computations in a worker thread of Node. Browsers get browser.ts instead.

import { Worker } from "node:worker_threads";
import type { WorkerProgress } from "./jobs.ts";
import { type JobHost, type WorkerOptions, workerComputations } from "./remote.ts";

export type { WorkerOptions, WorkerProgress };

/** Built, also where the sources are run: a worker has no loader of its own. */
const file = new URL("../../dist/async/nodeWorker.js", import.meta.url);

const nodeHost: JobHost = {
  start(request, onReply, onEnd) {
    // Flags of this process may be about its own main file.
    const worker = new Worker(file, { workerData: request, execArgv: [] });
    worker.on("message", onReply);
    worker.on("error", onEnd);
    worker.once("exit", () => onEnd(new Error("the worker ended before it answered")));
    return () => void worker.terminate();
  },
  turn: () => new Promise((resolve) => setTimeout(resolve)),
};

export const { fitAsync, kmeansAsync, chooseAsync } = workerComputations(nodeHost);
