// The main file of a worker in browsers: one request, its reports and its answer.

import { answerWorkerRequest, type WorkerRequest } from "./jobs.ts";

addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) =>
  answerWorkerRequest(
    data,
    (reply) => postMessage(reply),
    () => performance.now(),
  ),
);
