// fedkm.yaml: options of commands in a file. What is typed wins over what is written.

import { readFileSync } from "node:fs";
import { fileSystemReason } from "@fedkm/files/light";
import { joinedNames } from "@fedkm/tables/light";
import type { Command, Option } from "commander";
import { parseDocument } from "yaml";
import { UsageError } from "./failure.ts";

/** Takes the settings of the command that is called from its section of the file. */
export function applyConfig(root: Command, command: Command, file: string): void {
  for (const [key, value] of Object.entries(readSection(root, file, command.name()))) {
    const option = command.options.find((own) => own.long === `--${key}`);
    if (option === undefined) {
      throw new UsageError(
        `${file} must name options of fedkm ${command.name()} under "${command.name()}", got "${key}"`,
      );
    }
    const setting = settingOf(option, value, file);
    // Commander adds what is typed to a list, unless that is the default.
    if (option.variadic) option.default(setting);
    command.setOptionValueWithSource(option.attributeName(), setting, "config");
  }
}

function readSection(root: Command, file: string, name: string): Readonly<Record<string, unknown>> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${fileSystemReason(error)}`);
  }
  const document = parseDocument(text);
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new UsageError(`${file} must be YAML, got ${fault.message.split("\n")[0]}`);
  }
  const value: unknown = document.toJS() ?? {};
  if (!isMapping(value))
    throw new UsageError(`${file} must hold a section for each command, got ${JSON.stringify(value)}`);
  const known = root.commands.map((command) => command.name());
  const stranger = Object.keys(value).find((key) => !known.includes(key));
  if (stranger !== undefined) {
    throw new UsageError(`${file} must have sections named as commands (${known.join(", ")}), got "${stranger}"`);
  }
  const section = value[name] ?? {};
  if (!isMapping(section))
    throw new UsageError(`${file} must hold options under "${name}", got ${JSON.stringify(section)}`);
  return section;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** As if it had been typed: lists with commas, or word by word where an option takes many; true for a switch. */
function settingOf(option: Option, value: unknown, file: string): unknown {
  if (option.isBoolean()) {
    if (typeof value !== "boolean")
      throw new UsageError(`${file} must have true or false for ${option.long}, got ${value}`);
    return value ? true : undefined;
  }
  if (typeof value === "object" && !Array.isArray(value)) {
    throw new UsageError(
      `${file} must have a text, a number or a list for ${option.long}, got ${JSON.stringify(value)}`,
    );
  }
  if (option.variadic) return [value].flat().map(String);
  const text = Array.isArray(value) ? joinedNames(value.map(String)) : String(value);
  return option.parseArg === undefined ? text : option.parseArg(text, option.defaultValue);
}
