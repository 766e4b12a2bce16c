// Records one after the other, for text that is in memory: the first lines of a file, or all of a small one.

import { DataError, type Place } from "../refusal.ts";
import { type Cells, cellAt, cellText, emptyCells, isBlank, splitRecord } from "./record.ts";

/** Text as bytes 0 ... length - 1, the last of which is a line feed unless the text goes on. */
export interface TextBytes {
  readonly file: string;
  /** The name whose ending says what it is, if that is another. */
  readonly ending?: string;
  readonly bytes: Uint8Array;
  readonly length: number;
}

export interface TextRecord {
  readonly cells: readonly string[];
  /** In which it begins. */
  readonly line: number;
}

/** The records that are not blank. Fills `cells` with the places of the last one, and returns its line if it does not end. */
export function* recordsIn(
  text: TextBytes,
  delimiter: number,
  cells: Cells,
): Generator<TextRecord, number | undefined, undefined> {
  const { file, bytes, length } = text;
  let line = 1;
  for (let at = 0; at < length; ) {
    const next = splitRecord(bytes, at, length, delimiter, cells, { file, line });
    if (next < 0) return line;
    const begin = line;
    line += 1 + cells.innerLines;
    if (!isBlank(bytes, at)) {
      yield { cells: Array.from({ length: cells.count }, (_, c) => cellText(bytes, cells, c)), line: begin };
    }
    at = next;
  }
  return undefined;
}

/** The records that are not blank of a text that is here as a whole. */
export function allRecords(text: TextBytes, delimiter: string): TextRecord[] {
  const records: TextRecord[] = [];
  const cells = emptyCells();
  const reader = recordsIn(text, delimiter.charCodeAt(0), cells);
  let next = reader.next();
  for (; !next.done; next = reader.next()) records.push(next.value);
  if (next.value === undefined) return records;
  refuseOpenQuote({ file: text.file, line: next.value, column: cellAt(cells, text.length) + 1 });
}

const encoder = new TextEncoder();

/** The cells of every record of a text that is no file; `name` is what a refusal calls it. */
export function csvRecords(name: string, text: string): (readonly string[])[] {
  const bytes = encoder.encode(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return allRecords({ file: name, bytes, length: bytes.length }, ",").map(({ cells }) => cells);
}

export function refuseOpenQuote(place: Place): never {
  const remedy = "remove the stray quote, or write quotes inside quotes twice";
  throw new DataError(place, "close every quote", "one that stays open to the end", remedy);
}
