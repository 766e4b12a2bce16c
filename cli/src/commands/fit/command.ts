// fedkm fit: what can be asked of it.

import { defaults } from "@fedkm/core/defaults";
import { Argument, Command } from "commander";
import { parseAtLeastZero, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import {
  addDialectOptions,
  addMissingOption,
  addNetworkOptions,
  addSelectionOptions,
  type InputFlags,
  inputOptions,
} from "../../input/options.ts";
import { addPluginOption, type PluginOptions } from "../../plugins.ts";
import { addMethodOptions, type MethodSettings } from "./settings.ts";

interface FitFlags extends InputFlags, MethodSettings, PluginOptions {
  k: number;
  alpha: number;
  graph: string;
  method: string;
  scale: string;
  seed: number;
  out: string;
  json?: true;
}

export function fitCommand(io: Console): Command {
  const command = new Command("fit")
    .description("Cluster the rows of files: a model, labelled copies of the files, and a report.")
    .addArgument(
      new Argument("<files...>", "CSV, TSV, JSON lines or Parquet, text also as .gz; patterns such as 'sites/*.csv'"),
    )
    .requiredOption("--k <number>", "clusters", parseWhole("--k", 1))
    .option("--alpha <number>", "how strongly neighbours pull: 0 is alone", parseAtLeastZero("--alpha"), defaults.alpha)
    .option("--method <name>", "fedkm, or a method to compare with: consensus, local, pooled, ...", "fedkm");
  addNetworkOptions(command)
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option("--out <folder>", "where the results go", "fedkm-results")
    .option("--json", "print a summary as one JSON object");
  addDialectOptions(addMissingOption(addSelectionOptions(command.optionsGroup("How files are read:"))));
  return addPluginOption(addMethodOptions(command), "methods and graphs")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm fit examples/north.csv examples/south.csv --k 3 --exclude plant --out clusters",
    )
    .action(async (files: string[], flags: FitFlags) => {
      const { fitFiles } = await import("./fit.ts");
      await fitFiles(files, inputOptions(flags), io);
    });
}
