// fedkm predict: what can be asked of it.

import { isAddress } from "@fedkm/sql/address";
import { Command } from "commander";
import { parseChoice } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { addDialectOptions, addLabelOptions } from "../../input/options.ts";
import type { PredictFlags } from "./predict.ts";

export function predictCommand(io: Console): Command {
  const command = new Command("predict")
    .description("Label the rows of files with a model that fedkm fit wrote.")
    .argument(
      "<files...>",
      "CSV, TSV, JSON, Parquet, .xlsx, .ods or .npy, also as .gz or .zip; - is the standard input; or a source",
    )
    .requiredOption("--model <model.json>", "the model")
    .option(
      "--device <name>",
      "whose centroids to use: a device of the model, or common for rows of new devices (default: the device named as the file)",
    )
    .option(
      "--device-column <name>",
      "the column that names each row's device; with --device common new names are taken",
    )
    .option(
      "--missing <policy>",
      "missing cells: refuse, drop their rows, or fill with the mean (default: as the model was fitted)",
      parseChoice("--missing", ["refuse", "drop", "mean"]),
    );
  return addLabelOptions(addDialectOptions(command))
    .option(
      "--out <file>",
      "where the labels go: a file, a folder for several (default: the standard output), or a new table of the source",
    )
    .option("--json", "print the labels, and the rows far from every centroid, as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm predict --model clusters/model.json --device north examples/south.csv --out labelled.csv",
    )
    .action(async (files: string[], flags: PredictFlags) => {
      const { runPredictCommand, runPredictSourceCommand } = await import("./predict.ts");
      if (!files.some(isAddress)) return runPredictCommand(files, flags, io);
      if (files.length > 1) throw new UsageError(`a source must be labelled by itself, got ${files.length} files`);
      return runPredictSourceCommand(files[0], flags, io);
    });
}
