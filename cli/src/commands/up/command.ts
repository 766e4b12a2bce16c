// fedkm up: what can be asked of a whole network on this machine.

import { Command } from "commander";
import { parseSeed, parseWhole } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { UpOptions } from "./up.ts";

export function upCommand(io: Console): Command {
  return new Command("up")
    .description("Run a whole network of devices on this machine, one process each, until Ctrl-C. The state stays.")
    .option(
      "--devices <integer>",
      "how many (default: one for each file of --data, or 10)",
      parseWhole("--devices", 1, 200),
    )
    .option("--graph <kind>", "complete, ring, path, star, er:P, knn:K, or a file of links", "er:0.7")
    .option("--data <files...>", "one file for each device (default: the paper's points)")
    .option("--study <file.yaml>", "the study (default: that of the paper's points)")
    .option("--seed <integer>", "draws the points and the graph", parseSeed, 1)
    .option("--state <folder>", "where the devices' folders go", "fedkm-up")
    .option(
      "--dashboard <port>",
      "serve a page on 127.0.0.1 that shows all of them; 0 takes a free port",
      parseWhole("--dashboard", 0, 65_535),
    )
    .option("--until-settled", "stop when every device is settled")
    .option("--json", "print one JSON object at the end instead of a table")
    .addHelpText("after", "\nExample:\n  fedkm up --devices 5 --graph ring --until-settled")
    .action(async (options: UpOptions) => {
      const { up } = await import("./up.ts");
      await up(options, io);
    });
}
