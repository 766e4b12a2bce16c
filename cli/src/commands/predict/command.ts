// fedkm predict: what can be asked of it.

import { isAddress } from "@fedkm/sql/address";
import { Command } from "commander";
import type { Console } from "../../console.ts";
import { addDialectOptions, type DialectFlags, dialectOptions } from "../../input/options.ts";

interface PredictFlags extends DialectFlags {
  model: string;
  device?: string;
  deviceColumn?: string;
  out?: string;
  into?: string;
  json?: true;
}

export function predictCommand(io: Console): Command {
  const command = new Command("predict")
    .description("Label the rows of a file with a model that fedkm fit wrote.")
    .argument("<file>", "CSV, TSV, JSON, Parquet, .xlsx or .npy, also as .gz or .zip; or a source, with --into")
    .requiredOption("--model <model.json>", "the model")
    .option("--device <name>", "whose centroids to use (default: the device named as the file)")
    .option("--device-column <name>", "the column that names each row's device");
  return addDialectOptions(command)
    .option("--out <file>", "where the labelled file goes (default: the standard output)")
    .option("--into <table>", "of a source: the new table of its rows with their clusters")
    .option("--json", "print the labels as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm predict --model clusters/model.json --device north examples/south.csv --out labelled.csv",
    )
    .action(async (file: string, flags: PredictFlags) => {
      if (isAddress(file) || flags.into !== undefined) {
        const { predictSource } = await import("./source.ts");
        await predictSource(file, flags, io);
        return;
      }
      const { predictFile } = await import("./predict.ts");
      await predictFile(file, dialectOptions(flags), io);
    });
}
