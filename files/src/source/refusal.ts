// How a file is refused: as data that says where, what was expected, what stands there and what helps, and in one line.

/** What a person can do about a refusal, as data; each program has its own words for it. */
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

/** A remedy that is another option of the reader. */
export type ActionRemedy =
  /** Read the file without these columns. A name that two columns have stands here twice. */
  | { readonly kind: "leave-out-columns"; readonly columns: readonly string[] }
  | { readonly kind: "choose-columns"; readonly columns: readonly string[] }
  | { readonly kind: "take-categories"; readonly columns: readonly string[] }
  /** Name one of these columns of the file in an option that names another, such as "deviceColumn". */
  | { readonly kind: "name-column"; readonly option: string; readonly columns: readonly string[] }
  | { readonly kind: "missing-policy"; readonly policies: readonly ("drop" | "mean")[] }
  /** Say what commas in the numbers of these columns mean, or write these without. */
  | { readonly kind: "decimal-points"; readonly columns: readonly string[] }
  | { readonly kind: "dates"; readonly columns: readonly string[] }
  | { readonly kind: "encoding"; readonly encoding: string }
  /** Name one of the sheets of a workbook, or of the arrays of an archive. */
  | { readonly kind: "sheet"; readonly sheets: readonly string[] }
  /** Put one of these characters between cells. */
  | { readonly kind: "delimiter"; readonly delimiters: readonly string[] };

/** Where a remedy stands: as the first one, behind others, or for the rest behind the first of "both". */
export type RemedyPosition = "first" | "later" | "rest";

/** Puts a remedy into the words of a program. */
export type RemedyWords = (remedy: ActionRemedy, position: RemedyPosition) => string;

/** Remedies as one text: any one of them helps. */
function remedyText(remedies: readonly Remedy[], words: RemedyWords, isRest = false): string {
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
const plainWords: { readonly [kind in ActionRemedy["kind"]]: (own: Extract<ActionRemedy, { kind: kind }>) => string } =
  {
    "leave-out-columns": ({ columns }) => `leave out ${quoted(columns)}`,
    "choose-columns": ({ columns }) => `choose ${quoted(columns)}`,
    "take-categories": ({ columns }) =>
      `take ${quoted(columns)} as ${columns.length === 1 ? "a category" : "categories"}`,
    "name-column": () => "name one of them",
    "missing-policy": ({ policies }) => policies.map((policy) => policyWords[policy]).join(", or "),
    "decimal-points": () => "say whether their commas are decimal ones or stand between thousands",
    dates: () => "read dates as days",
    encoding: ({ encoding }) => `read it as ${encoding}`,
    sheet: () => "name one of them",
    delimiter: () => "put commas between cells",
  };

/** Where in a file something is wrong. */
export interface FilePosition {
  readonly file: string;
  /** From 1, as editors count; of Parquet files the row, from 1. */
  readonly line?: number;
  /** Its name; its number from 1 where the name is not known, or is what is wrong. */
  readonly column?: string | number;
  /** Of a workbook: sheet and cell, such as Sheet1!C7. */
  readonly cell?: string;
  /** Of a Parquet file, an archive or an array what is no row, with the byte at which it begins: its footer, a page of a row group, or a header. */
  readonly part?: string;
  readonly byte?: number;
  /** What is wrong concerns all of the file and no place in it, such as its size. */
  readonly whole?: true;
}

/** A file that cannot be read as numbers; nothing of it was used. */
export class DataError extends Error {
  override readonly name = "DataError";
  readonly position: FilePosition;
  /** Completes "must ...". */
  readonly rule: string;
  /** What stands there instead. */
  readonly got: string;
  /** Any one of them helps. */
  readonly remedies: readonly Remedy[];
  /** The same line without what stands in the file, for a log. */
  readonly withoutContents: string;

  /** A text is the remedy that no program can act on. */
  constructor(
    position: FilePosition,
    rule: string,
    got: string,
    remedies: string | readonly Remedy[],
    options?: ErrorOptions,
  ) {
    const all = typeof remedies === "string" ? [{ kind: "text", text: remedies } as const] : remedies;
    const withoutContents = `${where(position)} must ${rule}`;
    super(
      `${withoutContents}, got ${got}; ${remedyText(all, (own) => (plainWords[own.kind] as (own: ActionRemedy) => string)(own))}`,
      options,
    );
    this.position = position;
    this.rule = rule;
    this.got = got;
    this.remedies = all;
    this.withoutContents = withoutContents;
  }

  /** The line of this refusal with its remedies in the words of who shows it. */
  worded(words: RemedyWords): string {
    return `${this.withoutContents}, got ${this.got}; ${remedyText(this.remedies, words)}`;
  }
}

function where({ file, line, column, part, byte, whole, cell }: FilePosition): string {
  const unit = /\.(parquet|pq|npy|npz|xlsx)$/i.test(file) ? "row" : "line";
  return [
    whole ? `${file} as a whole` : file,
    ...(cell === undefined ? [] : [cell]),
    ...(line === undefined ? [] : [`${unit} ${line}`]),
    ...(column === undefined ? [] : [`column ${JSON.stringify(column)}`]),
    ...(part === undefined ? [] : [part]),
    ...(byte === undefined ? [] : [`byte ${byte}`]),
  ].join(", ");
}

const MOST_SHOWN = 40;

/** A cell as it is shown: quoted, on one line, and not longer than a line can bear. */
export function shownInRefusal(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text);
}

const MOST_NAMES = 12;

/** Names with commas between, of many the first and the number of the others. */
export function listInRefusal(names: readonly string[]): string {
  if (names.length <= MOST_NAMES) return names.join(", ");
  return `${names.slice(0, MOST_NAMES).join(", ")} and ${names.length - MOST_NAMES} more`;
}

/** Somebody wrote to the file while it was read; worth one more try. */
export class ChangedError extends DataError {
  constructor(file: string) {
    const remedy = "wait until it is written, or read a copy";
    super({ file, whole: true }, "stay the same while it is read", "a change", remedy);
  }
}

/**
 * Text from elsewhere on its way to a terminal or a log: characters that move the cursor or turn the writing direction
 * are shown as numbers, so that nobody can make a line say something else.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${character.codePointAt(0)?.toString(16)}}`;
  });
}
