// fedkm compare: its flags.

import { defaults } from "@fedkm/core/defaults";
import { Command, Option } from "commander";
import { parseAtLeastZero, parsePictureOrPage, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import { addDialectOptions, addMissingOption, addSelectionOptions } from "../../input/options.ts";
import { addPluginOption } from "../../plugins.ts";
import type { CompareFlags } from "./data.ts";

export function compareCommand(io: Console): Command {
  const command = new Command("compare")
    .description(
      "Run all methods on the same data, networks and message budget, each at its best setting and from a common start, and say which wins.",
    )
    .argument("[files...]", "your files instead of --dataset: one for each device, or one that is dealt to --devices");
  addPluginOption(addProblemOptions(command), "methods, data sets, graphs and measures");
  addDialectOptions(addMissingOption(addSelectionOptions(command)));
  return command
    .addHelpText(
      "after",
      "\nExamples:\n  fedkm compare --dataset digits --method fedkm,consensus,distributed --messages 500" +
        "\n  fedkm compare --init local --set distributed.eta=tuned --set gradient.exchanges=5" +
        "\n  fedkm compare examples/north.csv examples/south.csv --exclude plant --k 3",
    )
    .action(async (files: string[], flags: Omit<CompareFlags, "files">) =>
      (await import("./compare.ts")).runCompareCommand({ ...flags, files }, io),
    );
}

/** The data, the network, the methods and their budget. */
function addProblemOptions(command: Command): Command {
  return command
    .option("--dataset <name>", "data that come with the command: iso, var, aniso, iris, digits", "var")
    .option("--classes <column>", "of your files: the known class of every row, for NMI and ARI")
    .option("--scale <spec>", "of your files: none, standard, or bounds:FILE", "none")
    .option("--method <a,b,c>", "only these methods", (text) => text.split(","))
    .option(
      "--messages <integer>",
      `the budget of every method (default: ${defaults.rounds} for each device)`,
      parseWhole("--messages", 0, 1e9),
    )
    .option("--runs <integer>", "how many independent runs, each with a seed of its own", parseWhole("--runs", 1), 10)
    .addOption(
      new Option(
        "--init <start>",
        "where devices start in common: local (each device's own k-means), aligned (the same, clusters in one order) or federated (one common seed)",
      )
        .choices(["local", "aligned", "federated"])
        .default("aligned"),
    )
    .option(
      "--set <method.option=value>",
      "an option of one method, such as distributed.eta=2, which is then its one setting; may be repeated",
      (text: string, before: readonly string[]) => [...before, text],
      [],
    )
    .option("--devices <integer>", "how many devices share the data", parseWhole("--devices", 2, 10_000), 10)
    .option(
      "--split <rule>",
      "how one set of rows is dealt: even, dirichlet:A, classes:K (on each device), or sizes:S (largest over smallest) (default: even)",
    )
    .option(
      "--typical-rows <integer>",
      "how many rows a device has, where data are drawn",
      parseWhole("--typical-rows", 1),
      200,
    )
    .option("--k <integer>", "clusters (default: as many as the data have)", parseWhole("--k", 1))
    .option(
      "--alpha <number>",
      "how strongly neighbours pull, for methods that know it",
      parseAtLeastZero("--alpha"),
      defaults.alpha,
    )
    .option("--graph <spec>", "complete, ring, path, star, er:P, knn:K, or a file of links", "er:0.7")
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option(
      "--out <file>",
      "where the picture goes, quality against bytes: .svg, or .html for a page with the answer first",
      parsePictureOrPage,
      "fedkm-compare.svg",
    )
    .option("--json", "print the numbers as one JSON object instead of a table");
}
