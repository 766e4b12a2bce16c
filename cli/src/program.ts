// The command line: what can be asked for, and what comes back as exit code.

import { inspect } from "node:util";
import { Command } from "commander";
import { auditCommand } from "./commands/audit/command.ts";
import { chooseCommand } from "./commands/choose/command.ts";
import { compareCommand } from "./commands/compare/command.ts";
import { completionCommand } from "./commands/completion/command.ts";
import { demoCommand } from "./commands/demo/command.ts";
import { deviceCommand } from "./commands/device/command.ts";
import { exportCommand } from "./commands/export/command.ts";
import { fitCommand } from "./commands/fit/command.ts";
import { inspectCommand } from "./commands/inspect/command.ts";
import { pipeCommand } from "./commands/pipe/command.ts";
import { playgroundCommand } from "./commands/playground/command.ts";
import { predictCommand } from "./commands/predict/command.ts";
import { reproduceCommand } from "./commands/reproduce/command.ts";
import { studyCommand } from "./commands/study/command.ts";
import { upCommand } from "./commands/up/command.ts";
import { verifyCommand } from "./commands/verify/command.ts";
import { applyConfig } from "./config.ts";
import type { Console } from "./console.ts";
import { exitCode, messageLine } from "./failure.ts";
import { version } from "./version.ts";

const commands = [
  demoCommand,
  fitCommand,
  chooseCommand,
  predictCommand,
  exportCommand,
  verifyCommand,
  inspectCommand,
  compareCommand,
  reproduceCommand,
  studyCommand,
  deviceCommand,
  upCommand,
  playgroundCommand,
  pipeCommand,
  auditCommand,
  completionCommand,
];

/** Runs one command line and resolves to its exit code: 0, or what failure.ts says. */
export async function run(args: readonly string[], io: Console): Promise<number> {
  // A newcomer who types the bare name wants to know what there is.
  const wanted = args.length === 0 ? ["--help"] : args;
  try {
    const command = program(io);
    await applyConfig(command, wanted);
    await command.parseAsync(wanted, { from: "user" });
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
    .option("--config <file>", "options of commands, instead of fedkm.yaml in this folder")
    .option("--debug", "show where a failure came from")
    .exitOverride()
    // Errors are written once, by `run`.
    .configureOutput({ writeOut: (text) => io.stdout.write(text), outputError: () => undefined });
  // A command says what it takes; what it does is loaded only when it runs, or --help would wait for all of them.
  for (const define of commands) adopt(command, define(io));
  return command;
}

/** A command, and the commands within it, report as their parent does. */
function adopt(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const inner of command.commands) adopt(command, inner);
  if (command.parent === null) parent.addCommand(command);
}
