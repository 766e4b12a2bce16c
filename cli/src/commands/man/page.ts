// The manual page, made from the commands as they are defined.

import type { Command } from "commander";

export function manualPage(root: Command): string {
  const commands = root.commands.flatMap((command) => [command, ...command.commands]);
  return `${[
    `.TH FEDKM 1 "" "fedkm ${root.version() ?? ""}" "User Commands"`,
    ".SH NAME",
    `fedkm \\- ${lowered(text(root.description()))}`,
    ".SH SYNOPSIS",
    ".B fedkm",
    "[\\fIoptions\\fR] \\fIcommand\\fR [\\fIarguments\\fR]",
    ".SH OPTIONS",
    ...options(root),
    ".SH COMMANDS",
    ...commands.flatMap((command) => section(command, root)),
    ".SH FILES",
    ".TP",
    ".I fedkm.yaml",
    "Options of commands in the folder where fedkm is called. What is typed wins over what is written.",
    ".SH EXIT STATUS",
    ".TP",
    "0",
    "All went well.",
    ".TP",
    "1",
    "The work failed; one line on standard error says why.",
    ".TP",
    "2",
    "What was typed cannot be meant.",
    ".TP",
    "3",
    "The device in question does not run.",
    ".TP",
    "128 + n",
    "Signal n ended it.",
  ].join("\n")}\n`;
}

function section(command: Command, root: Command): string[] {
  const parent = command.parent === root ? "" : `${command.parent?.name()} `;
  const usage = command.usage().replace("[command]", "\\fIcommand\\fR");
  return [`.SS "fedkm ${parent}${command.name()} ${text(usage)}"`, text(command.description()), ...options(command)];
}

function options(command: Command): string[] {
  return command.options.flatMap(({ flags, description, defaultValue }) => [
    ".TP",
    `.B ${text(flags)}`,
    text(defaultValue === undefined ? description : `${description} (default: ${JSON.stringify(defaultValue)})`),
  ]);
}

/** Nothing of it is a request of roff: hyphens stay hyphens, and no line begins with a dot or a quote. */
function text(plain: string): string {
  return plain
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^(?=[.'])/, "\\&");
}

/** As the second half of the line that apropos shows. */
function lowered(sentence: string): string {
  return sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, "");
}
