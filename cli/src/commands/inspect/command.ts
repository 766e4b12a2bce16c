// fedkm inspect: what can be asked of it.

import { isAddress } from "@fedkm/sql/address";
import { Command } from "commander";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { addDialectOptions } from "../../input/options.ts";
import type { InspectFlags } from "./inspect.ts";

export function inspectCommand(io: Console): Command {
  const command = new Command("inspect")
    .description("Show what fedkm sees in files: columns, values, what cannot be read, and a command to go on with.")
    .argument(
      "<files...>",
      "CSV, TSV, JSON, Parquet, .xlsx or .npy, also as .gz or .zip; or one source, such as duckdb:lake",
    );
  return addDialectOptions(command)
    .option("--json", "print it as one JSON object")
    .addHelpText("after", "\nExample:\n  fedkm inspect examples/north.csv examples/south.csv")
    .action(async (files: string[], { json = false, ...dialect }: InspectFlags) => {
      const { runInspectCommand, runInspectSourceCommand } = await import("./inspect.ts");
      if (!files.some(isAddress)) return runInspectCommand(files, dialect, json, io);
      if (files.length > 1) throw new UsageError(`a source is inspected alone, got ${files.length} names`);
      return runInspectSourceCommand(files[0], json, io);
    });
}
