// Records of delimited text with quotes (RFC 4180): where one ends and its cells are, all of a text, and how they are written.

import { textOf } from "../source/bytes.ts";
import type { TextBytes } from "../source/feed.ts";
import { DataError, type FilePosition } from "../source/refusal.ts";

export const NEWLINE = 10;
export const RETURN = 13;
export const QUOTE = 34;
export const SPACE = 32;

/** Reused from record to record: cell c is bytes starts[c] ... ends[c] - 1, without its quotes. */
export interface Cells {
  count: number;
  readonly starts: number[];
  readonly ends: number[];
  /** Whether a doubled quote inside stands for one. */
  readonly escaped: boolean[];
  /** Line feeds inside quotes. */
  innerLines: number;
}

/** Where a record begins, and what its columns are called as far as that is known. */
interface RecordPlace {
  readonly file: string;
  readonly line: number;
  readonly names?: readonly string[];
}

export function emptyCsvCells(): Cells {
  return { count: 0, starts: [], ends: [], escaped: [], innerLines: 0 };
}

/**
 * Finds the cells of the record at `from`; returns where the next record begins, or -1 if this one does not end before
 * `to`. `where` is for the refusal of quotes that no reading could make right.
 */
export function splitRecord(
  bytes: Uint8Array,
  from: number,
  to: number,
  delimiter: number,
  cells: Cells,
  where: RecordPlace,
): number {
  cells.count = 0;
  cells.innerLines = 0;
  for (let p = from; ; ) {
    // Of spaces many are as one, and those at the ends of a line are none.
    if (delimiter === SPACE) {
      while (bytes[p] === SPACE) p++;
      if (cells.count > 0 && bytes[p] === NEWLINE) return p + 1;
      if (cells.count > 0 && bytes[p] === RETURN && bytes[p + 1] === NEWLINE) return p + 2;
    }
    p = bytes[p] === QUOTE ? quotedCell(bytes, p, to, delimiter, cells) : plainCell(bytes, p, to, delimiter, cells);
    if (p < 0 || p >= to) return -1;
    const byte = bytes[p];
    if (byte === NEWLINE) return p + 1;
    if (byte === RETURN && bytes[p + 1] === NEWLINE) return p + 2;
    if (byte !== delimiter) refuseAfterQuote(bytes, p, cells, where);
    p++;
  }
}

function note(cells: Cells, start: number, end: number, escaped: boolean): void {
  cells.starts[cells.count] = start;
  cells.ends[cells.count] = end;
  cells.escaped[cells.count++] = escaped;
}

function plainCell(bytes: Uint8Array, start: number, to: number, delimiter: number, cells: Cells): number {
  let p = start;
  while (p < to && bytes[p] !== delimiter && bytes[p] !== NEWLINE) p++;
  const end = bytes[p] === NEWLINE && p > start && bytes[p - 1] === RETURN ? p - 1 : p;
  note(cells, start, end, false);
  return p >= to ? -1 : end;
}

function quotedCell(bytes: Uint8Array, start: number, to: number, delimiter: number, cells: Cells): number {
  let escaped = false;
  let inner = 0;
  for (let p = start + 1; p < to; p++) {
    if (bytes[p] === NEWLINE) inner++;
    if (bytes[p] !== QUOTE) continue;
    if (bytes[p + 1] === QUOTE) {
      escaped = true;
      p++;
      continue;
    }
    note(cells, start + 1, p, escaped);
    cells.innerLines += inner;
    // Spaces between a closing quote and the delimiter mean nothing.
    let after = p + 1;
    while (bytes[after] === 32 && delimiter !== 32) after++;
    return after;
  }
  return -1;
}

function refuseAfterQuote(bytes: Uint8Array, p: number, cells: Cells, { file, line, names }: RecordPlace): never {
  const column = names?.[cells.count - 1] ?? cells.count;
  const rule = "have a delimiter or the line's end after a closing quote";
  const got = JSON.stringify(String.fromCharCode(bytes[p]));
  throw new DataError({ file, line, column }, rule, got, "write quotes inside quotes twice");
}

/** The cell in which a byte of the record stands, from 0; the one behind the last where that is still open. */
export function csvCellAt({ count, ends }: Cells, at: number): number {
  let c = 0;
  while (c < count && ends[c] < at) c++;
  return c;
}

export function csvCellText(bytes: Uint8Array, cells: Cells, c: number): string {
  const text = textOf(bytes, cells.starts[c], cells.ends[c]);
  return cells.escaped[c] ? text.replaceAll('""', '"') : text;
}

export function isBlankCsvLine(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === NEWLINE || (bytes[at] === RETURN && bytes[at + 1] === NEWLINE);
}

/** A text as one cell of a CSV file, in quotation marks where it needs them. */
export function csvCell(text: string, delimiter = ","): string {
  return text.includes(delimiter) || /["\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With its line feed; null is an empty cell. */
export function csvRecordLine(cells: readonly (string | number | bigint | boolean | null)[]): string {
  return `${cells.map((cell) => (cell === null ? "" : csvCell(String(cell)))).join(",")}\n`;
}

interface TextRecord {
  readonly cells: readonly string[];
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
    if (!isBlankCsvLine(bytes, at)) {
      yield { cells: Array.from({ length: cells.count }, (_, c) => csvCellText(bytes, cells, c)), line: begin };
    }
    at = next;
  }
  return undefined;
}

/** The records that are not blank of a text that is here as a whole. */
export function allRecords(text: TextBytes, delimiter: string): TextRecord[] {
  const records: TextRecord[] = [];
  const cells = emptyCsvCells();
  const reader = recordsIn(text, delimiter.charCodeAt(0), cells);
  let next = reader.next();
  for (; !next.done; next = reader.next()) records.push(next.value);
  if (next.value === undefined) return records;
  refuseOpenQuote({ file: text.file, line: next.value, column: csvCellAt(cells, text.length) + 1 });
}

const encoder = new TextEncoder();

/** The cells of every record of a text that is no file; `name` is what a refusal calls it. */
export function csvRecords(name: string, text: string): (readonly string[])[] {
  const bytes = encoder.encode(text === "" || text.endsWith("\n") ? text : `${text}\n`);
  return allRecords({ file: name, bytes, length: bytes.length }, ",").map(({ cells }) => cells);
}

export function refuseOpenQuote(position: FilePosition): never {
  const remedy = "remove the stray quote, or write quotes inside quotes twice";
  throw new DataError(position, "close every quote", "one that stays open to the end", remedy);
}
