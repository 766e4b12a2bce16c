// A process of its own that answers for one problem after the other: the cells of a problem in, their rows out.

import type { LabelledPoints } from "@fedkm/core";
import type { Cell } from "./cell.ts";
import { trials } from "./trial.ts";

/** What a worker is sent: first the points of cells that name them, then batches. */
export type Task = { readonly features: LabelledPoints | undefined } | { readonly cells: readonly Cell[] };

let features: LabelledPoints | undefined;

process.on("message", (task: Task) => {
  if ("cells" in task) process.send?.(answer(task.cells));
  else ({ features } = task);
});

// Ctrl-C reaches every process of a terminal; when to end is for the one that sends the work to say.
process.on("SIGINT", () => {});

function answer(cells: readonly Cell[]) {
  try {
    return { rows: trials(cells, features) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
