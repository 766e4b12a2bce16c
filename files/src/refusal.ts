// How a file is refused: as data that says where, what was expected, what stands there and what helps, and in one line.

import { plainWords, type Remedy, type RemedyWords, remedyText } from "./remedy.ts";

export interface Place {
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
  readonly place: Place;
  /** Completes "must ...". */
  readonly rule: string;
  /** What stands there instead. */
  readonly got: string;
  /** Any one of them helps. */
  readonly remedies: readonly Remedy[];
  /** The same line without what stands in the file, for a log. */
  readonly withoutContents: string;

  /** A text is the remedy that no program can act on. */
  constructor(place: Place, rule: string, got: string, remedies: string | readonly Remedy[], options?: ErrorOptions) {
    const all = typeof remedies === "string" ? [{ kind: "text", text: remedies } as const] : remedies;
    const withoutContents = `${where(place)} must ${rule}`;
    super(`${withoutContents}, got ${got}; ${remedyText(all, plainWords)}`, options);
    this.place = place;
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

function where({ file, line, column, part, byte, whole, cell }: Place): string {
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
export function shown(text: string): string {
  return JSON.stringify(text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}...` : text);
}

const MOST_NAMES = 12;

/** Names with commas between, of many the first and the number of the others. */
export function listed(names: readonly string[]): string {
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
