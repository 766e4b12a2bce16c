// The command line: what can be asked for, and what comes back as exit code.

import { readFileSync } from "node:fs";
import { inspect } from "node:util";
import { Command } from "commander";
import type { Console } from "./console.ts";
import { exitCode, messageLine, UsageError } from "./failure.ts";

/** Runs one command line and resolves to its exit code: 0, 1 for a failure, 2 for bad usage. */
export async function run(args: readonly string[], io: Console): Promise<number> {
  // A newcomer who types the bare name wants to know what there is.
  const wanted = args.length === 0 ? ["--help"] : args;
  try {
    await program(io).parseAsync(wanted, { from: "user" });
    return 0;
  } catch (error) {
    const code = exitCode(error);
    if (code !== 0) {
      io.stderr.write(`${messageLine(error)}\n`);
      if (args.includes("--debug")) io.stderr.write(`${inspect(error)}\n`);
    }
    return code;
  }
}

function program(io: Console): Command {
  const command = new Command("fedkm")
    .description(
      "Federated k-means over networks: devices agree on clusters by talking to their neighbours, no server.",
    )
    .version(version())
    .option("--debug", "show where a failure came from")
    .exitOverride()
    // Errors are written once, by `run`.
    .configureOutput({ writeOut: (text) => io.stdout.write(text), outputError: () => undefined });
  command
    .command("demo")
    .description("Run five methods on ten simulated devices, compare them in a table and draw a picture.")
    .option("--seed <integer>", "draws the data and the network", parseSeed, 1)
    .option("--out <file.svg>", "where the picture goes", parsePicture, "fedkm-demo.svg")
    .option("--json", "print the numbers as one JSON object instead of a table")
    .addHelpText("after", "\nExample:\n  fedkm demo --seed 7 --out seven.svg")
    .action(async (options: { seed: number; out: string; json?: true }) => {
      // Loaded only when asked for: drawing takes longer to load than --help takes to answer.
      const { demo } = await import("./commands/demo.ts");
      await demo(options, io);
    });
  return command;
}

function version(): string {
  const manifest: { version: string } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  return manifest.version;
}

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(seed)) {
    throw new UsageError(`--seed must be an integer from -(2^53 - 1) to 2^53 - 1, got "${text}"`);
  }
  return seed;
}

function parsePicture(file: string): string {
  if (!/\.svg$/i.test(file)) throw new UsageError(`--out must name a file that ends in .svg, got "${file}"`);
  return file;
}
