// fedkm inspect: what can be asked of it.

import { isAddress } from "@fedkm/sql/address";
import { Command } from "commander";
import type { Console } from "../../console.ts";
import { addDialectOptions, type DialectFlags, dialectOptions } from "../../input/options.ts";

export function inspectCommand(io: Console): Command {
  const command = new Command("inspect")
    .description("Show what fedkm sees in a file: columns, types, ranges, missing cells, repetitions.")
    .argument("<file>", "CSV, TSV, JSON lines or Parquet, text also as .gz; or a source such as duckdb:lake");
  return addDialectOptions(command)
    .option("--json", "print it as one JSON object")
    .addHelpText("after", "\nExample:\n  fedkm inspect examples/north.csv")
    .action(async (file: string, flags: DialectFlags & { json?: true }) => {
      if (isAddress(file)) {
        const { inspectSource } = await import("./source.ts");
        await inspectSource(file, flags.json === true, io);
        return;
      }
      const { inspectFile } = await import("./inspect.ts");
      await inspectFile(file, dialectOptions(flags), flags.json === true, io);
    });
}
