// The command line: which commands there are, which of them is called, and what comes back as exit code.

import { existsSync } from "node:fs";
import { Command, CommanderError } from "commander";
import type { Console } from "./console.ts";
import { version } from "./package.ts";

type Definition = (io: Console) => Command;

/** What each command is for, in the order in which --help lists them. */
const summaries = {
  demo: "run ten devices on this machine, compare them with other methods, draw a picture",
  fit: "cluster files or database tables, each a device of a network",
  choose: "find the number of clusters and how strongly devices should be tied",
  predict: "label new rows with a model",
  export: "write a model as SQL, ONNX, scikit-learn or CSV",
  verify: "check a model against its files",
  inspect: "show what fedkm reads from a file, and what to type",
  compare: "run all methods on the same data with the same message budget",
  reproduce: "repeat the paper's experiments and draw their figures",
  sweep: "run methods over factors of your own: one CSV, figures, tables",
  study: "write or check the contract that all devices of a network share",
  device: "set up, link and run one device of a network",
  up: "run a whole network of devices on this machine",
  playground: "watch devices, links and alpha in a page on this machine",
  docs: "read and search the documentation in a page on this machine",
  pipe: "answer requests of another program over standard input and output",
  audit: "attack a simulated network or a recording, and show what neighbours can learn",
  completion: "print a script that completes commands and flags in a shell",
} as const;

/** A command's flags are loaded when it is called, and its work when it runs: `fedkm --help` waits for neither. */
const loaders: Readonly<Record<keyof typeof summaries, () => Promise<Definition>>> = {
  demo: async () => (await import("./commands/demo/command.ts")).demoCommand,
  fit: async () => (await import("./commands/fit/command.ts")).fitCommand,
  choose: async () => (await import("./commands/choose/command.ts")).chooseCommand,
  predict: async () => (await import("./commands/predict/command.ts")).predictCommand,
  export: async () => (await import("./commands/export/command.ts")).exportCommand,
  verify: async () => (await import("./commands/verify/command.ts")).verifyCommand,
  inspect: async () => (await import("./commands/inspect/command.ts")).inspectCommand,
  compare: async () => (await import("./commands/compare/command.ts")).compareCommand,
  reproduce: async () => (await import("./commands/reproduce/command.ts")).reproduceCommand,
  sweep: async () => (await import("./commands/reproduce/command.ts")).sweepCommand,
  study: async () => (await import("./commands/study/command.ts")).studyCommand,
  device: async () => (await import("./commands/device/command.ts")).deviceCommand,
  up: async () => (await import("./commands/up/command.ts")).upCommand,
  playground: async () => (await import("./commands/pages/command.ts")).playgroundCommand,
  docs: async () => (await import("./commands/pages/command.ts")).docsCommand,
  pipe: async () => (await import("./commands/pipe/command.ts")).pipeCommand,
  audit: async () => (await import("./commands/audit/command.ts")).auditCommand,
  completion: async () => (await import("./commands/completion/command.ts")).completionCommand,
};

const CONFIG_FILE = "fedkm.yaml";

/** Runs one command line and resolves to its exit code: 0, or what failure.ts says. */
export async function runCommandLine(args: readonly string[], io: Console): Promise<number> {
  // A newcomer who types the bare name wants to know what there is.
  const line = args.length === 0 ? ["--help"] : args;
  try {
    const name = calledCommand(line);
    // Completion is made from all of them.
    const root = await program(io, name === "completion" ? "all" : name);
    const command = root.commands.find((own) => own.name() === name);
    const named = configFile(line);
    const isWanted = command !== undefined && !line.includes("--help");
    if (isWanted && (named !== undefined || existsSync(CONFIG_FILE))) {
      const { applyConfig } = await import("./config.ts");
      applyConfig(root, command, named ?? CONFIG_FILE);
    }
    await root.parseAsync(line, { from: "user" });
    return 0;
  } catch (error) {
    // Commander throws after --help and --version too.
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const { exitCode, messageLine } = await import("./failure.ts");
    io.stderr.write(`${messageLine(error)}\n`);
    if (args.includes("--debug")) io.stderr.write(`${(await import("node:util")).inspect(error)}\n`);
    return exitCode(error);
  }
}

/** With the flags of the command that is called, or of all; of the others only what they are for. */
export async function program(io: Console, called: string | undefined): Promise<Command> {
  const root = new Command("fedkm")
    .description(
      "Federated k-means over networks: devices agree on clusters by talking to their neighbours, no server.",
    )
    .version(version())
    .option("--config <file>", `options of commands, instead of ${CONFIG_FILE} in this folder`)
    .option("--debug", "show where a failure came from")
    .exitOverride()
    // Errors are written once, by `run`.
    .configureOutput({ writeOut: (text) => io.stdout.write(text), outputError: () => undefined });
  for (const name of Object.keys(summaries) as (keyof typeof summaries)[]) {
    const command = called === name || called === "all" ? (await loaders[name]())(io) : new Command(name);
    adopt(root, command.summary(summaries[name]));
  }
  return root;
}

/** A command, and the commands within it, report as their parent does. */
function adopt(parent: Command, command: Command): void {
  command.copyInheritedSettings(parent);
  for (const inner of command.commands) adopt(command, inner);
  if (command.parent === null) parent.addCommand(command);
}

/** The first word that is neither an option nor the value of --config; after `help`, the word that follows. */
function calledCommand(line: readonly string[]): string | undefined {
  const words = line.filter((word, at) => !word.startsWith("-") && line[at - 1] !== "--config");
  return words[0] === "help" ? words[1] : words[0];
}

function configFile(line: readonly string[]): string | undefined {
  const at = line.indexOf("--config");
  return at >= 0 ? line[at + 1] : line.find((word) => word.startsWith("--config="))?.slice("--config=".length);
}
