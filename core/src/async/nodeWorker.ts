// The main file of a worker thread in Node: one request, its reports and its answer.

import { parentPort, workerData } from "node:worker_threads";
import { answerWorkerRequest, type WorkerRequest } from "./jobs.ts";

answerWorkerRequest(
  workerData as WorkerRequest,
  (reply) => parentPort?.postMessage(reply),
  () => performance.now(),
);
