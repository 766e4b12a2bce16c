// Computations in a worker of the browser. The worker is a file of its own, which bundlers find by the form of its URL.

import type { WorkerProgress, WorkerReply } from "./jobs.ts";
import { type JobHost, type WorkerHandle, type WorkerOptions, workerComputations } from "./remote.ts";

export type { WorkerHandle, WorkerOptions, WorkerProgress };

const browserHost: JobHost = {
  start(request, origin, onReply, onEnd) {
    const worker =
      origin === undefined
        ? new Worker(new URL("../../dist/async/browserWorker.js", import.meta.url), { type: "module" })
        : (origin() as Worker);
    worker.onmessage = ({ data }: MessageEvent<WorkerReply>) => onReply(data);
    worker.onerror = () => onEnd(new Error("the worker could not be started, or ended before it answered"));
    worker.postMessage(request);
    return () => worker.terminate();
  },
  turn: () => new Promise((resolve) => setTimeout(resolve)),
};

export const { fitAsync, kmeansAsync, chooseAsync } = workerComputations(browserHost);
