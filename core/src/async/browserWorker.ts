// The main file of a worker in browsers: one request, its reports and its answer.

import { type Request, serve } from "./jobs.ts";

addEventListener("message", ({ data }: MessageEvent<Request>) =>
  serve(
    data,
    (reply) => postMessage(reply),
    () => performance.now(),
  ),
);
