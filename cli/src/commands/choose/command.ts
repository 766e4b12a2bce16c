// fedkm choose: what can be asked of it.

import { Argument, Command } from "commander";
import { parseChoice, parsePictureArgument, parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import {
  addDialectOptions,
  addGraphAndScaleOptions,
  addMissingOption,
  addSelectionOptions,
  addSourceOptions,
  parseWeighting,
} from "../../input/options.ts";
import type { ChooseFlags } from "./choose.ts";

export function chooseCommand(io: Console): Command {
  const command = new Command("choose")
    .description("Find out how many clusters there are and how strongly to couple the devices, without pooling rows.")
    .addArgument(new Argument("<files...>", "as for fedkm fit"))
    .option(
      "--k <number>",
      "at most so many clusters are tried (default: until more are worse)",
      parseWhole("--k", 1, 1000),
    )
    .option(
      "--sample <rows>",
      "look at about so many rows of all files together (default: 20000)",
      parseWhole("--sample", 1, 1e12),
    )
    .option(
      "--judge <own|all>",
      "whose rows judge alpha: each device's own, or those of all devices (default: all if they share clusters)",
      parseChoice("--judge", ["own", "all"]),
    )
    .option("--weighting <name>", "weight devices or rows equally: device or sample", parseWeighting, "sample");
  addSourceOptions(addDialectOptions(addMissingOption(addSelectionOptions(addGraphAndScaleOptions(command)))));
  return command
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option("--out <file.svg>", "where the two curves go", parsePictureArgument, "fedkm-choose.svg")
    .option("--as-is", "all columns as they are, without what fedkm inspect would propose")
    .option("--json", "print what was found as one JSON object")
    .addHelpText(
      "after",
      "\nExample:\n  fedkm choose examples/north.csv examples/south.csv --exclude plant --k 6 --out choice.svg",
    )
    .action(async (files: string[], flags: ChooseFlags) =>
      (await import("./choose.ts")).runChooseCommand(files, flags, io),
    );
}
