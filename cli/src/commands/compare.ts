// fedkm compare: what can be asked of it.

import { Command, Option } from "commander";
import { parseAtLeastZero, parsePicture, parseSeed, parseShare, parseWhole } from "../arguments.ts";
import type { CompareOptions } from "../compare/compare.ts";
import type { Console } from "../console.ts";

export function compareCommand(io: Console): Command {
  return new Command("compare")
    .description(
      "Run all methods on the same data, network, seed and message budget, and say which comes nearest to pooled k-means.",
    )
    .addOption(
      new Option("--dataset <name>", "the data").choices(["iso", "var", "aniso", "iris", "digits"]).default("var"),
    )
    .option("--methods <a,b,c>", "only these methods", (text) => text.split(","))
    .option(
      "--messages <integer>",
      "the budget of every method (default: 200 for each device)",
      parseWhole("--messages", 0, 1e9),
    )
    .option("--devices <integer>", "how many share the data", parseWhole("--devices", 2, 10_000), 10)
    .option("--points <integer>", "of each device, where data are drawn", parseWhole("--points", 1), 200)
    .option("--k <integer>", "clusters (default: as many as the data have)", parseWhole("--k", 1))
    .option(
      "--alpha <number>",
      "how strongly neighbours pull, for methods that know it",
      parseAtLeastZero("--alpha"),
      1,
    )
    .option("--probability <number>", "of a link between two devices", parseShare("--probability"), 0.7)
    .option("--seed <integer>", "draws data, network and starts", parseSeed, 1)
    .option("--out <file.svg>", "where the curves of quality against bytes go", parsePicture, "fedkm-compare.svg")
    .option("--json", "print the numbers as one JSON object instead of a table")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm compare --dataset digits --methods fedkm,consensus,distributed --messages 500",
    )
    .action(async (options: CompareOptions) => {
      const { compare } = await import("../compare/compare.ts");
      await compare(options, io);
    });
}
