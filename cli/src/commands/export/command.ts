// fedkm export: what can be asked of it.

import { dialectNames, formats } from "@fedkm/tables/light";
import { Command, Option } from "commander";
import { parseChoice } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { ExportFlags } from "./export.ts";

export function exportCommand(io: Console): Command {
  return new Command("export")
    .description("Write a model for another program: a SELECT, an ONNX graph, JSON for scikit-learn, or a table.")
    .argument("<model.json>", "a model that fedkm fit wrote")
    .addOption(
      new Option("--as <format>", `${formats.join(", ")}; sql:DIALECT for the SQL of ${dialectNames.join(", ")}`)
        .argParser(parseChoice("--as", [...formats, ...dialectNames.map((name) => `sql:${name}` as const)]))
        .makeOptionMandatory(),
    )
    .option("--name <name>", "what the table of the SELECT is called (default: rows)")
    .option(
      "--device <name>",
      "whose centroids: a device of the model, or common for those of all devices (default: common)",
    )
    .option("--out <file>", "where it goes (default: the standard output)")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm export clusters/model.json --as sql:postgres --name plants --out label.sql",
    )
    .action(async (model: string, { as: wanted, ...flags }: Omit<ExportFlags, "as"> & { as: string }) => {
      const [as, dialect] = wanted.split(":") as [ExportFlags["as"], ExportFlags["dialect"]];
      const { runExportCommand } = await import("./export.ts");
      await runExportCommand(model, { ...flags, as, ...(dialect !== undefined && { dialect }) }, io);
    });
}
