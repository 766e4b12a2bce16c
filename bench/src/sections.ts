// Runs the sections of a command that measures and judges: all, or those that are named. Exit 1 if a bar is missed.

import { parseArgs } from "node:util";

/** Prints its tables; returns whether every bar in them is held. */
type Section = (isShort: boolean) => Promise<boolean>;

export async function runSections(command: string, sections: Readonly<Record<string, Section>>): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { short: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const stranger = positionals.find((name) => !Object.hasOwn(sections, name));
  if (stranger !== undefined) {
    console.error(`${command}: a section must be one of ${Object.keys(sections).join(", ")}, got ${stranger}`);
    process.exit(2);
  }
  const missed: string[] = [];
  for (const [name, section] of Object.entries(sections)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    if (!(await section(values.short))) missed.push(name);
  }
  console.log(missed.length === 0 ? "\nEvery bar held." : `\nMissed: ${missed.join(", ")}.`);
  if (missed.length > 0) process.exitCode = 1;
}
