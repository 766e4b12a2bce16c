// Computations in a worker thread of Node. Browsers get browser.ts instead.

import { Worker } from "node:worker_threads";
import { computationsOn } from "./remote.ts";

export type { WorkerProgress } from "./jobs.ts";
export type { WorkerOptions } from "./remote.ts";

/** Built, also where the sources are run: a worker has no loader of its own. */
const file = new URL("../../dist/async/nodeWorker.js", import.meta.url);

export const { fitAsync, kmeansAsync, chooseAsync } = computationsOn((request, onReply, onEnd) => {
  // Flags of this process may be about its own main file.
  const worker = new Worker(file, { workerData: request, execArgv: [] });
  worker.on("message", onReply);
  worker.on("error", onEnd);
  worker.once("exit", () => onEnd(new Error("the worker ended before it answered")));
  return () => void worker.terminate();
});
