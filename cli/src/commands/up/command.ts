// fedkm up: its flags.

import { Command } from "commander";
import { parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { UpFlags } from "./up.ts";

export function upCommand(io: Console): Command {
  return new Command("up")
    .description(
      "Run a whole network of devices on this machine, one process each, until Ctrl-C. Their folders stay. A device that ends is started again.",
    )
    .option(
      "--devices <integer>",
      "how many devices (default: one for each file of --data, or 10)",
      parseWhole("--devices", 1, 200),
    )
    .option("--graph <spec>", "complete, ring, path, star, er:P, knn:K, or a file of links", "er:0.7")
    .option("--data <files...>", "files of rows, one for each device (default: the paper's)")
    .option("--study <file.yaml>", "the study of the devices (default: that of the paper's rows)")
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option("--state <folder>", "the folder of the devices' folders", "fedkm-up")
    .option(
      "--dashboard <port>",
      "serve a page that shows the devices on 127.0.0.1; 0 takes a free port",
      parseWhole("--dashboard", 0, 65_535),
    )
    .option("--until-settled", "stop when every device has settled, or one has ended")
    .option("--json", "print one JSON object at the end instead of a table")
    .addHelpText("after", "\nExample:\n  fedkm up --devices 5 --graph ring --until-settled")
    .action(async (options: UpFlags) => (await import("./up.ts")).runUpCommand(options, io));
}
