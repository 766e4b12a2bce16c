// Delimited text to a table: the fast way for clean records, a careful look at every other one.

import type { Feed } from "../source/feed.ts";
import { DataError, type FilePosition, shownInRefusal } from "../source/refusal.ts";
import type { OpenedFile } from "../source/source.ts";
import { type CellReader, cellOrNoted } from "../table/cell.ts";
import { chooseColumns, type ReadPlan } from "../table/columns.ts";
import { GrowingTable, refuseLargeCell, refuseTextCell, type Table } from "../table/table.ts";
import { type CsvDialect, openCsv, refuseLongLine } from "./dialect.ts";
import { CATEGORY, csvNumber, DEVICE, type NumberRules, POINT, readPlainRows, SKIPPED } from "./plainRows.ts";
import {
  type Cells,
  csvCellAt,
  csvCellText,
  emptyCsvCells,
  isBlankCsvLine,
  NEWLINE,
  refuseOpenQuote,
  SPACE,
  splitRecord,
} from "./records.ts";

const COMMA = 44;
const DECIMAL_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+$/;

interface Reading extends ReadPlan {
  readonly feed: Feed;
  readonly dialect: CsvDialect;
  /** For each column of the file its slot in a row. */
  readonly slots: Int32Array;
  readonly names: readonly string[];
  readonly numbers: NumberRules;
  /** Of each column of the file. */
  readonly readers: readonly CellReader[];
  /** Whether the fast way reads all columns as they are written. */
  readonly isPlain: boolean;
  readonly table: GrowingTable;
  readonly cells: Cells;
  /** Of the next record. */
  line: number;
  /** Blank lines that may yet turn out to be missing cells of a single column. */
  blanks: number;
}

export async function readCsv(source: OpenedFile, plan: ReadPlan): Promise<Table> {
  const { limits, rules, options } = plan;
  const { feed, dialect, columns, line: top } = await openCsv(source, plan);
  try {
    const chosen = chooseColumns({ file: feed.file, line: top }, columns, options);
    const slots = new Int32Array(columns.length).fill(SKIPPED);
    chosen.features.forEach(({ index, isCategory }, slot) => {
      slots[index] = isCategory ? CATEGORY - slot : slot;
    });
    if (chosen.device !== undefined) slots[chosen.device] = DEVICE;
    // A block of rows is read as far as there is room.
    const expected = Math.min(expectedRows(source, feed), options.firstRows ?? Number.POSITIVE_INFINITY);
    const table = new GrowingTable(feed.file, chosen, expected, plan);
    const names = columns.map(({ name }) => name);
    const readers = columns.map(({ form }) => (form === undefined ? rules : rules.written(form)));
    const forms = chosen.features.flatMap(({ index, isCategory }) => (isCategory ? [] : [columns[index].form ?? {}]));
    const points = new Set(forms.map(({ decimal = "." }) => decimal));
    const numbers = {
      point: points.has(",") ? COMMA : POINT,
      magnitude: limits.magnitude,
      without: rules.without,
    };
    // Where a comma stands between cells it can stand inside one only in quotes, which are not for the fast way.
    const isSplit = points.has(",") && dialect.delimiter === COMMA;
    const isPlain = points.size < 2 && !isSplit && forms.every(({ unit }) => unit === undefined);
    const fixed = { ...plan, feed, dialect, slots, names, numbers, readers, isPlain, table, cells: emptyCsvCells() };
    const reading: Reading = { ...fixed, line: 1, blanks: 0 };
    await readAll(reading);
    if (table.rows === 0) {
      const position = { file: feed.file, line: reading.line, column: table.columns[0] };
      throw new DataError(position, "begin a row", "none below the header", "export it again");
    }
    return table.finish("csv", columns);
  } finally {
    await feed.close();
  }
}

/** From the length of the first lines; unpacked text is about four times as long. */
function expectedRows({ size, container }: OpenedFile, feed: Feed): number {
  const { bytes, length } = feed;
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0 && at < length; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  if (feed.ended) return lines;
  return (lines * (container === "gzip" ? 4 * size : size)) / length;
}

async function readAll(reading: Reading): Promise<void> {
  const { feed, dialect, slots, table, limits, numbers } = reading;
  const { firstRows = Number.POSITIVE_INFINITY } = reading.options;
  let headLeft = dialect.titles + (dialect.header ? 1 : 0);
  for (;;) {
    let at = 0;
    while (at < feed.length) {
      if (headLeft > 0) {
        const next = nextRecord(reading, at);
        if (next < 0) break;
        if (!isBlankCsvLine(feed.bytes, at)) headLeft--;
        at = next;
        continue;
      }
      // Spaces around numbers mean nothing there.
      if (reading.isPlain && reading.blanks === 0 && dialect.delimiter !== SPACE) {
        const before = table.rows;
        at = readPlainRows(feed.bytes, at, dialect.delimiter, slots, table, numbers);
        reading.line += table.rows - before;
        if (at >= feed.length) break;
      }
      if (table.rows >= firstRows) return;
      if (table.isFull) {
        table.makeRoom(reading.line);
        continue;
      }
      const next = readCarefully(reading, at);
      if (next < 0) break;
      at = next;
    }
    if (feed.ended && at >= feed.length) return;
    if (feed.ended) refuseOpenQuote(cellIn(reading, reading.line, reading.cells.count));
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
  if (isBlankCsvLine(feed.bytes, at)) {
    if (slots.length === 1) reading.blanks++;
    return next;
  }
  for (; reading.blanks > 0; reading.blanks--) keepBlank(reading, line - reading.blanks);
  if (cells.count === slots.length) keepRecord(reading, line);
  else cellOrNoted(reading.rules, () => refuseRagged(reading, line));
  return next;
}

/** A blank line between the values of a single column is a value that is missing. */
function keepBlank({ table }: Reading, line: number): void {
  table.makeRoom(line);
  table.set(table.rows++, 0, Number.NaN, line);
}

function keepRecord(reading: Reading, line: number): void {
  const { feed, cells, slots, table, rules } = reading;
  table.makeRoom(line);
  for (let c = 0; c < slots.length; c++) {
    const slot = slots[c];
    if (slot === SKIPPED) continue;
    if (slot === DEVICE) {
      const name = csvCellText(feed.bytes, cells, c).trim();
      table.setDevice(table.rows, name, cellIn(reading, line, c), "an empty cell", "fill the cell or remove the line");
    } else if (slot <= CATEGORY) {
      const feature = CATEGORY - slot;
      const index = table.categoryIndex(feature, csvCellText(feed.bytes, cells, c), line);
      table.set(table.rows, feature, index, line);
    } else {
      const value = cellOrNoted(rules, () => numberOf(reading, line, c));
      table.set(table.rows, slot, value, line);
    }
  }
  table.rows++;
}

function numberOf(reading: Reading, line: number, c: number): number {
  const { feed, cells, limits, rules, numbers, isPlain, readers } = reading;
  const fast = isPlain ? csvNumber(feed.bytes, cells.starts[c], cells.ends[c], numbers.point) : Number.NaN;
  const number = rules.without(fast);
  const value = Number.isNaN(number) ? readers[c].value(csvCellText(feed.bytes, cells, c)) : number;
  if (value === undefined) refuseText(reading, line, c);
  if (Math.abs(value) > limits.magnitude) {
    const got = shownInRefusal(csvCellText(feed.bytes, cells, c));
    refuseLargeCell(cellIn(reading, line, c), got, limits, "fix the cell, or write the column in a larger unit");
  }
  return value;
}

/** Where a cell of the current record stands; in the last column what is beyond it. */
function cellIn({ feed, names }: Reading, line: number, c: number): FilePosition & { column: string } {
  return { file: feed.file, line, column: names[Math.min(c, names.length - 1)] };
}

function refuseLong({ feed, cells, names, line, limits }: Reading, at: number): never {
  const c = csvCellAt(cells, at + limits.lineBytes);
  refuseLongLine({ file: feed.file, line, column: names.at(c) ?? c + 1 }, limits);
}

function refuseText(reading: Reading, line: number, c: number): never {
  const { feed, names, cells } = reading;
  const text = csvCellText(feed.bytes, cells, c);
  const cell = cellIn(reading, line, c);
  if (!DECIMAL_COMMA.test(text.trim())) refuseTextCell(cell, text);
  throw new DataError(cell, "be a number", shownInRefusal(text), [{ kind: "decimal-points", columns: [names[c]] }]);
}

function refuseRagged(reading: Reading, line: number): never {
  const { names, cells, dialect } = reading;
  const rule = `have ${names.length} cells, as the first line`;
  const remedy = `fix the line, and quote cells that contain ${JSON.stringify(String.fromCharCode(dialect.delimiter))}`;
  throw new DataError(cellIn(reading, line, cells.count), rule, `${cells.count}`, remedy);
}
