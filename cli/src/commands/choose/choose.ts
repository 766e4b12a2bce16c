// fedkm choose: k and alpha for files, as two tables, two curves and the command line of fedkm fit.

import { type ChooseRequest, chooseTables, fitCommandLine } from "@fedkm/tables";
import type { Console } from "../../console.ts";
import { linksOf } from "../../input/links.ts";
import type { SourceFlags } from "../../input/options.ts";
import { stepWatch } from "../../input/progressWords.ts";
import { rowsAt } from "../../input/reading.ts";
import { progressOn } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { writeWhole } from "../../write.ts";
import { inWords } from "./words.ts";

export interface ChooseOptions extends Omit<ChooseRequest, "graph">, SourceFlags {
  readonly judge: NonNullable<ChooseRequest["judge"]>;
  readonly weighting: NonNullable<ChooseRequest["weighting"]>;
  readonly graph: string;
  readonly scale: string;
  readonly seed: number;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
}

export async function chooseForFiles(patterns: readonly string[], options: ChooseOptions, io: Console): Promise<void> {
  const progress = progressOn(io.stderr);
  const { judge, out: picture } = options;
  const { choice, warnings } = await stoppableUnchanged(async (signal) => {
    try {
      const rows = await rowsAt(patterns, options, io.env, { onProgress: (step) => onProgress(step), signal });
      const onProgress = stepWatch(progress, rows.files);
      const context = { signal, onProgress, compute: <T>(work: () => T | Promise<T>) => interruptible(work, signal) };
      const outcome = await chooseTables({ ...options, ...rows, graph: linksOf(options.graph) }, context);
      const { drawChoice } = await import("@fedkm/tables/report");
      await writeWhole(picture, drawChoice(outcome.choice));
      return outcome;
    } finally {
      progress.erase();
    }
  });
  const command = fitCommandLine(patterns, options, choice);
  if (options.json) io.stdout.write(`${JSON.stringify({ ...choice, warnings, picture, command }, undefined, 2)}\n`);
  else io.stdout.write(`${inWords({ choice, judge, warnings, picture, command }).join("\n")}\n`);
}
