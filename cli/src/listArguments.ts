// Arguments that are lists of names, or a character: apart from the others, because they load what reads CSV.

import { csvRecords } from "@fedkm/files/light";
import { characterNames } from "@fedkm/tables/light";
import { UsageError } from "./failure.ts";

/** Names with commas between; a name with a comma in it stands in quotes. */
export function parseNames(text: string): string[] {
  try {
    const names = csvRecords("names", text).flat();
    return names.map((name) => name.trim()).filter((name) => name !== "");
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

/** A character or its name, of the option that is named. */
export function parseCharacterArgument(option: string) {
  const parse = (text: string): string => {
    const character = characterNames[text] ?? text;
    if (!/^[ -~\t]$/.test(character) || /["\dA-Za-z+-]/.test(character)) {
      const names = Object.keys(characterNames).join(", ");
      throw new UsageError(
        `${option} must be one character that is no letter, digit or quote, or one of ${names}, got "${text}"`,
      );
    }
    return character;
  };
  return Object.assign(parse, { choices: Object.keys(characterNames) });
}
