// fedkm fit: what can be asked of it.

import { defaults } from "@fedkm/core/defaults";
import { couplings, inits, penalties, presets, privacies, schedules } from "@fedkm/tables/light";
import { Argument, Command } from "commander";
import { parseAtLeastZero, parseChoice, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import {
  addDialectOptions,
  addGraphAndScaleOptions,
  addLabelOptions,
  addMissingOption,
  addSelectionOptions,
  addSourceOptions,
  parseWeighting,
} from "../../input/options.ts";
import { parseNames } from "../../listArguments.ts";
import { addPluginOption } from "../../plugins.ts";
import { addThreadsOption } from "../../threads.ts";
import type { FitFlags } from "./fit.ts";

type TypedFlags = Omit<FitFlags, "study"> & { readonly study?: string };

export function fitCommand(io: Console): Command {
  const command = new Command("fit")
    .description("Cluster the rows of files: a model, labelled copies of the files, and a report.")
    .addArgument(
      new Argument(
        "<files...>",
        "CSV, TSV, JSON, Parquet, .xlsx, .ods or .npy, also as .gz or .zip; folders; patterns such as 'sites/*.csv'; or sources, see docs/data.md",
      ),
    )
    .option("--k <number>", "clusters (default: as many as fedkm choose finds)", parseWhole("--k", 1))
    .option("--alpha <number>", "how strongly neighbours pull: 0 is alone", parseAtLeastZero("--alpha"), defaults.alpha)
    .option("--method <name>", "fedkm, or a method to compare with: consensus, local, pooled, ...", "fedkm")
    .option(
      "--study <study.yaml>",
      "simulate the devices of this study: columns, bounds, scale, k and alpha are its own",
    );
  addThreadsOption(addGraphAndScaleOptions(command))
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option(
      "--sample <rows>",
      "a quick look: only so many rows of all, drawn at random",
      parseWhole("--sample", 1, 1e12),
    )
    .option("--names <names>", "names of clusters 0, 1 and so on, with commas between", parseNames)
    .option("--out <folder>", "where the results go", "fedkm-results")
    .option("--json", "print a summary as one JSON object")
    .option("--as-is", "all columns as they are, without what fedkm inspect would propose");
  addDialectOptions(addMissingOption(addSelectionOptions(command.optionsGroup("How files are read:"))));
  addLabelOptions(command.optionsGroup("What is written:"), ["none"]);
  addSourceOptions(
    command.optionsGroup("How sources are read (duckdb:PATH, sqlite:FILE, postgres://..., clickhouse://...):"),
  );
  return addPluginOption(addMethodOptions(command), "methods and graphs")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm fit examples/north.csv examples/south.csv --k 3 --exclude plant --out clusters",
    )
    .action(async (files: string[], flags: TypedFlags, called: Command) =>
      (await import("./fit.ts")).runFitCommand(files, await completed(files, flags, called, io), io),
    );
}

/** With what the study says. */
async function completed(
  files: readonly string[],
  { study: file, ...flags }: TypedFlags,
  called: Command,
  io: Console,
): Promise<FitFlags> {
  if (file === undefined) return flags;
  const { flagsOfStudy } = await import("./study.ts");
  const typed = Object.entries(flags).filter(([name]) => called.getOptionValueSource(name) !== "default");
  return { ...flags, ...(await flagsOfStudy(file, Object.fromEntries(typed), files, io)) };
}

function addMethodOptions(command: Command): Command {
  return command
    .optionsGroup("How the method runs:")
    .option(
      "--preset <name>",
      `dependable, or paper: as published (default: ${defaults.preset})`,
      parseChoice("--preset", presets),
    )
    .option(
      "--init <name>",
      "where devices start: auto, federated, local, kmeans++ or 'classic kmeans++' (default: as the preset has it)",
      parseChoice("--init", inits),
    )
    .option(
      "--schedule <name>",
      `who updates when: cyclic, random, coloured or simultaneous (default: ${defaults.schedule})`,
      parseChoice("--schedule", schedules),
    )
    .option(
      "--rounds <integer>",
      `at most this many (default: ${defaults.rounds}, or as the method has it)`,
      parseWhole("--rounds", 0),
    )
    .option(
      "--coupling <name>",
      `pairs of neighbours' centroids: nearest or transport (default: ${defaults.coupling})`,
      parseChoice("--coupling", couplings),
    )
    .option(
      "--weighting <name>",
      "weight devices or rows equally: device or sample (default: sample, or device with --preset paper)",
      parseWeighting,
    )
    .option(
      "--penalty <name>",
      `what a link costs by how far its ends differ: squared, norm or truncated (default: ${defaults.penalty})`,
      parseChoice("--penalty", penalties),
    )
    .option(
      "--tol <number>",
      `relative move below which a device stands still (default: ${defaults.tol})`,
      parseAtLeastZero("--tol"),
    )
    .option(
      "--privacy <mode>",
      "as devices of a study: open, or guarded, where nothing sent isolates fewer rows than --min-rows, or private with --method shared (default: open)",
      parseChoice("--privacy", privacies),
    )
    .option(
      "--min-rows <rows>",
      `the fewest rows that anything sent may stand for, with --privacy guarded (default: ${defaults.guardedMinimum})`,
      parseWhole("--min-rows", 1),
    )
    .option(
      "--epsilon <number>",
      "differential-privacy budget, with --privacy private (default: 1, at delta 0.00001)",
      parseAtLeastZero("--epsilon"),
    );
}
