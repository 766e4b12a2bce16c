// Delimited text to a table: the fast way for clean records, a careful look at every other one.

import { type CellReader, cellReader, orNoted } from "../cell.ts";
import type { Feed } from "../feed.ts";
import { type Chosen, chooseColumns, type Selection } from "../layout.ts";
import type { Limits } from "../limits.ts";
import { DataError, shown } from "../refusal.ts";
import type { Remedy } from "../remedy.ts";
import type { Source } from "../source.ts";
import {
  finished,
  type Growing,
  growing,
  isFull,
  makeRoom,
  namelessRemedies,
  noteDevice,
  noteMissing,
  type Table,
  wordPlace,
} from "../table.ts";
import { CATEGORY, DEVICE, type NumberRules, numberIn, POINT, readClean, SKIPPED, SPACE } from "./clean.ts";
import { DECIMAL_COMMA, type Dialect, type DialectOptions, refuseLongLine } from "./dialect.ts";
import { openCsv } from "./open.ts";
import { type Cells, cellAt, cellText, emptyCells, isBlank, NEWLINE, splitRecord } from "./record.ts";
import { refuseOpenQuote } from "./records.ts";

const COMMA = 44;

interface Reading {
  readonly feed: Feed;
  readonly dialect: Dialect;
  readonly chosen: Chosen;
  /** For each column of the file its place in a row. */
  readonly slots: Int32Array;
  readonly names: readonly string[];
  readonly limits: Limits;
  readonly rules: CellReader;
  readonly numbers: NumberRules;
  readonly table: Growing;
  readonly cells: Cells;
  /** Of the next record. */
  line: number;
  /** Blank lines that may yet turn out to be missing cells of a single column. */
  blanks: number;
}

export async function readCsv(
  source: Source,
  selection: Selection,
  options: DialectOptions,
  limits: Limits,
): Promise<Table> {
  const { feed, dialect, columns, line: top } = await openCsv(source, options, limits);
  try {
    const chosen = chooseColumns({ file: feed.file, line: top }, columns, selection);
    const { features, device } = chosen;
    const slots = new Int32Array(columns.length).fill(SKIPPED);
    features.forEach(({ index, isCategory }, slot) => {
      slots[index] = isCategory ? CATEGORY - slot : slot;
    });
    if (device !== undefined) slots[device] = DEVICE;
    const table = growing(feed.file, chosen, expectedRows(source, feed), limits);
    const names = columns.map(({ name }) => name);
    const rules = cellReader(options);
    const numbers = {
      point: rules.decimal === "," ? COMMA : POINT,
      magnitude: limits.magnitude,
      without: rules.without,
    };
    const fixed = { feed, dialect, chosen, slots, names, limits, rules, numbers, table, cells: emptyCells() };
    const reading: Reading = { ...fixed, line: 1, blanks: 0 };
    await readAll(reading);
    if (table.rows === 0) {
      const place = { file: feed.file, line: reading.line, column: table.columns[0] };
      throw new DataError(place, "begin a row", "none below the header", "export it again");
    }
    return finished(table, "csv");
  } finally {
    await feed.close();
  }
}

/** From the length of the first lines; unpacked text is about four times as long. */
function expectedRows({ size, container }: Source, feed: Feed): number {
  const { bytes, length } = feed;
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < length; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  if (feed.ended) return lines;
  return (lines * (container === "gzip" ? 4 * size : size)) / length;
}

async function readAll(reading: Reading): Promise<void> {
  const { feed, dialect, slots, table, limits, numbers } = reading;
  let headerLeft = dialect.header;
  for (;;) {
    let at = 0;
    while (at < feed.length) {
      if (headerLeft) {
        const next = nextRecord(reading, at);
        if (next < 0) break;
        if (!isBlank(feed.bytes, at)) headerLeft = false;
        at = next;
        continue;
      }
      // Spaces around numbers mean nothing there.
      if (reading.blanks === 0 && dialect.delimiter !== SPACE) {
        const before = table.rows;
        at = readClean(feed.bytes, at, dialect.delimiter, slots, table, numbers);
        reading.line += table.rows - before;
        if (at >= feed.length) break;
      }
      if (isFull(table)) {
        makeRoom(table, reading.line, limits);
        continue;
      }
      const next = readCarefully(reading, at);
      if (next < 0) break;
      at = next;
    }
    if (feed.ended && at >= feed.length) return;
    if (feed.ended) refuseOpen(reading);
    if (feed.length - at > limits.lineBytes) refuseLong(reading, at);
    await feed.advance(at, reading.line);
  }
}

/** Where the record after the one at `at` begins, -1 if this one does not end in the block; its cells are in `cells`. */
function nextRecord(reading: Reading, at: number): number {
  const { feed, dialect, cells, names, limits } = reading;
  const where = { file: feed.file, line: reading.line, names };
  const next = splitRecord(feed.bytes, at, feed.length, dialect.delimiter, cells, where);
  if (next - at > limits.lineBytes) refuseLong(reading, at);
  if (next >= 0) reading.line += 1 + cells.innerLines;
  return next;
}

/** One record cell by cell: kept with its missing cells, skipped if blank, or refused. */
function readCarefully(reading: Reading, at: number): number {
  const { feed, slots, cells } = reading;
  const { line } = reading;
  const next = nextRecord(reading, at);
  if (next < 0) return next;
  if (isBlank(feed.bytes, at)) {
    if (slots.length === 1) reading.blanks++;
    return next;
  }
  for (; reading.blanks > 0; reading.blanks--) keepBlank(reading, line - reading.blanks);
  if (cells.count === slots.length) keepRecord(reading, line);
  else orNoted(reading.rules, () => refuseRagged(reading, line));
  return next;
}

/** A blank line between the values of a single column is a value that is missing. */
function keepBlank({ table, limits }: Reading, line: number): void {
  if (isFull(table)) makeRoom(table, line, limits);
  table.values[table.rows++] = Number.NaN;
  noteMissing(table, 0, line);
}

function keepRecord(reading: Reading, line: number): void {
  const { feed, cells, slots, table, limits } = reading;
  if (isFull(table)) makeRoom(table, line, limits);
  for (let c = 0; c < slots.length; c++) {
    if (slots[c] === SKIPPED) continue;
    if (slots[c] === DEVICE) {
      keepDevice(reading, line, c);
      continue;
    }
    const slot = slots[c] <= CATEGORY ? CATEGORY - slots[c] : slots[c];
    const value =
      slot === slots[c]
        ? orNoted(reading.rules, () => numberOf(reading, line, c))
        : wordPlace(table, slot, cellText(feed.bytes, cells, c), line, reading);
    if (Number.isNaN(value)) noteMissing(table, slot, line);
    table.values[table.rows * table.cols + slot] = value;
  }
  table.rows++;
}

function numberOf(reading: Reading, line: number, c: number): number {
  const { feed, cells, limits, rules, numbers } = reading;
  const number = rules.without(numberIn(feed.bytes, cells.starts[c], cells.ends[c], numbers.point));
  const value = Number.isNaN(number) ? rules.value(cellText(feed.bytes, cells, c)) : number;
  if (value === undefined) refuseText(reading, line, c);
  if (Math.abs(value) > limits.magnitude) refuseLarge(reading, line, c);
  return value;
}

function keepDevice({ feed, table, names, cells }: Reading, line: number, c: number): void {
  noteDevice(table, table.rows, cellText(feed.bytes, cells, c).trim(), () => {
    const place = { file: feed.file, line, column: names[c] };
    throw new DataError(place, "name a device", "an empty cell", namelessRemedies("fill the cell or remove the line"));
  });
}

function refuseLong({ feed, cells, names, line, limits }: Reading, at: number): never {
  const c = cellAt(cells, at + limits.lineBytes);
  refuseLongLine({ file: feed.file, line, column: names.at(c) ?? c + 1 }, limits);
}

function refuseText({ feed, names, cells }: Reading, line: number, c: number): never {
  const text = cellText(feed.bytes, cells, c);
  const commaed = DECIMAL_COMMA.test(text.trim());
  const remedies: Remedy[] = [
    { kind: "text", text: "fix the cell" },
    { kind: "text", text: "empty it if the value is not known" },
    { kind: "leave-out-columns", columns: [names[c]] },
  ];
  const place = { file: feed.file, line, column: names[c] };
  throw new DataError(
    place,
    "be a number",
    shown(text),
    commaed ? [{ kind: "decimal-points", columns: [names[c]] }] : remedies,
  );
}

function refuseLarge({ feed, names, cells, limits }: Reading, line: number, c: number): never {
  const text = cellText(feed.bytes, cells, c);
  const place = { file: feed.file, line, column: names[c] };
  const rule = `be a number from -${limits.magnitude} to ${limits.magnitude}`;
  throw new DataError(place, rule, shown(text), "fix the cell, or write the column in a larger unit");
}

function refuseRagged({ feed, names, cells, dialect }: Reading, line: number): never {
  const column = names[Math.min(cells.count, names.length - 1)];
  const delimiter = JSON.stringify(String.fromCharCode(dialect.delimiter));
  const rule = `have ${names.length} cells, as the first line`;
  throw new DataError(
    { file: feed.file, line, column },
    rule,
    `${cells.count}`,
    `fix the line, and quote cells that contain ${delimiter}`,
  );
}

function refuseOpen({ feed, line, cells, names }: Reading): never {
  refuseOpenQuote({ file: feed.file, line, column: names[Math.min(cells.count, names.length - 1)] });
}
