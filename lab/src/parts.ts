// The parts of a section: which are named, and how those that judge are run. A missed bar gives exit code 1.

import { parseArgs } from "node:util";
import { nearestName } from "@fedkm/core/optionNames";

/** A word on the command line that is not known: one line, exit code 2. */
export class UsageError extends Error {}

/** Refuses the first name that is not known, with the one that was probably meant. */
export function checkNames(what: string, names: readonly string[], known: readonly string[]): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  const help = nearest === undefined ? `${what} is one of ${known.join(", ")}` : `did you mean ${nearest}?`;
  throw new UsageError(`there is no ${what.replace(/^an? /, "")} "${unknown}", ${help}`);
}

/** Prints its tables; returns whether every bar in them is held. */
type Part = (isShort: boolean) => Promise<boolean>;

/** A section that runs all parts, or those that are named. */
export const sectionOf = (parts: Readonly<Record<string, Part>>) => async (args: string[]) => {
  const { values, positionals } = parseArgs({
    args,
    options: { short: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  checkNames("a part", positionals, Object.keys(parts));
  const missed: string[] = [];
  for (const [name, part] of Object.entries(parts)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    if (!(await part(values.short))) missed.push(name);
  }
  console.log(missed.length === 0 ? "\nEvery bar held." : `\nMissed: ${missed.join(", ")}.`);
  if (missed.length > 0) process.exitCode = 1;
};
