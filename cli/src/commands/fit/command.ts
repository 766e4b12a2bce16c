// fedkm fit: what can be asked of it.

import { defaults } from "@fedkm/core/defaults";
import { Argument, Command } from "commander";
import { parseAtLeastZero, parseNames, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import {
  addDialectOptions,
  addLabelOptions,
  addMissingOption,
  addNetworkOptions,
  addSelectionOptions,
  addSourceOptions,
  type InputFlags,
  inputOptions,
  type LabelFlags,
} from "../../input/options.ts";
import { addPluginOption, type PluginOptions } from "../../plugins.ts";
import { addThreadsOption, type ThreadsOptions } from "../../threads.ts";
import type { FitOptions } from "./fit.ts";
import { addMethodOptions, type MethodSettings } from "./settings.ts";

interface FitFlags extends InputFlags, MethodSettings, PluginOptions, ThreadsOptions, LabelFlags {
  k?: number;
  study?: string;
  alpha: number;
  graph: string;
  method: string;
  scale: string;
  seed: number;
  sample?: number;
  names?: string[];
  out: string;
  labels: boolean;
  json?: true;
}

export function fitCommand(io: Console): Command {
  const command = new Command("fit")
    .description("Cluster the rows of files: a model, labelled copies of the files, and a report.")
    .addArgument(
      new Argument(
        "<files...>",
        "CSV, TSV, JSON, Parquet, .xlsx or .npy, also as .gz or .zip; folders; patterns such as 'sites/*.csv'; or sources, see docs/data.md",
      ),
    )
    .option("--k <number>", "clusters; required without --study", parseWhole("--k", 1))
    .option("--alpha <number>", "how strongly neighbours pull: 0 is alone", parseAtLeastZero("--alpha"), defaults.alpha)
    .option("--method <name>", "fedkm, or a method to compare with: consensus, local, pooled, ...", "fedkm")
    .option(
      "--study <study.yaml>",
      "simulate the devices of this study: columns, bounds, scale, k and alpha are its own",
    );
  addThreadsOption(addNetworkOptions(command))
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option(
      "--sample <rows>",
      "a quick look: only so many rows of all, drawn at random",
      parseWhole("--sample", 1, 1e12),
    )
    .option("--names <names>", "names of clusters 0, 1 and so on, with commas between", parseNames)
    .option("--out <folder>", "where the results go", "fedkm-results")
    .option("--json", "print a summary as one JSON object");
  addDialectOptions(addMissingOption(addSelectionOptions(command.optionsGroup("How files are read:"))));
  addLabelOptions(command.optionsGroup("What is written:")).option("--no-labels", "no labelled copies of the files");
  addSourceOptions(command.optionsGroup("How sources are read (duckdb:PATH, postgres://..., clickhouse://...):"));
  return addPluginOption(addMethodOptions(command), "methods and graphs")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm fit examples/north.csv examples/south.csv --k 3 --exclude plant --out clusters",
    )
    .action(async (files: string[], flags: FitFlags, called: Command) => {
      const { fitFiles } = await import("./fit.ts");
      await fitFiles(files, await completed(flags, called), io);
    });
}

/** With what the study says, or with the number of clusters that was typed. */
async function completed({ study: file, ...flags }: FitFlags, called: Command): Promise<FitOptions> {
  const { k } = flags;
  if (file !== undefined) {
    const { optionsOfStudy } = await import("./study.ts");
    const said = Object.entries(flags).filter(([name]) => called.getOptionValueSource(name) !== "default");
    return { ...inputOptions(flags), ...optionsOfStudy(file, Object.fromEntries(said)) };
  }
  if (k === undefined) throw new UsageError("--k must be given, or --study with a file that says it, got neither");
  return { ...inputOptions(flags), k };
}
