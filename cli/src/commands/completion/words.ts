// What can be typed, as the commands are defined: names of commands within commands, flags, and the values of both.

import { methods } from "@fedkm/core";
import type { Command, Option } from "commander";

/** A command by the words that lead to it, such as "device run". */
export interface Typed {
  readonly path: string;
  readonly about: string;
  readonly flags: readonly Flag[];
  /** Commands within it, or values of its first argument. None: files. */
  readonly words: readonly string[];
}

export interface Flag {
  readonly name: string;
  readonly about: string;
  /** Whether a value follows, and which ones there are; none that are known: a file. */
  readonly takesValue: boolean;
  readonly values: readonly string[];
}

/** What the definitions of options leave to the work behind them, which is too slow to load for --help. */
const knownValues: Readonly<Record<string, readonly string[]>> = {
  "--method": [...Object.keys(methods), "shared"],
  "--graph": ["complete", "ring", "path", "star"],
};

/** Every command that can be typed; those that hold others stand before them. */
export function typedCommands(root: Command): Typed[] {
  const general = root.options.filter(({ long }) => long !== "--version");
  return root.commands.flatMap((command) => [
    typed(command, command.name(), general),
    ...command.commands.map((inner) => typed(inner, `${command.name()} ${inner.name()}`, general)),
  ]);
}

function typed(command: Command, path: string, general: readonly Option[]): Typed {
  const named = [...command.options, ...general].filter(({ long }) => long !== undefined);
  const inner = command.commands.map((own) => own.name());
  return {
    path,
    about: command.description(),
    flags: [...named.map(flagOf), { name: "--help", about: "show what it takes", takesValue: false, values: [] }],
    words: inner.length > 0 ? inner : command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []),
  };
}

function flagOf({ long, description, required, optional, argChoices, parseArg }: Option): Flag {
  const name = long ?? "";
  const { choices } = (parseArg ?? {}) as { readonly choices?: readonly string[] };
  const values = argChoices ?? choices ?? knownValues[name] ?? [];
  // A value of two words would be offered as two.
  return {
    name,
    about: description,
    takesValue: required || optional,
    values: values.filter((own) => !own.includes(" ")),
  };
}
