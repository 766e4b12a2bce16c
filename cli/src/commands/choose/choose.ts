// fedkm choose: k and alpha for files, as two tables, two curves and the command line of fedkm fit.

import { type Choice, choose, type Judge, type Weighting } from "@fedkm/core";
import { type PrepareOptions, prepare } from "../../../../tables/src/prepare/prepare.ts";
import type { Console } from "../../console.ts";
import { progressOn } from "../../progress.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";
import { writeWhole } from "../../write.ts";
import { fitCommandLine } from "./pasted.ts";
import { inWords } from "./words.ts";

export interface ChooseOptions extends PrepareOptions {
  readonly largestK?: number;
  readonly sample?: number;
  readonly judge: Judge;
  readonly weighting: Weighting;
  /** The picture's file. */
  readonly out: string;
  readonly json?: boolean;
}

export async function chooseForFiles(patterns: readonly string[], options: ChooseOptions, io: Console): Promise<void> {
  const progress = progressOn(io.stderr);
  // All rows are read: the sample is that of the choice.
  const { sample, ...reading } = options;
  const { largestK, judge, weighting, seed, out: picture } = options;
  const { prepared, choice } = await stoppableUnchanged(async (signal) => {
    try {
      const own = await prepare(patterns, reading, (file) => {
        signal.throwIfAborted();
        progress.announce(`fedkm  reading ${file}`);
      });
      progress.announce("fedkm  trying k from 1 on, then alpha");
      const asked = { largestK, sample, judge, weighting, seed };
      const made = await interruptible(() => choose(own.datasets, own.graph, asked), signal);
      const { drawChoice } = await import("../../../../tables/src/report/choicePicture.ts");
      await writeWhole(picture, drawChoice(made));
      return { prepared: own, choice: made };
    } finally {
      progress.erase();
    }
  });
  const warnings = [...prepared.warnings, ...leftOut(choice, prepared.names)];
  const command = fitCommandLine(patterns, options, choice);
  if (options.json) io.stdout.write(`${JSON.stringify({ ...choice, warnings, picture, command }, undefined, 2)}\n`);
  else io.stdout.write(`${inWords({ choice, judge, warnings, picture, command }).join("\n")}\n`);
}

function leftOut({ clusters }: Choice, names: readonly string[]): string[] {
  if (clusters.leftOut.length === 0) return [];
  return [`no path leads to ${clusters.leftOut.map((i) => names[i]).join(", ")}, which had no say`];
}
