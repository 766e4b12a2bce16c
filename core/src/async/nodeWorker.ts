// The main file of a worker thread in Node: for every request its reports and its answer.

import { parentPort } from "node:worker_threads";
import { answerWorker, type WorkerRequest } from "./jobs.ts";

parentPort?.on("message", (request: WorkerRequest) =>
  answerWorker(
    request,
    (reply) => parentPort?.postMessage(reply),
    () => performance.now(),
  ),
);
