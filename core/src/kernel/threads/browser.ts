// Worker threads in browsers. They need cross-origin isolation; without it one thread does all the work.

import { threadProgram } from "./pool.ts";
import { startThreadPool, type ThreadedKernel, type ThreadHost, type ThreadsOptions } from "./threadedKernel.ts";

export type { ThreadedKernel, ThreadsOptions };

const browserHost: ThreadHost = {
  parallelism: navigator.hardwareConcurrency,
  start: (post, gone) =>
    new Promise((resolve, reject) => {
      const text = `onmessage = ({ data }) => (${threadProgram()})(data, () => postMessage("ready"));`;
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const worker = new Worker(url);
      worker.onmessage = () => {
        URL.revokeObjectURL(url);
        resolve(async () => worker.terminate());
      };
      worker.onerror = () => {
        URL.revokeObjectURL(url);
        gone();
        reject(new Error("a worker could not be started"));
      };
      worker.postMessage(post);
    }),
};

/** Starts workers. `kmeans(points, { kernel })` and `fit(..., { kernel })` use them. */
export function startThreads(options: ThreadsOptions = {}): Promise<ThreadedKernel> {
  return startThreadPool(browserHost, options);
}
