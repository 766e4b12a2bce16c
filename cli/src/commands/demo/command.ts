// fedkm demo: its flags.

import { Command } from "commander";
import { parsePictureArgument, parseSeed } from "../../arguments.ts";
import type { Console } from "../../console.ts";
import type { DemoFlags } from "./demo.ts";

export function demoCommand(io: Console): Command {
  return new Command("demo")
    .description("Run ten devices as programs on this machine, compare them with five methods, and draw a picture.")
    .option("--seed <integer>", "of everything random", parseSeed, 1)
    .option("--out <file.svg>", "where the picture goes", parsePictureArgument, "fedkm-demo.svg")
    .option("--json", "print the numbers as one JSON object instead of a table")
    .addHelpText("after", "\nExample:\n  fedkm demo --seed 7 --out seven.svg")
    .action(async (options: DemoFlags) => (await import("./demo.ts")).runDemoCommand(options, io));
}
