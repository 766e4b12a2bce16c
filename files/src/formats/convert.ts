// A file in another format: all its cells with columns added, by columns, and these written as CSV, JSON lines, Parquet or a
// workbook.

import { openCsv } from "../csv/dialect.ts";
import { labelCsv } from "../csv/label.ts";
import { allRecords, csvRecordLine } from "../csv/records.ts";
import { joinBytes } from "../source/bytes.ts";
import type { OpenedFile, PieceWriter, Platform } from "../source/source.ts";
import { cellReader } from "../table/cell.ts";
import {
  type AddedColumn,
  addedCellColumns,
  type CellColumn,
  type CellValue,
  type ConvertedCells,
  type LabelFormat,
  typedCellColumn,
  withFreeNames,
} from "../table/cellColumns.ts";
import type { ReadPlan } from "../table/columns.ts";
import { eachJsonRow, isJsonFile } from "./json.ts";

/** `file` is no archive, but may be a workbook. */
export async function convertCells(
  file: OpenedFile,
  added: readonly AddedColumn[],
  plan: ReadPlan,
): Promise<ConvertedCells> {
  switch (file.container) {
    case "parquet":
      return (await import("../parquet/read.ts")).parquetCells(file, added);
    case "zip":
      return { columns: await sheetColumns(file, added, plan), leftOut: [] };
    case "npy":
      return { columns: await arrayColumns(file, added, plan), leftOut: [] };
    default: {
      const columns = await (isJsonFile(file) ? jsonColumns(file, added, plan) : csvColumns(file, added, plan));
      return { columns, leftOut: [] };
    }
  }
}

async function sheetColumns(file: OpenedFile, added: readonly AddedColumn[], plan: ReadPlan): Promise<CellColumn[]> {
  const { sheetTexts } = await import("../xlsx/read.ts");
  const archive = await (await import("./archive.ts")).openArchive(file, plan);
  const sheets = archive.kind === "workbook" ? archive.read.map((workbook) => sheetTexts(workbook, plan)) : [];
  const [names = []] = sheets[0] ?? [];
  const rows = sheets.flatMap(([, ...own]) => own);
  return [...columnsOf(names, rows), ...addedCellColumns(withFreeNames(added, names), rows.length)];
}

async function arrayColumns(file: OpenedFile, added: readonly AddedColumn[], { limits }: ReadPlan) {
  const all = { options: {}, limits, rules: cellReader({}) };
  const { columns, points } = await (await import("./npy.ts")).readNpyTable(file, all);
  const { data, rows, cols } = points;
  const own = columns.map((name, c) => {
    const cells = Array.from({ length: rows }, (_, r) => data[r * cols + c]);
    return typedCellColumn(
      name,
      cells.map((value) => (Number.isNaN(value) ? null : value)),
    );
  });
  return [...own, ...addedCellColumns(withFreeNames(added, columns), rows)];
}

/** The labelled text, taken apart again: what a row is, is decided in one place. */
async function csvColumns(file: OpenedFile, added: readonly AddedColumn[], plan: ReadPlan): Promise<CellColumn[]> {
  const { feed, dialect, columns } = await openCsv(file, plan);
  await feed.close();
  const pieces: Uint8Array[] = [];
  await labelCsv(file, plan, added, async (piece) => void pieces.push(piece));
  const bytes = ended(pieces);
  const delimiter = String.fromCharCode(dialect.delimiter);
  const rows = allRecords({ file: file.file, bytes, length: bytes.length }, delimiter).map(({ cells }) => cells);
  rows.splice(0, dialect.titles + (dialect.header ? 1 : 0));
  const named = columns.map(({ name }) => name);
  const further = withFreeNames(added, named);
  return [
    ...columnsOf(named, rows),
    ...further.map(({ name, kind }, a): CellColumn => {
      const texts = rows.map((cells) => cells[named.length + a] ?? "");
      return { name, kind, cells: texts.map((text) => (text === "" ? null : kind === "text" ? text : Number(text))) };
    }),
  ];
}

/** In one piece that ends with a line feed, without a byte order mark. */
function ended(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = joinBytes([...pieces, Uint8Array.of(10)]);
  const length = bytes.length - 1;
  const from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.subarray(from, bytes[length - 1] === 10 ? length : length + 1);
}

/** Texts that say the same when they are written as numbers; a code such as 007 does not. */
const PLAIN = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,3})?$/;

function columnsOf(names: readonly string[], rows: readonly (readonly string[])[]): CellColumn[] {
  return names.map((name, c) => {
    const texts = rows.map((cells) => cells[c] ?? "");
    const present = texts.filter((text) => text !== "");
    const isNumeric = present.every((text) => PLAIN.test(text) && Number.isFinite(Number(text)));
    return typedCellColumn(
      name,
      texts.map((text) => (text === "" ? null : isNumeric ? Number(text) : text)),
    );
  });
}

async function jsonColumns(
  file: OpenedFile,
  added: readonly AddedColumn[],
  { limits }: ReadPlan,
): Promise<CellColumn[]> {
  const names = new Map<string, CellValue[]>();
  let rows = 0;
  await eachJsonRow(file, limits, (_, row) => {
    for (const [name, value] of Object.entries(row)) {
      const cells = names.get(name) ?? [];
      names.set(name, cells);
      while (cells.length < rows) cells.push(null);
      cells.push(typeof value === "object" && value !== null ? JSON.stringify(value) : (value as CellValue));
    }
    rows++;
  });
  const further = withFreeNames(added, [...names.keys()]);
  return [
    ...Array.from(names, ([name, cells]) =>
      typedCellColumn(name, [...cells, ...new Array(rows - cells.length).fill(null)]),
    ),
    ...addedCellColumns(further, rows),
  ];
}

const ROWS_AT_ONCE = 10_000;

export async function writeConvertedCells(
  columns: readonly CellColumn[],
  format: LabelFormat,
  write: PieceWriter,
  platform: Platform,
): Promise<void> {
  if (format === "parquet") return write(await parquetBytes(columns));
  if (format === "xlsx") return write(await (await import("../xlsx/write.ts")).workbookBytes(columns, platform));
  const rows = columns[0]?.cells.length ?? 0;
  const encoder = new TextEncoder();
  const line = (row: number) =>
    format === "csv" ? csvRecordLine(columns.map(({ cells }) => cells[row])) : jsonLine(columns, row);
  if (format === "csv") await write(encoder.encode(csvRecordLine(columns.map(({ name }) => name))));
  for (let from = 0; from < rows; from += ROWS_AT_ONCE) {
    const until = Math.min(rows, from + ROWS_AT_ONCE);
    const lines = Array.from({ length: until - from }, (_, r) => line(from + r));
    await write(encoder.encode(lines.join("")));
  }
}

function jsonLine(columns: readonly CellColumn[], row: number): string {
  // A whole number beyond 2^53 is written with all its digits.
  const value = (cell: CellValue) => (typeof cell === "bigint" ? String(cell) : JSON.stringify(cell));
  return `{${columns.map(({ name, cells }) => `${JSON.stringify(name)}: ${value(cells[row])}`).join(", ")}}\n`;
}

const parquetTypes = { whole: "INT32", long: "INT64", real: "DOUBLE", text: "STRING", boolean: "BOOLEAN" } as const;

async function parquetBytes(columns: readonly CellColumn[]): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const columnData = columns.map(({ name, kind, cells }) => ({
    name,
    data: [...cells],
    type: parquetTypes[kind],
    nullable: true,
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}
