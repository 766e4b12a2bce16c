// Refusals of files in the words of the command: what helps, with the arguments that do it. Only this file words them so.

import type { ActionRemedy, DataError, RemedyPosition } from "@fedkm/files";
import { shellNames, shellWord } from "@fedkm/tables/light";

/** One line that says what is wrong with a file, and what to type or to change. */
export function refusalLine(error: DataError): string {
  return error.worded(phrase);
}

const policyPhrases = { drop: "drop their rows with --missing drop", mean: "fill them with --missing mean" };

function phrase(remedy: ActionRemedy, position: RemedyPosition): string {
  switch (remedy.kind) {
    case "leave-out-columns": {
      const names = [...new Set(remedy.columns)];
      return `leave ${spokenOf(remedy.columns.length, position)} out with --exclude ${shellNames(names)}`;
    }
    case "choose-columns":
      return `choose${position === "later" ? "" : " the columns"} with --columns ${shellNames(remedy.columns)}`;
    case "take-categories":
      return `take ${remedy.columns.length === 1 ? "it as a category" : "them as categories"} with --categories ${shellNames(remedy.columns)}`;
    case "name-column":
      return `name one of them with ${flagOf(remedy.option)}`;
    case "missing-policy":
      return remedy.policies.map((policy) => policyPhrases[policy]).join(", or ");
    case "decimal-points":
      return "say what the commas are with --decimal comma (1,5 is 1.5) or --decimal point (1,500 is 1500)";
    case "dates":
      return "read dates as days since 1970 with --dates days, or with --dates day-first or month-first where 3/1 may mean two";
    case "encoding":
      return `read it with --encoding ${remedy.encoding}`;
    case "sheet":
      return `name one of them with --sheet, such as --sheet ${shellWord(remedy.sheets[0])}`;
    case "delimiter":
      return "put commas between cells, such as with tr -s ' ' ',', or name the character with --delimiter";
  }
}

/** Commander calls an option so of which it makes one with this name. */
function flagOf(option: string): string {
  return `--${option.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** Columns by a word: the first remedy follows what is wrong with them, a later one follows what else could be done. */
function spokenOf(count: number, position: RemedyPosition): string {
  if (position === "rest") return "the others";
  if (position === "first") return count === 1 ? "it" : "them";
  return count === 1 ? "the column" : count === 2 ? "both columns" : "the columns";
}
