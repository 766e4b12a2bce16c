// Cells as a file of any format that is written: CSV, JSON lines, Parquet, or a workbook.

import { csvLine } from "./csv/records.ts";
import type { PieceWriter, Platform } from "./source/source.ts";
import type { CellColumn, CellValue } from "./table/cellColumns.ts";

export const labelFormats = ["csv", "jsonl", "parquet", "xlsx"] as const;
export type LabelFormat = (typeof labelFormats)[number];

const ROWS_AT_ONCE = 10_000;

export async function writeCells(
  columns: readonly CellColumn[],
  format: LabelFormat,
  write: PieceWriter,
  platform: Platform,
): Promise<void> {
  if (format === "parquet") return write(await parquetBytes(columns));
  if (format === "xlsx") return write(await (await import("./xlsx/write.ts")).workbookBytes(columns, platform));
  const rows = columns[0]?.cells.length ?? 0;
  const encoder = new TextEncoder();
  const line = (row: number) =>
    format === "csv" ? csvLine(columns.map(({ cells }) => cells[row])) : jsonLine(columns, row);
  if (format === "csv") await write(encoder.encode(csvLine(columns.map(({ name }) => name))));
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
