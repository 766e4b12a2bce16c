// Computations in a worker of the browser. The worker is a file of its own, which bundlers find by the form of its URL.

import type { Progress, Reply, Request } from "./jobs.ts";
import { computationsOn, type JobHost, type Watched } from "./remote.ts";

export type { Progress, Watched };

const browserHost: JobHost = {
  start(request: Request, heard: (reply: Reply) => void, ended: (error: Error) => void) {
    const worker = new Worker(new URL("../../dist/async/browserWorker.js", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Reply>) => heard(data);
    worker.onerror = () => ended(new Error("the worker could not be started, or ended before it answered"));
    worker.postMessage(request);
    return () => worker.terminate();
  },
  turn: () => new Promise((resolve) => setTimeout(resolve)),
};

export const { fitAsync, kmeansAsync, chooseAsync } = computationsOn(browserHost);
