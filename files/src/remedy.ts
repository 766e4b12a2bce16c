// What helps against a refusal, as facts: a program can act on them, and each host words them in its own terms.

export type Remedy =
  | TextRemedy
  | ActionRemedy
  /** The first for a part of what is wrong, and one of the others for the rest. */
  | { readonly kind: "both"; readonly first: Remedy; readonly rest: readonly Remedy[] };

/** Advice that no program can follow, such as to check a path. */
interface TextRemedy {
  readonly kind: "text";
  readonly text: string;
}

export type ActionRemedy =
  /** Read the file without these columns. A name that two columns have stands here twice. */
  | { readonly kind: "leave-out-columns"; readonly columns: readonly string[] }
  /** Read these columns and no others. */
  | { readonly kind: "choose-columns"; readonly columns: readonly string[] }
  /** Read these columns as categories. */
  | { readonly kind: "take-categories"; readonly columns: readonly string[] }
  /** Name one of these columns of the file in an option that names another, such as "deviceColumn". */
  | { readonly kind: "name-column"; readonly option: string; readonly columns: readonly string[] }
  /** Say what becomes of missing cells. */
  | { readonly kind: "missing-policy"; readonly policies: readonly ("drop" | "mean")[] }
  /** Say what commas in the numbers of these columns mean, or write these without. */
  | { readonly kind: "decimal-points"; readonly columns: readonly string[] }
  /** Read dates as numbers. */
  | { readonly kind: "dates"; readonly columns: readonly string[] }
  /** Read the text in this encoding. */
  | { readonly kind: "encoding"; readonly encoding: string }
  /** Name one of the sheets of a workbook, or of the arrays of an archive. */
  | { readonly kind: "sheet"; readonly sheets: readonly string[] }
  /** Put one of these characters between cells. */
  | { readonly kind: "delimiter"; readonly delimiters: readonly string[] };

/** Where a remedy stands: as the first one, behind others, or for the rest behind the first of "both". */
export type RemedyPosition = "first" | "later" | "rest";

export type RemedyWords = (remedy: ActionRemedy, position: RemedyPosition) => string;

/** Remedies as one text: any one of them helps. */
export function remedyText(remedies: readonly Remedy[], words: RemedyWords, isRest = false): string {
  const phrases = remedies.map((remedy, at) => {
    if (remedy.kind === "text") return remedy.text;
    if (remedy.kind === "both") {
      return `${remedyText([remedy.first], words)}; ${remedyText(remedy.rest, words, true)}`;
    }
    return words(remedy, at > 0 ? "later" : isRest ? "rest" : "first");
  });
  return phrases.length < 2 ? phrases.join("") : `${phrases.slice(0, -1).join(", ")}, or ${phrases.at(-1)}`;
}

const quoted = (columns: readonly string[]) =>
  `${new Set(columns).size === 1 ? "column" : "columns"} ${[...new Set(columns)].map((name) => JSON.stringify(name)).join(", ")}`;

const policyWords = { drop: "drop their rows", mean: "fill them with the mean" };

/** Words that fit a library and a page alike. */
export const plainWords: RemedyWords = (remedy) => {
  switch (remedy.kind) {
    case "leave-out-columns":
      return `leave out ${quoted(remedy.columns)}`;
    case "choose-columns":
      return `choose ${quoted(remedy.columns)}`;
    case "take-categories":
      return `take ${quoted(remedy.columns)} as ${remedy.columns.length === 1 ? "a category" : "categories"}`;
    case "name-column":
      return "name one of them";
    case "missing-policy":
      return remedy.policies.map((policy) => policyWords[policy]).join(", or ");
    case "decimal-points":
      return "say whether their commas are decimal ones or stand between thousands";
    case "dates":
      return "read dates as days";
    case "encoding":
      return `read it as ${remedy.encoding}`;
    case "sheet":
      return "name one of them";
    case "delimiter":
      return "put commas between cells";
  }
};
