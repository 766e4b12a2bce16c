// fedkm inspect: what can be asked of it.

import { Command } from "commander";
import type { Console } from "../../console.ts";
import { addDialectOptions, type DialectFlags, dialectOptions } from "../../input/options.ts";

export function inspectCommand(io: Console): Command {
  const command = new Command("inspect")
    .description("Show what fedkm sees in files: columns, values, what cannot be read, and a command to go on with.")
    .argument("<files...>", "CSV, TSV, JSON, Parquet, .xlsx or .npy, also as .gz or .zip");
  return addDialectOptions(command)
    .option("--json", "print it as one JSON object")
    .addHelpText("after", "\nExample:\n  fedkm inspect examples/north.csv examples/south.csv")
    .action(async (files: string[], flags: DialectFlags & { json?: true }) => {
      const { json, ...rest } = flags;
      const { inspectFiles } = await import("./inspect.ts");
      await inspectFiles(files, dialectOptions(rest), json === true, io);
    });
}
