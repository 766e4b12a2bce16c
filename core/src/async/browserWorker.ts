// The main file of a worker in browsers: one request, its reports and its answer.

import { serve, type WorkerRequest } from "./jobs.ts";

addEventListener("message", ({ data }: MessageEvent<WorkerRequest>) =>
  serve(
    data,
    (reply) => postMessage(reply),
    () => performance.now(),
  ),
);
