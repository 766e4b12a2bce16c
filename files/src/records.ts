// All cells of a file with columns added, by columns, for those who want them in another format.

import { type AddedColumn, withFreeNames } from "./added.ts";
import { cellReader } from "./cell.ts";
import { addedCells, type Cell, type CellColumn, type Records, typed } from "./cells.ts";
import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { openCsv } from "./csv/open.ts";
import { allRecords } from "./csv/records.ts";
import { eachRow } from "./jsonl.ts";
import type { Limits } from "./limits.ts";
import { joined } from "./pieces.ts";
import { isJson } from "./read.ts";
import type { Source } from "./source.ts";

/** `source` is no archive, but may be a workbook. */
export async function recordsOf(
  source: Source,
  added: readonly AddedColumn[],
  options: DialectOptions,
  limits: Limits,
): Promise<Records> {
  switch (source.container) {
    case "parquet":
      return (await import("./parquet/records.ts")).parquetRecords(source, added);
    case "zip":
      return { columns: textColumns(await sheetRows(source, options, limits), added), leftOut: [] };
    case "npy":
      return { columns: await arrayColumns(source, added, limits), leftOut: [] };
    default: {
      const read = isJson(source) ? jsonColumns(source, added, limits) : csvColumns(source, added, options, limits);
      return { columns: await read, leftOut: [] };
    }
  }
}

/** The names, and then the cells of every row. */
async function sheetRows(source: Source, options: DialectOptions, limits: Limits): Promise<(readonly string[])[]> {
  const { openArchive } = await import("./archive.ts");
  const { sheetTexts } = await import("./xlsx/read.ts");
  const rows: (readonly string[])[] = [];
  const inside = await openArchive(source, options.sheet);
  if (inside.kind === "workbook") sheetTexts(inside.workbook, options, limits, (cells) => rows.push(cells));
  return rows;
}

function textColumns(
  [names = [], ...rows]: readonly (readonly string[])[],
  added: readonly AddedColumn[],
): CellColumn[] {
  const own = names.map((name, c) =>
    columnOf(
      name,
      rows.map((cells) => cells[c] ?? ""),
    ),
  );
  return [...own, ...addedCells(withFreeNames(added, names), rows.length)];
}

async function arrayColumns(source: Source, added: readonly AddedColumn[], limits: Limits): Promise<CellColumn[]> {
  const { columns, points } = await (await import("./npy.ts")).readNpy(source, {}, limits, cellReader({}));
  const { data, rows, cols } = points;
  const own = columns.map((name, c) => {
    const cells = Array.from({ length: rows }, (_, r) => data[r * cols + c]);
    return typed(
      name,
      cells.map((value) => (Number.isNaN(value) ? null : value)),
    );
  });
  return [...own, ...addedCells(withFreeNames(added, columns), rows)];
}

/** The labelled text, taken apart again: what a row is, is decided in one place. */
async function csvColumns(source: Source, added: readonly AddedColumn[], options: DialectOptions, limits: Limits) {
  const { feed, dialect, columns } = await openCsv(source, options, limits);
  await feed.close();
  const pieces: Uint8Array[] = [];
  await labelCsv(source, options, limits, added, async (piece) => void pieces.push(piece));
  const bytes = ended(pieces);
  const delimiter = String.fromCharCode(dialect.delimiter);
  const rows = allRecords({ file: source.file, bytes, length: bytes.length }, delimiter).map(({ cells }) => cells);
  if (dialect.header) rows.shift();
  const named = columns.map(({ name }) => name);
  const further = withFreeNames(added, named);
  return [
    ...named.map((name, c) =>
      columnOf(
        name,
        rows.map((cells) => cells[c] ?? ""),
      ),
    ),
    ...further.map(({ name, kind }, a): CellColumn => {
      const texts = rows.map((cells) => cells[named.length + a] ?? "");
      return { name, kind, cells: texts.map((text) => (text === "" ? null : kind === "text" ? text : Number(text))) };
    }),
  ];
}

/** In one piece that ends with a line feed, without a byte order mark. */
function ended(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = joined([...pieces, Uint8Array.of(10)]);
  const length = bytes.length - 1;
  const from = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  return bytes.subarray(from, bytes[length - 1] === 10 ? length : length + 1);
}

/** Texts that say the same when they are written as numbers; a code such as 007 does not. */
const PLAIN = /^-?(?:0|[1-9]\d{0,14})(?:\.\d{1,17})?(?:[eE][+-]?\d{1,3})?$/;

function columnOf(name: string, texts: readonly string[]): CellColumn {
  const present = texts.filter((text) => text !== "");
  const isNumeric = present.length > 0 && present.every((text) => PLAIN.test(text) && Number.isFinite(Number(text)));
  const isWhole = isNumeric && present.every((text) => Number(text) === (Number(text) | 0));
  const cells = texts.map((text): Cell => (text === "" ? null : isNumeric ? Number(text) : text));
  return { name, kind: isWhole ? "whole" : isNumeric ? "real" : "text", cells };
}

async function jsonColumns(source: Source, added: readonly AddedColumn[], limits: Limits): Promise<CellColumn[]> {
  const names = new Map<string, Cell[]>();
  let rows = 0;
  await eachRow(source, limits, (_, row) => {
    for (const [name, value] of Object.entries(row)) {
      const cells = names.get(name) ?? [];
      names.set(name, cells);
      while (cells.length < rows) cells.push(null);
      cells.push(typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Cell));
    }
    rows++;
  });
  const further = withFreeNames(added, [...names.keys()]);
  return [
    ...Array.from(names, ([name, cells]) => typed(name, [...cells, ...new Array(rows - cells.length).fill(null)])),
    ...addedCells(further, rows),
  ];
}
