// fedkm reproduce and fedkm sweep: their flags.

import { Command } from "commander";
import { parseChoice, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import { UsageError } from "../../failure.ts";
import { parseNames } from "../../listArguments.ts";
import { addPluginOption } from "../../plugins.ts";
import type { ReproduceFlags, RunFlags } from "./reproduce.ts";

export function reproduceCommand(io: Console): Command {
  const command = new Command("reproduce")
    .description("Run the paper's experiments again: CSV, pictures, and a report that says which of its claims hold.")
    .argument(
      "[what]",
      "figure1 to figure4, all (these four and no more); readings (the paper's data read in two ways); effect-of-alpha, sample-size, connectivity, regimes, comparison, communities, benchmark, follow-up (these seven); heterogeneity; features (of --data)",
      "all",
    )
    .option(
      "--data <files...>",
      "files of your rows and classes, for features: wider than 50 columns become components",
    )
    .option("--classes <column>", "of your files: the known class of every row", "label")
    .option("--devices <integer>", "how many devices share your files", parseWhole("--devices", 2, 10_000), 10)
    .option("--quick", "few sizes, for a first look")
    .option(
      "--init <starts>",
      "where devices start: local (each device's own k-means, best of 10, as in the authors' public code), kmeans++ (its seeds alone), auto (as fedkm fit), several with commas between, or all",
      parseStarts,
      ["local"],
    );
  return addRunOptions(command, "fedkm-reproduce")
    .addHelpText("after", "\nExample:\n  fedkm reproduce figure1 --quick --out figure1")
    .action(async (what: string, options: Omit<ReproduceFlags, "what">) =>
      (await import("./reproduce.ts")).runReproduceCommand({ what, ...options }, io),
    );
}

export function sweepCommand(io: Console): Command {
  const command = new Command("sweep")
    .description(
      "Run methods over all combinations of factors in a file: one CSV, figures with intervals, LaTeX tables.",
    )
    .argument(
      "<file>",
      "YAML: data or files, split, points, graph, alpha, k, method and its options, each one or several",
    );
  return addRunOptions(command, "fedkm-sweep")
    .addHelpText("after", "\nExample:\n  fedkm sweep examples/sweep/sweep.yaml --plugin examples/sweep/middle.py")
    .action(async (file: string, options: RunFlags) =>
      (await import("./reproduce.ts")).runSweepCommand(file, options, io),
    );
}

/** How often, where to, and how it looks. */
function addRunOptions(command: Command, folder: string): Command {
  command
    .option(
      "--runs <integer>",
      "how many independent runs of every cell (default: 10, or 2 with --quick)",
      parseWhole("--runs", 1),
    )
    .option("--out <folder>", "where everything goes", folder)
    .option("--seed <integer>", "of everything random", parseSeed)
    .option(
      "--threads <integer>",
      "how many processes share the work; the answer has the same bits with any number of them (default: all processors)",
      parseWhole("--threads", 1, 256),
    )
    .option(
      "--summary <name>",
      "what pictures and tables show: mean (and 95 % interval) or median (and quartiles) (default: as published)",
      parseChoice("--summary", ["mean", "median"]),
    )
    .option("--no-titles", "pictures without title and caption, for a paper that has its own")
    .option("--resume", "take what an earlier run left in the folder, and run the rest")
    .option("--json", "print what was found as one JSON object");
  return addPluginOption(command, "methods, data sets, graphs and measures");
}

/** Written out here: the package that knows them is loaded when the command runs. */
const starts: ReproduceFlags["init"] = ["local", "kmeans++", "auto"];

function parseStarts(text: string): ReproduceFlags["init"] {
  const names = parseNames(text);
  const chosen = names.includes("all") ? starts : starts.filter((start) => names.includes(start));
  const known = names.every((name) => name === "all" || starts.some((start) => start === name));
  if (names.length > 0 && known) return chosen;
  throw new UsageError(`--init must be all or some of ${starts.join(", ")}, got "${text}"`);
}
