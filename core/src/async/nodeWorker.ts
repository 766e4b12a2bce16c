// The main file of a worker thread in Node: one request, its reports and its answer.

import { parentPort, workerData } from "node:worker_threads";
import { type Request, serve } from "./jobs.ts";

serve(
  workerData as Request,
  (reply) => parentPort?.postMessage(reply),
  () => performance.now(),
);
