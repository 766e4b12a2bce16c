// A process of its own that answers for one problem after the other: the cells of a problem in, their rows out.

import type { StudyCell } from "../cell.ts";
import { loadExperimentPlugins, type Plugins } from "../plugins/plugin.ts";
import type { GivenData } from "./datasets.ts";
import { trials } from "./trial.ts";

/** What a worker is sent: first the points of cells that name them and the files of plug-ins, then batches. */
export type Task =
  | { readonly given: GivenData; readonly plugins: readonly string[] }
  | { readonly cells: readonly StudyCell[] };

let given: GivenData;
let plugins: Promise<Plugins>;

process.on("message", async (task: Task) => {
  if ("cells" in task) process.send?.(await answer(task.cells));
  else {
    ({ given } = task);
    plugins = loadExperimentPlugins(task.plugins);
    // Said when the first batch is answered.
    plugins.catch(() => {});
  }
});

// Ctrl-C reaches every process of a terminal; when to end is for the one that sends the work to say.
process.on("SIGINT", () => {});

async function answer(cells: readonly StudyCell[]) {
  try {
    return { rows: trials(cells, given, await plugins) };
  } catch (error) {
    return { failure: error instanceof Error ? error.message : String(error) };
  }
}
