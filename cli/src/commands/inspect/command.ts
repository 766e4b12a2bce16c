// fedkm inspect: what can be asked of it.

import { Command } from "commander";
import type { Console } from "../../console.ts";
import { addDialectOptions, type DialectFlags, dialectOptions } from "../../input/options.ts";

export function inspectCommand(io: Console): Command {
  const command = new Command("inspect")
    .description("Show what fedkm sees in a file: columns, types, ranges, missing cells, repetitions.")
    .argument("<file>", "CSV, TSV, JSON, Parquet, .xlsx or .npy, also as .gz or .zip");
  return addDialectOptions(command)
    .option("--json", "print it as one JSON object")
    .addHelpText("after", "\nExample:\n  fedkm inspect examples/north.csv")
    .action(async (file: string, flags: DialectFlags & { json?: true }) => {
      const { inspectFile } = await import("./inspect.ts");
      await inspectFile(file, dialectOptions(flags), flags.json === true, io);
    });
}
