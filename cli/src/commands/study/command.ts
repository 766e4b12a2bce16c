// fedkm study: its flags.

import { defaults } from "@fedkm/core/defaults";
import { Command } from "commander";
import { parseAtLeastZero, parseChoice, parseWhole, parseWholeOrRange } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { StudyInitOptions } from "./study.ts";

export function studyCommand(io: Console): Command {
  return new Command("study")
    .description(
      "The contract that all devices of a network share: the features, the number of clusters, and how strongly neighbours pull.",
    )
    .addCommand(initCommand(io))
    .addCommand(checkCommand(io));
}

function initCommand(io: Console): Command {
  return new Command("init")
    .description("Write a study file to look over and hand to every device.")
    .option("--name <text>", "what the study is called", "study")
    .option(
      "--k <integer>",
      "number of clusters, or FROM..TO: the devices find it out together",
      parseWholeOrRange("--k", 20),
      3,
    )
    .option("--alpha <number>", "how strongly neighbours pull: 0 is alone", parseAtLeastZero("--alpha"), defaults.alpha)
    .option(
      "--clusters <kind>",
      "personal: each device has its own; shared: one clustering for all, as of all rows together",
      parseChoice("--clusters", ["personal", "shared"]),
      "personal",
    )
    .option("--feature <name:min:max:unit...>", "columns of the data and the values they may hold (unit: optional)")
    .option("--data <file.csv>", "a file of rows to take columns and bounds from instead")
    .option(
      "--columns <names>",
      "these columns of --data only, with commas between; without --data their bounds and scale, and of NAME:category the values, are found out by the devices together",
    )
    .option(
      "--privacy <mode>",
      "guarded, private (differential privacy), or open for data that may be public",
      parseChoice("--privacy", ["guarded", "private", "open"]),
      "guarded",
    )
    .option("--typical-rows <integer>", "private: about how many rows a device has", parseWhole("--typical-rows", 1))
    .option(
      "--devices <integer>",
      "private and shared: how many devices must be there before rows are released",
      parseWhole("--devices", 3),
    )
    .option(
      "--epsilon <number>",
      "private: the differential-privacy budget of a device's rows (default: 1)",
      parseAtLeastZero("--epsilon"),
    )
    .option(
      "--delta <number>",
      "private: how likely the budget may not hold (default: 1e-5)",
      parseAtLeastZero("--delta"),
    )
    .option("--person-column <name>", "private: protect whole persons, whose rows this column of the data names")
    .option("--founders <keys...>", "shared: the keys of its first members, or a file of them (see fedkm device key)")
    .option("--out <file.yaml>", "where the study goes", "study.yaml")
    .addHelpText(
      "after",
      "\nExamples:\n  fedkm study init --k 4 --feature temperature:-40:60:°C humidity:0:100:%\n  fedkm study init --k 2..8 --columns age,crp,sex:category --clusters shared",
    )
    .action(async (options: StudyInitOptions) => (await import("./study.ts")).runStudyInitCommand(options, io));
}

function checkCommand(io: Console): Command {
  return new Command("check")
    .description("Show what a study file means, or what is wrong with it, and whether files fit it.")
    .argument("<study.yaml>")
    .option("--data <files...>", "also read these files of rows as a device would")
    .option("--json", "print one JSON object instead")
    .addHelpText("after", "\nExample:\n  fedkm study check study.yaml --data north.csv")
    .action(async (file: string, options: { data?: string[]; json?: true }) =>
      (await import("./study.ts")).runStudyCheckCommand(file, options, io),
    );
}
