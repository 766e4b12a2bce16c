// What a worker thread does: it takes the cells of one problem, and answers with their rows.

import { parentPort, workerData } from "node:worker_threads";
import type { LabelledPoints } from "@fedkm/core";
import type { Cell } from "./cell.ts";
import { trials } from "./trial.ts";

const { features } = workerData as { features: LabelledPoints | undefined };

parentPort?.on("message", (cells: readonly Cell[]) => {
  parentPort?.postMessage(trials(cells, features));
});
