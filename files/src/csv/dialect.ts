// What a delimited file is like, from its first lines: the delimiter guess, whether it has a header, what its columns hold.

import { textOf } from "../source/bytes.ts";
import { type Feed, openFeed, type TextBytes } from "../source/feed.ts";
import { DataError, type FilePosition } from "../source/refusal.ts";
import type { Limits, OpenedFile } from "../source/source.ts";
import { type CellReader, usualCells } from "../table/cell.ts";
import { isAmountOrDate } from "../table/cellForms.ts";
import { type Column, type ReadPlan, textColumns } from "../table/columns.ts";
import { type Cells, csvCellAt, emptyCsvCells, NEWLINE, recordsIn, refuseOpenQuote, splitRecord } from "./records.ts";

/** Delimiters that are looked for, with their names. */
export const delimiters: Readonly<Record<string, string>> = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

const SAMPLE_RECORDS = 200;
/** By which columns are known: of dates in their order, the first hundreds may be of one month. */
const COLUMN_RECORDS = 1000;

/** The first line by which Excel says what stands between cells. */
const EXCEL_NOTE = /^"?sep=(.)"?\r?\n/i;

/** Titles and comments above a table are at most so many lines. */
const MOST_TITLES = 20;

/**
 * The cells of the first records that are whole and not blank, from the first that is no title; the line of that one, the
 * titles, and the cells looked at last.
 */
function sample(text: TextBytes, delimiter: string, most = SAMPLE_RECORDS) {
  const cells = emptyCsvCells();
  const all: { readonly cells: readonly string[]; readonly line: number }[] = [];
  const reader = recordsIn(text, delimiter.charCodeAt(0), cells);
  let next = reader.next();
  const first = (next.done ? next.value : next.value.line) ?? 1;
  for (; !next.done && all.length < most; next = reader.next()) all.push(next.value);
  const rows = all.map((record) => record.cells);
  const comments = commentsAbove(rows);
  const isNoted = /^sep=/i.test(rows.at(0)?.[0] ?? "");
  const titles = isNoted ? 1 : comments + titlesAbove(rows.slice(comments));
  const records = all.slice(titles).map((record) => record.cells);
  return { records, line: all[titles]?.line ?? first, cells, titles };
}

/** Lines that begin with #. The last of them is a header where it names the columns and no other line does. */
function commentsAbove(records: readonly (readonly string[])[]): number {
  const below = records.findIndex(([cell]) => !cell.startsWith("#"));
  if (below < 1) return 0;
  const isWide = records[below - 1].length === records[below].length;
  return isWide && records[below].some(isAmountOrDate) ? below - 1 : below;
}

/** How many lines stand above a table, narrower than all of its own. A line in another dialect is no title. */
function titlesAbove(records: readonly (readonly string[])[]): number {
  const width = records.at(-1)?.length ?? 0;
  const titles = records.findIndex(({ length }) => length === width);
  if (width < 2 || titles > MOST_TITLES || records.slice(titles).some(({ length }) => length !== width)) return 0;
  const above = records.slice(0, titles);
  const isOther = above.some(
    ([cell, ...more]) => more.length === 0 && Object.keys(delimiters).some((sign) => cell.split(sign).length === width),
  );
  // A single line may be at fault itself, and so may be the line below it.
  return isOther || above.some(({ length }) => length >= width) || records.length - titles < 3 ? 0 : titles;
}

/** The delimiter that cuts the first lines into the same number of cells, the more the better; comma if none does. */
export function likelyDelimiter(text: TextBytes): string {
  const noted = EXCEL_NOTE.exec(textOf(text.bytes, 0, Math.min(text.length, 10)))?.[1];
  if (noted !== undefined) return noted;
  const tabbed = /\.(tsv|tab)(\.gz)?$/i.test(text.ending ?? text.file);
  let best = { delimiter: tabbed ? "\t" : ",", score: 0 };
  for (const delimiter of tabbed ? ["\t", ",", ";", "|"] : Object.keys(delimiters)) {
    const score = evenness(text, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Share of records with the first one's number of cells, at least two; then numbers among the cells tell. */
function evenness(text: TextBytes, delimiter: string): number {
  let records: readonly (readonly string[])[];
  try {
    ({ records } = sample(text, delimiter));
  } catch {
    return 0;
  }
  const width = records[0]?.length ?? 0;
  if (width < 2) return 0;
  const even = records.filter((record) => record.length === width);
  const cells = even.flat();
  const readable = cells.filter((cell) => usualCells.value(cell) !== undefined || isAmountOrDate(cell)).length;
  return even.length / records.length + readable / Math.max(1, cells.length);
}

export interface CsvDialect {
  /** A byte. */
  readonly delimiter: number;
  readonly header: boolean;
  /** Lines above the table that are no part of it. */
  readonly titles: number;
}

interface CsvLayout {
  readonly dialect: CsvDialect;
  /** Of the first record. */
  readonly line: number;
  readonly columns: readonly Column[];
}

function layoutOfText(feed: Feed, { options, limits, rules }: ReadPlan): CsvLayout {
  const delimiter = options.delimiter ?? likelyDelimiter(feed);
  const { records, line, cells, titles } = sample(feed, delimiter, COLUMN_RECORDS);
  const position = { file: feed.file, line };
  if (records.length === 0) refuseUnreadable(feed, limits, line, cells);
  const [first, ...rest] = records;
  checkLines(position, records);
  if (first.length > limits.columns) {
    const remedy = "turn the file if it lies on its side, or set off its cells with , ; tab or |";
    const rule = `be among the first ${limits.columns} columns`;
    throw new DataError({ ...position, column: limits.columns + 1 }, rule, `${first.length} columns`, remedy);
  }
  const header = options.header ?? looksLikeHeader(first, rest, rules);
  const body = header ? rest : records;
  const names = first.map((cell, c) => (header && cell.trim()) || `column${c + 1}`);
  const columns = textColumns(names, (c) => body.map((record) => record[c] ?? ""), rules);
  return { dialect: { delimiter: delimiter.charCodeAt(0), header, titles }, line, columns };
}

/** Forms of text that look like one column or one line here, each with what then helps. */
function checkLines(position: FilePosition, records: readonly (readonly string[])[]): void {
  const returned = records[0].findIndex((cell) => cell.includes("\r"));
  if (returned >= 0) {
    const remedy = "save the file with line ends of Unix or Windows";
    throw new DataError(
      { ...position, column: returned + 1 },
      "end with a line feed",
      "a carriage return alone",
      remedy,
    );
  }
  const [first, ...rest] = records;
  const isSpaced = (record: readonly string[]) => record.length === 1 && SPACED_NUMBERS.test(record[0].trim());
  if (records.slice(-SAMPLE_RECORDS / 2).every(isSpaced) || (rest.length > 1 && rest.every(isSpaced))) {
    const remedies = [{ kind: "delimiter", delimiters: Object.keys(delimiters) } as const];
    const rule = "end with a comma, semicolon, tab or bar";
    throw new DataError({ ...position, column: 1 }, rule, "spaces between cells", remedies);
  }
  // A title, or a header with another character between its cells. One line below it may be at fault itself.
  const isUneven = (record: readonly string[]) => record.length === rest[0].length && record.length !== first.length;
  if (rest.length > 1 && Math.min(first.length, rest[0].length) === 1 && rest.every(isUneven)) {
    const got = `${first.length} instead of ${rest[0].length}`;
    const remedy = "remove the line if it is a title, or put the same character between the cells of all lines";
    throw new DataError({ ...position, column: 1 }, "be one of as many cells as in the lines below", got, remedy);
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
  const position = { file, line, column: csvCellAt(cells, Math.min(limits.lineBytes, length)) + 1 };
  if (!ended || length > limits.lineBytes) refuseLongLine(position, limits);
  refuseOpenQuote(position);
}

/** The place is the line and the column in which it becomes too long. */
export function refuseLongLine(position: FilePosition, limits: Limits): never {
  const remedy = "look for a quote that is not closed, and end lines with line feeds";
  throw new DataError(position, `end within ${limits.lineBytes} bytes of the line's start`, "more", remedy);
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

export async function openCsv(file: OpenedFile, plan: ReadPlan): Promise<CsvLayout & { readonly feed: Feed }> {
  let known: CsvLayout | undefined;
  const columnAt = (feed: Feed, at: number): string | number => {
    try {
      return nameAt(feed, at, known ?? layoutOfText(feed, plan));
    } catch {
      // Text that has more wrong with it than the byte in question.
      return numberAt(feed, at, plan.options.delimiter ?? likelyDelimiter(feed));
    }
  };
  const feed = await openFeed(file, plan.limits, columnAt);
  try {
    known = layoutOfText(feed, plan);
    return { feed, ...known };
  } catch (error) {
    await feed.close();
    throw error;
  }
}

/** By the records before it, since quotes may hold delimiters and line feeds. In the header itself a number. */
function nameAt({ file, bytes, length, line: first }: Feed, at: number, { dialect, columns, line: top }: CsvLayout) {
  const cells = emptyCsvCells();
  let line = first;
  for (let from = 0; ; ) {
    const next = splitRecord(bytes, from, length, dialect.delimiter, cells, { file, line });
    if (next < 0 || next > at) break;
    line += 1 + cells.innerLines;
    from = next;
  }
  const c = csvCellAt(cells, at);
  return dialect.header && line === top ? c + 1 : (columns.at(c)?.name ?? c + 1);
}

/** By the delimiters before it in its line. */
function numberAt({ bytes }: Feed, at: number, delimiter: string): number {
  const from = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
  return bytes.subarray(from, at).filter((byte) => byte === delimiter.charCodeAt(0)).length + 1;
}
