// A sheet of a workbook to a table: its header, its columns and their cells, each refused by its own name.

import { type CellReader, cellReader, orNoted } from "../cell.ts";
import { type DialectOptions, kindOf as kindOfTexts, looksLikeHeader } from "../csv/dialect.ts";
import { type Chosen, type Column, type ColumnKind, chooseColumns, type Selection } from "../layout.ts";
import type { Limits } from "../limits.ts";
import { DataError, shown } from "../refusal.ts";
import type { Remedy } from "../remedy.ts";
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
import { columnLetters, eachSheetRow, type SheetCell, type SheetRow } from "./sheet.ts";
import type { Workbook } from "./workbook.ts";

const SAMPLE_ROWS = 200;
const DAY = 86_400_000;
/** Rows that a reservation of memory is made for; more is made as they come. */
const EXPECTED_ROWS = 1000;

interface Reading {
  readonly workbook: Workbook;
  readonly columns: readonly Column[];
  readonly chosen: Chosen;
  readonly table: Growing;
  readonly limits: Limits;
  readonly rules: CellReader;
}

export async function readXlsx(
  workbook: Workbook,
  options: Selection & DialectOptions,
  limits: Limits,
  rules: CellReader,
): Promise<Table> {
  let reading: Reading | undefined;
  const first: SheetRow[] = [];
  const begin = (): Reading => {
    const { columns, body, line } = beginningOf(workbook, first, options, limits, rules);
    const chosen = chooseColumns({ file: workbook.file, line }, columns, options);
    const table = growing(workbook.file, chosen, EXPECTED_ROWS, limits);
    const begun = { workbook, columns, chosen, table, limits, rules };
    for (const row of body) keep(begun, row);
    return begun;
  };
  eachSheetRow(workbook, (row) => {
    if (reading !== undefined) keep(reading, row);
    else if (first.push(row) === SAMPLE_ROWS) reading = begin();
  });
  const { table } = reading ?? begin();
  if (table.rows === 0) {
    const place = {
      file: workbook.file,
      cell: cellName(workbook, 0, (first.at(-1)?.row ?? 0) + 1),
      column: table.columns[0],
    };
    throw new DataError(place, "begin a row", "none below the header", "name another sheet, or save it again");
  }
  return finished(table, "xlsx");
}

export async function columnsOfXlsx(
  workbook: Workbook,
  options: DialectOptions,
  limits: Limits,
  rules: CellReader,
): Promise<readonly Column[]> {
  const first: SheetRow[] = [];
  eachSheetRow(workbook, (row) => {
    if (first.length < SAMPLE_ROWS) first.push(row);
  });
  return beginningOf(workbook, first, options, limits, rules).columns;
}

function cellName({ sheet }: Workbook, column: number, row: number): string {
  return `${sheet}!${columnLetters(column)}${row}`;
}

/** The columns by the first rows, and those of them that are rows. A line alone above wider ones is a title. */
function beginningOf(
  workbook: Workbook,
  rows: readonly SheetRow[],
  { header: said }: DialectOptions,
  limits: Limits,
  rules: CellReader,
) {
  const { file } = workbook;
  const filled = ({ cells }: SheetRow) => cells.filter((cell) => cell !== undefined).length;
  const top = rows.findIndex(
    (row, r) => said === false || filled(row) > 1 || rows.slice(r).every((own) => filled(own) < 2),
  );
  if (top < 0) {
    throw new DataError(
      { file, cell: cellName(workbook, 0, 1), column: 1 },
      "hold a header and rows",
      "an empty sheet",
      [
        ...(workbook.sheets.length > 1 ? [{ kind: "sheet", sheets: workbook.sheets } as const] : []),
        { kind: "text", text: "save the workbook again" },
      ],
    );
  }
  const [head, ...rest] = rows.slice(top);
  const width = rows.slice(top).reduce((most, { cells }) => Math.max(most, cells.length), 0);
  if (width > limits.columns) {
    const place = { file, cell: cellName(workbook, limits.columns, head.row), column: limits.columns + 1 };
    throw new DataError(
      place,
      `be among the first ${limits.columns} columns`,
      `${width} columns`,
      "save a sheet with the columns that are needed",
    );
  }
  const across = Array.from({ length: width }, (_, c) => c);
  const texts = (row: SheetRow) => across.map((c) => cellText(row.cells[c]));
  const header = said ?? looksLikeHeader(texts(head), rest.map(texts), rules);
  const body = header ? rest : rows.slice(top);
  const columns = across.map((c): Column => {
    const name = header ? cellText(head.cells[c]).trim() : "";
    return {
      name: name === "" ? `column${c + 1}` : name,
      kind: kindOf(
        body.map(({ cells }) => cells[c]),
        rules,
      ),
    };
  });
  return { columns, body, line: head.row };
}

/** The names of the columns and the cells of every row, as text. */
export function sheetTexts(
  workbook: Workbook,
  options: DialectOptions,
  limits: Limits,
  use: (cells: readonly string[]) => void,
): void {
  const rows: SheetRow[] = [];
  eachSheetRow(workbook, (row) => rows.push(row));
  const rules = cellReader(options);
  const { columns, line, body } = beginningOf(workbook, rows.slice(0, SAMPLE_ROWS), options, limits, rules);
  use(columns.map(({ name }) => name));
  const from = body.at(0)?.row ?? line;
  for (const { cells } of rows.filter(({ row }) => row >= from)) {
    use(columns.map((_, c) => writtenText(cells[c])));
  }
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

function kindOf(cells: readonly (SheetCell | undefined)[], rules: CellReader): ColumnKind {
  const present = cells.filter((cell) => cell !== undefined);
  const days = present.filter((cell) => typeof cell === "object" && "days" in cell).length;
  if (days > 0 && 2 * days >= present.length) return rules.dates === undefined ? "date" : "number";
  if (present.length > 0 && present.every((cell) => typeof cell === "boolean")) return "boolean";
  // A formula without a value says nothing about its column, and is refused by its name.
  return kindOfTexts(
    cells.map((cell) => (typeof cell === "object" && "formula" in cell ? "" : cellText(cell))),
    rules,
  );
}

function keep(reading: Reading, { row, cells }: SheetRow): void {
  const { workbook, columns, chosen, table, limits } = reading;
  const { file } = workbook;
  if (cells.length > columns.length) {
    const place = { file, cell: cellName(workbook, cells.length - 1, row), column: columns.length + 1 };
    throw new DataError(
      place,
      "stand in a column of the first rows",
      shown(cellText(cells.at(-1))),
      "empty the cell, or give its column a name",
    );
  }
  if (isFull(table)) makeRoom(table, row, limits);
  for (const [slot, { index, isCategory }] of chosen.features.entries()) {
    const value = isCategory
      ? wordPlace(table, slot, wordOf(reading, row, index, cells[index]), row, reading)
      : orNoted(reading.rules, () => numberOf(reading, row, index, cells[index]));
    if (Number.isNaN(value)) noteMissing(table, slot, row);
    table.values[table.rows * table.cols + slot] = value;
  }
  const { device } = chosen;
  if (device !== undefined) {
    noteDevice(table, table.rows, wordOf(reading, row, device, cells[device]).trim(), () =>
      refuseCell(reading, row, device, "name a device", "an empty cell", namelessRemedies("fill it or remove the row")),
    );
  }
  table.rows++;
}

function numberOf(reading: Reading, row: number, index: number, cell: SheetCell | undefined): number {
  const { rules, limits, columns } = reading;
  if (cell === undefined) return Number.NaN;
  const value = meaningOf(cell, rules);
  if (value === undefined) {
    const remedies: Remedy[] = [
      { kind: "text", text: "fix the cell" },
      { kind: "text", text: "empty it if the value is not known" },
      { kind: "leave-out-columns", columns: [columns[index].name] },
    ];
    refuseCell(reading, row, index, "be a number", shown(cellText(cell)), remedies);
  }
  if (Math.abs(value) > limits.magnitude) {
    const rule = `be a number from -${limits.magnitude} to ${limits.magnitude}`;
    refuseCell(reading, row, index, rule, String(value), "fix the cell, or write the column in a larger unit");
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
  return refuseCell(reading, row, index, "be a word or a number", shown(cellText(cell)), "fix the cell");
}

function refuseCell(
  { workbook, columns }: Reading,
  row: number,
  index: number,
  rule: string,
  got: string,
  remedies: string | readonly Remedy[],
): never {
  const place = { file: workbook.file, cell: cellName(workbook, index, row), column: columns[index].name };
  throw new DataError(place, rule, got, remedies);
}
