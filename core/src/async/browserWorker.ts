// The main file of a worker in browsers: one request, its reports and its answer.

import { answerWorker, type WorkerRequest } from "./jobs.ts";

addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) =>
  answerWorker(
    data,
    (reply) => postMessage(reply),
    () => performance.now(),
  ),
);
