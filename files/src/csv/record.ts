// One record of delimited text, with quotes (RFC 4180): where it ends and where its cells are.

import { DataError } from "../refusal.ts";
import { textOf } from "../text.ts";

export const NEWLINE = 10;
export const RETURN = 13;
export const QUOTE = 34;

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

export function emptyCells(): Cells {
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
export function cellAt({ count, ends }: Cells, at: number): number {
  let c = 0;
  while (c < count && ends[c] < at) c++;
  return c;
}

export function cellText(bytes: Uint8Array, cells: Cells, c: number): string {
  const text = textOf(bytes, cells.starts[c], cells.ends[c]);
  return cells.escaped[c] ? text.replaceAll('""', '"') : text;
}

export function isBlank(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === NEWLINE || (bytes[at] === RETURN && bytes[at + 1] === NEWLINE);
}
