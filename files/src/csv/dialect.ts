// What a delimited file is like, from its first lines: its delimiter, whether it has a header, what its columns hold.

import { type CellReader, type CellRules, cellReader } from "../cell.ts";
import { daysOf } from "../dates.ts";
import type { Feed } from "../feed.ts";
import type { ColumnKind } from "../layout.ts";
import type { Limits } from "../limits.ts";
import { DataError, type Place } from "../refusal.ts";
import type { TextEncoding } from "../source.ts";
import { textOf } from "../text.ts";
import { delimiters, likelyDelimiter, SAMPLE_RECORDS, sample } from "./delimiter.ts";
import { type Cells, cellAt } from "./record.ts";
import { refuseOpenQuote } from "./records.ts";

export interface Dialect {
  /** A byte. */
  readonly delimiter: number;
  readonly header: boolean;
}

export interface DialectOptions extends CellRules {
  /** One character, instead of what the first lines look like. */
  readonly delimiter?: string;
  readonly header?: boolean;
  /** Of text that is not UTF-8. */
  readonly encoding?: TextEncoding;
  /** Of a workbook the name of a sheet or its number from 1, of an archive of arrays that of an array; the first unless said. */
  readonly sheet?: string;
}

export const DECIMAL_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/;

export interface Sniffed {
  readonly dialect: Dialect;
  /** Of the first record. */
  readonly line: number;
  readonly columns: readonly { readonly name: string; readonly kind: ColumnKind }[];
}

export function sniff(feed: Feed, options: DialectOptions, limits: Limits): Sniffed {
  const delimiter = options.delimiter ?? likelyDelimiter(feed);
  const { records, line, cells } = sample(feed, delimiter);
  const place = { file: feed.file, line };
  if (records.length === 0) refuseUnreadable(feed, limits, line, cells);
  const [first, ...rest] = records;
  checkLines(place, records);
  if (first.length > limits.columns) {
    const remedy = "turn the file if it lies on its side, or set off its cells with , ; tab or |";
    const rule = `be among the first ${limits.columns} columns`;
    throw new DataError({ ...place, column: limits.columns + 1 }, rule, `${first.length} columns`, remedy);
  }
  const rules = cellReader(options);
  const header = options.header ?? looksLikeHeader(first, rest, rules);
  const body = header ? rest : records;
  const columns = first.map((cell, c) => {
    const name = header ? cell.trim() : "";
    return {
      name: name === "" ? `column${c + 1}` : name,
      kind: kindOf(
        body.map((record) => record[c] ?? ""),
        rules,
      ),
    };
  });
  return { dialect: { delimiter: delimiter.charCodeAt(0), header }, line, columns };
}

/** Forms of text that look like one column or one line here, each with what then helps. */
function checkLines(place: Place, records: readonly (readonly string[])[]): void {
  const returned = records[0].findIndex((cell) => cell.includes("\r"));
  if (returned >= 0) {
    const remedy = "save the file with line ends of Unix or Windows";
    throw new DataError({ ...place, column: returned + 1 }, "end with a line feed", "a carriage return alone", remedy);
  }
  if (/^sep=/i.test(records[0][0]) && records[0].length <= 2) {
    const rule = "name a column or hold a value";
    throw new DataError({ ...place, column: 1 }, rule, "Excel's note of the delimiter", "remove the line");
  }
  const [first, ...rest] = records;
  const isSpaced = (record: readonly string[]) => record.length === 1 && SPACED_NUMBERS.test(record[0].trim());
  if (records.slice(-SAMPLE_RECORDS / 2).every(isSpaced) || (rest.length > 1 && rest.every(isSpaced))) {
    const remedies = [{ kind: "delimiter", delimiters: Object.keys(delimiters) } as const];
    const rule = "end with a comma, semicolon, tab or bar";
    throw new DataError({ ...place, column: 1 }, rule, "spaces between cells", remedies);
  }
  // A title, or a header with another character between its cells. One line below it may be at fault itself.
  const isUneven = (record: readonly string[]) => record.length === rest[0].length && record.length !== first.length;
  if (rest.length > 1 && Math.min(first.length, rest[0].length) === 1 && rest.every(isUneven)) {
    const got = `${first.length} instead of ${rest[0].length}`;
    const remedy = "remove the line if it is a title, or put the same character between the cells of all lines";
    throw new DataError({ ...place, column: 1 }, "be one of as many cells as in the lines below", got, remedy);
  }
}

const SPACED_NUMBERS = /^[-+\d.eE]+(?: +[-+\d.eE]+)+$/;

/** Nothing, only blank lines, or a first line without end. */
function refuseUnreadable(feed: Feed, limits: Limits, line: number, cells: Cells): never {
  const { file, bytes, length, ended, completed } = feed;
  if (textOf(bytes, 0, length).trim() === "") {
    const got = length === (completed ? 1 : 0) ? "an empty file" : "only blank lines";
    throw new DataError({ file, line: 1, column: 1 }, "hold a header and rows", got, "export it again");
  }
  const place = { file, line, column: cellAt(cells, Math.min(limits.lineBytes, length)) + 1 };
  if (!ended || length > limits.lineBytes) refuseLongLine(place, limits);
  refuseOpenQuote(place);
}

/** The place is the line and the column in which it becomes too long. */
export function refuseLongLine(place: Place, limits: Limits): never {
  const remedy = "look for a quote that is not closed, and end lines with line feeds";
  throw new DataError(place, `end within ${limits.lineBytes} bytes of the line's start`, "more", remedy);
}

/**
 * A header has no number in it; or it names columns whose cells below are all numbers, such as years among words. Without
 * a number below there is nothing to compare with, and words above words are a header.
 */
export function looksLikeHeader(
  first: readonly string[],
  rest: readonly (readonly string[])[],
  rules: CellReader,
): boolean {
  const isNumber = (cell: string | undefined) => cell !== undefined && !Number.isNaN(rules.value(cell) ?? Number.NaN);
  const isText = (cell: string) => rules.value(cell) === undefined;
  if (!first.some(isText)) return false;
  if (!first.some(isNumber)) return true;
  return first.some((cell, c) => isText(cell) && rest.length > 0 && rest.every((record) => isNumber(record[c])));
}

/** Text if most cells that are not missing are. */
export function kindOf(cells: readonly string[], rules: CellReader): ColumnKind {
  const values = cells.map((cell) => rules.value(cell));
  const texts = values.filter((value) => value === undefined).length;
  const missing = values.filter((value) => Number.isNaN(value)).length;
  if (missing === cells.length) return "empty";
  if (2 * texts <= cells.length - missing) return "number";
  if (cells.every((cell, c) => values[c] !== undefined || daysOf(cell.trim()) !== undefined)) return "date";
  const isCommaed = (cell: string, c: number) => values[c] !== undefined || DECIMAL_COMMA.test(cell.trim());
  return cells.every(isCommaed) ? "decimal commas" : "text";
}
