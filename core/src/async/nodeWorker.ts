// The main file of a worker thread in Node: one request, its reports and its answer.

import { parentPort, workerData } from "node:worker_threads";
import { answerWorker, type WorkerRequest } from "./jobs.ts";

answerWorker(
  workerData as WorkerRequest,
  (reply) => parentPort?.postMessage(reply),
  () => performance.now(),
);
