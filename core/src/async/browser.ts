// Computations in a worker of the browser. The worker is a file of its own, which bundlers find by the form of its URL.

import type { WorkerReply } from "./jobs.ts";
import { computationsOn } from "./remote.ts";

export type { WorkerProgress } from "./jobs.ts";
export type { WorkerOptions } from "./remote.ts";

export const { fitAsync, kmeansAsync, chooseAsync } = computationsOn((request, onReply, onEnd) => {
  const worker = new Worker(new URL("../../dist/async/browserWorker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => onReply(data);
  worker.onerror = () => onEnd(new Error("the worker could not be started, or ended before it answered"));
  worker.postMessage(request);
  return () => worker.terminate();
});
