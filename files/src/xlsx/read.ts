// A sheet of a workbook to a table: its header, its columns and their cells, each refused by its own name.

import { looksLikeHeader } from "../csv/dialect.ts";
import { DataError, type FilePosition, type Remedy, shownInRefusal } from "../source/refusal.ts";
import { type CellReader, cellOrNoted } from "../table/cell.ts";
import { type ChosenColumns, type Column, chooseColumns, type ReadPlan, textColumns } from "../table/columns.ts";
import { GrowingTable, refuseLargeCell, refuseTextCell, type Table } from "../table/table.ts";
import { columnLetters, type SheetCell, type SheetRow, type Workbook } from "./workbook.ts";

const SAMPLE_ROWS = 200;
const DAY = 86_400_000;
/** Rows that a reservation of memory is made for; more is made as they come. */
const EXPECTED_ROWS = 1000;

interface Reading extends ReadPlan {
  readonly workbook: Workbook;
  readonly columns: readonly Column[];
  /** Of each column of the sheet. */
  readonly readers: readonly CellReader[];
  readonly chosen: ChosenColumns;
  readonly table: GrowingTable;
}

export function readSheet(workbook: Workbook, plan: ReadPlan): Table {
  const { file, sheet } = workbook;
  let reading: Reading | undefined;
  const first: SheetRow[] = [];
  const begin = (): Reading => {
    const { columns, body, line } = beginningOfSheet(workbook, first, plan);
    const chosen = chooseColumns({ file, line }, columns, plan.options);
    const table = new GrowingTable(file, chosen, EXPECTED_ROWS, plan);
    const readers = columns.map(({ form }) => (form === undefined ? plan.rules : plan.rules.written(form)));
    const begun = { ...plan, workbook, columns, readers, chosen, table };
    for (const row of body) keepRow(begun, row);
    return begun;
  };
  workbook.eachRow((row) => {
    if (reading !== undefined) keepRow(reading, row);
    else if (first.push(row) === SAMPLE_ROWS) reading = begin();
  });
  const { table, columns } = reading ?? begin();
  if (table.rows === 0) {
    const cell = cellName(workbook, 0, (first.at(-1)?.row ?? 0) + 1);
    const remedy = "name another sheet, or save it again";
    throw new DataError({ file, cell, column: table.columns[0] }, "begin a row", "none below the header", remedy);
  }
  return { ...table.finish("xlsx", columns), file: workbook.sheets.length > 1 ? `${file}/${sheet}` : file };
}

export function columnsOfSheet(workbook: Workbook, plan: ReadPlan): readonly Column[] {
  const first: SheetRow[] = [];
  workbook.eachRow((row) => {
    if (first.length < SAMPLE_ROWS) first.push(row);
  });
  return beginningOfSheet(workbook, first, plan).columns;
}

function cellName({ sheet }: Workbook, column: number, row: number): string {
  return `${sheet}!${columnLetters(column)}${row}`;
}

/** The columns by the first rows, and those of them that are rows. Lines above much wider ones are titles. */
export function beginningOfSheet(workbook: Workbook, all: readonly SheetRow[], { options, limits, rules }: ReadPlan) {
  const { file } = workbook;
  const rows = all.slice(0, SAMPLE_ROWS);
  const filled = ({ cells }: SheetRow) => cells.filter((cell) => cell !== undefined).length;
  const widths = rows.map(filled).sort((a, b) => a - b);
  const wide = Math.max(2, (widths[widths.length >> 1] ?? 0) / 2);
  const top = rows.findIndex(
    (row, r) => options.header === false || filled(row) >= wide || rows.slice(r).every((own) => filled(own) < 2),
  );
  if (top < 0) {
    const position = { file, cell: cellName(workbook, 0, 1), column: 1 };
    const remedies: Remedy[] = [
      ...(workbook.sheets.length > 1 ? [{ kind: "sheet", sheets: workbook.sheets } as const] : []),
      { kind: "text", text: "save the workbook again" },
    ];
    throw new DataError(position, "hold a header and rows", "an empty sheet", remedies);
  }
  const [head, ...rest] = rows.slice(top);
  const width = rows.slice(top).reduce((most, { cells }) => Math.max(most, cells.length), 0);
  if (width > limits.columns) {
    const position = { file, cell: cellName(workbook, limits.columns, head.row), column: limits.columns + 1 };
    const remedy = "save a sheet with the columns that are needed";
    throw new DataError(position, `be among the first ${limits.columns} columns`, `${width} columns`, remedy);
  }
  const across = Array.from({ length: width }, (_, c) => c);
  const texts = (row: SheetRow) => across.map((c) => cellText(row.cells[c]));
  const header = options.header ?? looksLikeHeader(texts(head), rest.map(texts), rules);
  const body = header ? rest : rows.slice(top);
  const names = across.map((c) => (header && cellText(head.cells[c]).trim()) || `column${c + 1}`);
  const cellsOf = (c: number) => body.map(({ cells }) => cells[c]);
  // A formula without a value says nothing about its column, and is refused by its name.
  const textOf = (cell: SheetCell | undefined) => (typeof cell === "object" && "formula" in cell ? "" : cellText(cell));
  const written = textColumns(names, (c) => cellsOf(c).map(textOf), rules);
  const columns = written.map((column, c) => typedColumn(column, cellsOf(c), rules));
  return { columns, body, line: head.row, header: header ? head.row : undefined };
}

/** The names of the columns and the cells of every row, as text. */
export function sheetTexts(workbook: Workbook, plan: ReadPlan): string[][] {
  const rows: SheetRow[] = [];
  workbook.eachRow((row) => rows.push(row));
  const { columns, line, body } = beginningOfSheet(workbook, rows, plan);
  const from = body.at(0)?.row ?? line;
  const own = rows.filter(({ row }) => row >= from);
  return [columns.map(({ name }) => name), ...own.map(({ cells }) => columns.map((_, c) => writtenText(cells[c])))];
}

/** As it is written into a text: dates as dates. */
function writtenText(cell: SheetCell | undefined): string {
  if (typeof cell !== "object" || !("days" in cell)) return cellText(cell);
  const iso = new Date(Math.round(cell.days * DAY)).toISOString();
  return iso.endsWith("T00:00:00.000Z") ? iso.slice(0, 10) : iso.replace(/\.000Z$/, "Z");
}

/** Of numbers and dates as a number, of booleans as in other formats. */
function cellText(cell: SheetCell | undefined): string {
  if (typeof cell !== "object") return String(cell ?? "");
  if ("days" in cell) return String(cell.days);
  return "error" in cell ? cell.error : "a formula without a value";
}

/** By the types of its cells, where these say more than their texts. */
function typedColumn(column: Column, cells: readonly (SheetCell | undefined)[], rules: CellReader): Column {
  const { name } = column;
  const present = cells.filter((cell) => cell !== undefined);
  const days = present.filter((cell) => typeof cell === "object" && "days" in cell).length;
  if (days > 0 && 2 * days >= present.length) return { name, kind: rules.dates === undefined ? "date" : "number" };
  const isBoolean = present.length > 0 && present.every((cell) => typeof cell === "boolean");
  return isBoolean ? { name, kind: "boolean" } : column;
}

function keepRow(reading: Reading, { row, cells }: SheetRow): void {
  const { workbook, columns, chosen, table, rules } = reading;
  if (cells.length > columns.length) {
    const cell = cellName(workbook, cells.length - 1, row);
    const remedy = "empty the cell, or give its column a name";
    const position = { file: workbook.file, cell, column: columns.length + 1 };
    throw new DataError(
      position,
      "stand in a column of the first rows",
      shownInRefusal(cellText(cells.at(-1))),
      remedy,
    );
  }
  table.makeRoom(row);
  for (const [slot, { index, isCategory }] of chosen.features.entries()) {
    const value = isCategory
      ? table.categoryIndex(slot, wordOf(reading, row, index, cells[index]), row)
      : cellOrNoted(rules, () => numberOf(reading, row, index, cells[index]));
    table.set(table.rows, slot, value, row);
  }
  const { device } = chosen;
  if (device !== undefined) {
    const name = wordOf(reading, row, device, cells[device]).trim();
    const cell = cellIn(reading, row, device);
    table.setDevice(table.rows, name, cell, "an empty cell", "fill it or remove the row");
  }
  table.rows++;
}

function numberOf(reading: Reading, row: number, index: number, cell: SheetCell | undefined): number {
  const { readers, limits } = reading;
  if (cell === undefined) return Number.NaN;
  const value = meaningOf(cell, readers[index]);
  if (value === undefined) refuseTextCell(cellIn(reading, row, index), cellText(cell));
  if (Math.abs(value) > limits.magnitude) {
    const remedy = "fix the cell, or write the column in a larger unit";
    refuseLargeCell(cellIn(reading, row, index), String(value), limits, remedy);
  }
  return value;
}

/** NaN where nothing is known, undefined for what is no number. */
function meaningOf(cell: SheetCell, rules: CellReader): number | undefined {
  if (typeof cell === "number") return rules.without(cell);
  if (typeof cell === "string") return rules.value(cell);
  if (typeof cell === "boolean") return undefined;
  if ("days" in cell) return rules.dates === undefined ? undefined : cell.days;
  return "error" in cell && cell.error === "#N/A" ? Number.NaN : undefined;
}

/** Errors and formulas without a value are no words. */
function wordOf(reading: Reading, row: number, index: number, cell: SheetCell | undefined): string {
  if (typeof cell !== "object" || "days" in cell) return cellText(cell);
  if ("error" in cell && cell.error === "#N/A") return "";
  throw new DataError(
    cellIn(reading, row, index),
    "be a word or a number",
    shownInRefusal(cellText(cell)),
    "fix the cell",
  );
}

function cellIn({ workbook, columns }: Reading, row: number, index: number): FilePosition & { column: string } {
  return { file: workbook.file, cell: cellName(workbook, index, row), column: columns[index].name };
}
