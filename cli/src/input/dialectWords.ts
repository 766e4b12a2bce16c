// Options of reading as the words of a command line that can be pasted.

import type { DialectOptions } from "@fedkm/files";
import { shellNames, shellWord } from "@fedkm/tables/light";
import { characterName } from "../arguments.ts";

/** How text is read, as it was asked for. */
export function dialectWords(options: DialectOptions): string[] {
  const { delimiter, header, decimal, thousands, na, dates, encoding, sheet } = options;
  return [
    ...(delimiter === undefined ? [] : [`--delimiter ${shellWord(characterName(delimiter))}`]),
    ...(header === undefined ? [] : [`--header ${header ? "yes" : "no"}`]),
    ...(decimal === undefined ? [] : [`--decimal ${characterName(decimal)}`]),
    ...(thousands === undefined ? [] : [`--thousands ${shellWord(characterName(thousands))}`]),
    ...(na === undefined ? [] : [`--na ${shellNames(na)}`]),
    ...(dates === undefined ? [] : [`--dates ${dates}`]),
    ...(encoding === undefined ? [] : [`--encoding ${encoding}`]),
    ...(sheet === undefined ? [] : [`--sheet ${shellWord(sheet)}`]),
  ];
}
