// What a delimited file is like, from its first lines: its delimiter, whether it has a header, what its columns hold.

import { cellValue } from "../cell.ts";
import type { Feed } from "../feed.ts";
import type { ColumnKind } from "../layout.ts";
import type { Limits } from "../limits.ts";
import { DataError } from "../refusal.ts";
import { cellText, emptyCells, NEWLINE, RETURN, splitRecord } from "./record.ts";

export interface Dialect {
  /** A byte. */
  readonly delimiter: number;
  readonly header: boolean;
}

export interface DialectOptions {
  /** One of , ; tab | instead of what the first lines look like. */
  readonly delimiter?: string;
  readonly header?: boolean;
}

export const delimiters: Readonly<Record<string, string>> = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

export const DECIMAL_COMMA = /^[+-]?\d+,\d+$/;

const SAMPLE_RECORDS = 200;

export interface Sniffed {
  readonly dialect: Dialect;
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[];
}

export function sniff(feed: Feed, options: DialectOptions, limits: Limits): Sniffed {
  const delimiter = options.delimiter ?? likelyDelimiter(feed);
  const records = sample(feed, delimiter.charCodeAt(0), SAMPLE_RECORDS);
  if (records.length === 0) refuseUnreadable(feed, limits);
  const [first, ...rest] = records;
  checkLines(feed.file, records);
  if (first.length > limits.columns) {
    const remedy = "the file may be turned on its side, or its delimiter not one of , ; tab |";
    throw new DataError(
      { file: feed.file, line: 1 },
      `have at most ${limits.columns} cells`,
      `${first.length}`,
      remedy,
    );
  }
  const header = options.header ?? looksLikeHeader(first, rest);
  const body = header ? rest : records;
  const columns = first.map((cell, c) => {
    const name = header ? cell.trim() : "";
    return { name: name === "" ? `column${c + 1}` : name, kind: kindOf(body.map((record) => record[c] ?? "")) };
  });
  return { dialect: { delimiter: delimiter.charCodeAt(0), header }, columns };
}

/** Forms of text that look like one column or one line here, each with what then helps. */
function checkLines(file: string, records: readonly (readonly string[])[]): void {
  const place = { file, line: 1 };
  if (records[0].some((cell) => cell.includes("\r"))) {
    const remedy = "save the file with line ends of Unix or Windows";
    throw new DataError(place, "end with a line feed", "a carriage return alone", remedy);
  }
  const isSpaced = (record: readonly string[]) => record.length === 1 && SPACED_NUMBERS.test(record[0].trim());
  if (records.slice(-SAMPLE_RECORDS / 2).every(isSpaced)) {
    const remedy = "put commas between cells, such as with tr -s ' ' ','";
    throw new DataError(place, "have a comma, semicolon, tab or bar between cells", "spaces", remedy);
  }
}

const SPACED_NUMBERS = /^[-+\d.eE]+(?:\s+[-+\d.eE]+)+$/;

/** Nothing, only blank lines, or a first line without end. */
function refuseUnreadable({ file, bytes, length, ended }: Feed, limits: Limits): never {
  const place = { file, line: 1 };
  if (bytes.subarray(0, length).toString("latin1").trim() === "") {
    throw new DataError(
      place,
      "hold a header and rows",
      length === 0 ? "an empty file" : "only blank lines",
      "export it again",
    );
  }
  if (!ended || length > limits.lineBytes) refuseLongLine(place, limits);
  throw new DataError(
    place,
    "close every quote",
    "an open one",
    "double quotes inside quotes, or remove the stray one",
  );
}

export function refuseLongLine(place: { file: string; line: number }, limits: Limits): never {
  const remedy = "look for a quote that is not closed, and end lines with line feeds";
  throw new DataError(place, `have at most ${limits.lineBytes} bytes`, "more", remedy);
}

/** Cells of the first records that are whole and not blank. */
function sample({ file, bytes, length }: Feed, delimiter: number, most: number): string[][] {
  const cells = emptyCells();
  const records: string[][] = [];
  for (let at = 0, line = 1; at < length && records.length < most; ) {
    const next = splitRecord(bytes, at, length, delimiter, cells, { file, line });
    if (next < 0) break;
    line += 1 + cells.innerLines;
    if (!isBlank(bytes, at)) records.push(Array.from({ length: cells.count }, (_, c) => cellText(bytes, cells, c)));
    at = next;
  }
  return records;
}

export function isBlank(bytes: Buffer, at: number): boolean {
  return bytes[at] === NEWLINE || (bytes[at] === RETURN && bytes[at + 1] === NEWLINE);
}

/** The delimiter that cuts the first lines into the same number of cells, the more the better; comma if none does. */
function likelyDelimiter(feed: Feed): string {
  const tabbed = /\.(tsv|tab)(\.gz)?$/i.test(feed.file);
  let best = { delimiter: tabbed ? "\t" : ",", score: 0 };
  for (const delimiter of tabbed ? ["\t", ",", ";", "|"] : [",", ";", "\t", "|"]) {
    const score = evenness(feed, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Share of records with the first one's number of cells, at least two; then numbers among the cells tell. */
function evenness(feed: Feed, delimiter: string): number {
  let records: string[][];
  try {
    records = sample(feed, delimiter.charCodeAt(0), SAMPLE_RECORDS);
  } catch {
    return 0;
  }
  const width = records[0]?.length ?? 0;
  if (width < 2) return 0;
  const even = records.filter((record) => record.length === width);
  const cells = even.flat();
  const readable = cells.filter((cell) => cellValue(cell) !== undefined).length;
  return even.length / records.length + readable / Math.max(1, cells.length);
}

/**
 * A header has no number in it; or it names columns whose cells below are all numbers, such as years among words. Without
 * a number below there is nothing to compare with, and words above words are a header.
 */
function looksLikeHeader(first: readonly string[], rest: readonly (readonly string[])[]): boolean {
  const isNumber = (cell: string | undefined) => cell !== undefined && !Number.isNaN(cellValue(cell) ?? Number.NaN);
  const isText = (cell: string) => cellValue(cell) === undefined;
  if (!first.some(isText)) return false;
  if (!first.some(isNumber)) return true;
  return first.some((cell, c) => isText(cell) && rest.length > 0 && rest.every((record) => isNumber(record[c])));
}

/** Text if most cells that are not missing are. */
function kindOf(cells: readonly string[]): ColumnKind {
  const values = cells.map(cellValue);
  const texts = values.filter((value) => value === undefined).length;
  const missing = values.filter((value) => Number.isNaN(value)).length;
  if (missing === cells.length) return "empty";
  if (2 * texts <= cells.length - missing) return "number";
  const isCommaed = (cell: string, c: number) => values[c] !== undefined || DECIMAL_COMMA.test(cell.trim());
  return cells.every(isCommaed) ? "decimal commas" : "text";
}
