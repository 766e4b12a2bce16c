// Parquet to a table, whole, floating and decimal columns as doubles and nulls as missing; and to cells of other formats.

import type { DecodedArray, SchemaElement } from "hyparquet";
import { textOf } from "../source/bytes.ts";
import { DataError, shownInRefusal } from "../source/refusal.ts";
import type { Limits, OpenedFile } from "../source/source.ts";
import { cellOrNoted } from "../table/cell.ts";
import {
  type AddedColumn,
  addedCellColumns,
  type CellValue,
  type ConvertedCells,
  typedCellColumn,
  withFreeNames,
} from "../table/cellColumns.ts";
import { type Column, chooseColumns, type ReadPlan } from "../table/columns.ts";
import { checkTableRows, GrowingTable, refuseLargeCell, type Table } from "../table/table.ts";
import { openParquet, type ParquetFile } from "./file.ts";
import type { ColumnPage } from "./pages.ts";

export async function readParquet(source: OpenedFile, plan: ReadPlan): Promise<Table> {
  const { options, limits, rules } = plan;
  const parquet = await openParquet(source);
  const known = parquetColumns(parquet, limits).map((column) => {
    return rules.dates !== undefined && column.kind === "date" ? ({ ...column, kind: "number" } as const) : column;
  });
  const chosen = chooseColumns({ file: source.file, line: 1 }, known, options);
  checkTableRows(source.file, parquet.rows, chosen, limits, "export it again");
  const { features, device } = chosen;
  const table = new GrowingTable(source.file, chosen, parquet.rows, plan);
  for (const group of parquet.groups) {
    for (const [slot, { index, isCategory }] of features.entries()) {
      const element = parquet.elements[index];
      await parquet.read(element.name, group, (page, row) => {
        if (isCategory) keepCategory(table, slot, page, row, element);
        else keepNumbers(table, slot, page, row, element, plan);
      });
    }
    if (device !== undefined) {
      const { name } = parquet.elements[device];
      await parquet.read(name, group, (page, row) => keepDevices(table, page, row, name));
    }
  }
  table.rows = parquet.rows;
  return table.finish("parquet");
}

export async function columnsOfParquet(source: OpenedFile, limits: Limits): Promise<Column[]> {
  return parquetColumns(await openParquet(source), limits);
}

function parquetColumns({ file, elements }: ParquetFile, limits: Limits): Column[] {
  if (elements.length > limits.columns) {
    const position = { file, line: 1, column: elements[limits.columns].name };
    const rule = `be among the first ${limits.columns} columns`;
    throw new DataError(position, rule, `${elements.length} columns`, "write a file with the columns that are needed");
  }
  return elements.map((element) => ({ name: element.name, kind: kindOf(element) }));
}

const wholeTypes: ReadonlySet<string | undefined> = new Set([
  undefined,
  ...["INT_8", "INT_16", "INT_32", "INT_64", "UINT_8", "UINT_16", "UINT_32", "UINT_64"],
]);

function kindOf(element: SchemaElement): Column["kind"] {
  const { type, converted_type, logical_type, repetition_type } = element;
  if (repetition_type === "REPEATED") return "other";
  if (type === "FLOAT" || type === "DOUBLE" || scaleOf(element) !== undefined) return "number";
  if (type === "BYTE_ARRAY") return "text";
  if (type === "BOOLEAN") return "boolean";
  if (dayOf(element) !== undefined) return "date";
  const isWhole = logical_type?.type === undefined || logical_type.type === "INTEGER";
  return (type === "INT32" || type === "INT64") && wholeTypes.has(converted_type) && isWhole ? "number" : "other";
}

const parts: Readonly<Record<string, number>> = { MILLIS: 1e3, MICROS: 1e6, NANOS: 1e9 };

/** Into how many parts a second is divided in a column of moments; undefined of others. */
function partsOfSecond({ converted_type, logical_type }: SchemaElement): number | undefined {
  const unit = logical_type?.type === "TIMESTAMP" ? logical_type.unit : converted_type?.match(/^TIMESTAMP_(\w+)$/)?.[1];
  return unit === undefined ? undefined : parts[unit];
}

/** Into how many units a day is divided in a column of dates or moments; undefined of others. */
function dayOf(element: SchemaElement): number | undefined {
  const { type, converted_type, logical_type } = element;
  if (type === "INT32" && (converted_type === "DATE" || logical_type?.type === "DATE")) return 1;
  const parts = type === "INT64" ? partsOfSecond(element) : undefined;
  return parts && 86_400 * parts;
}

/** How many digits of a decimal number stand behind the point, undefined of others. Writers may state only the logical type. */
function scaleOf({ converted_type, logical_type, scale = 0 }: SchemaElement): number | undefined {
  if (converted_type === "DECIMAL") return scale;
  return logical_type?.type === "DECIMAL" ? (logical_type.scale ?? 0) : undefined;
}

function keepNumbers(
  table: GrowingTable,
  slot: number,
  page: ColumnPage,
  row: number,
  element: SchemaElement,
  { limits, rules }: ReadPlan,
): void {
  const { values, cols } = table;
  const { rows, defined } = page;
  const { magnitude } = limits;
  const column = element.name;
  const numbers = pageNumbers(page, element);
  checkCount(page);
  for (let r = 0, next = 0, at = row * cols + slot; r < rows; r++, at += cols) {
    const value = rules.without(defined === undefined || defined[r] === 1 ? numbers[next++] : Number.NaN);
    values[at] = value;
    if (value <= magnitude && value >= -magnitude) continue;
    const line = row + r + 1;
    if (!Number.isNaN(value)) {
      const position = { file: table.file, line, column };
      values[at] = cellOrNoted(rules, () => refuseLargeCell(position, shownInRefusal(String(value)), limits));
    }
    table.noteMissing(slot, line);
  }
}

function keepCategory(table: GrowingTable, slot: number, page: ColumnPage, row: number, element: SchemaElement): void {
  const isNumber = kindOf(element) === "number";
  for (const [r, value] of pageValues(page).entries()) {
    const line = row + r + 1;
    const text = value instanceof Uint8Array && !isNumber ? textOf(value, 0, value.length) : undefined;
    const word = text ?? (isNumber && value !== null ? String(storedNumber(value, element)) : String(value ?? ""));
    table.set(row + r, slot, table.categoryIndex(slot, word, line), line);
  }
}

function pageNumbers({ values, dictionary }: ColumnPage, element: SchemaElement): Float32Array | Float64Array {
  const meant = dictionary === undefined ? allNumbers(values, element) : allNumbers(dictionary, element);
  if (dictionary === undefined) return meant;
  return Float64Array.from(values as ArrayLike<number>, (index) => {
    if (!(index < meant.length)) throw new Error(`place ${index} in a dictionary of ${meant.length}`);
    return meant[index];
  });
}

/** A cut or changed page may hold fewer values than it says; none of them is a missing cell. */
function checkCount({ rows, values, defined }: ColumnPage): void {
  let present = rows;
  if (defined !== undefined) {
    present = 0;
    for (let r = 0; r < rows; r++) {
      if (defined[r] === 1) present++;
      else if (defined[r] !== 0) throw new Error(`a row that is neither null nor a value, ${defined[r]}`);
    }
  }
  if (values.length !== present) throw new Error(`${values.length} values for ${present} rows`);
}

function allNumbers(values: DecodedArray, element: SchemaElement): Float32Array | Float64Array {
  if (values instanceof Float64Array || values instanceof Float32Array) return values;
  return Float64Array.from(values as ArrayLike<unknown> as ArrayLike<number>, (stored) =>
    storedNumber(stored, element),
  );
}

/** What one stored value stands for. */
function storedNumber(stored: unknown, element: SchemaElement): number {
  const { type, converted_type, logical_type } = element;
  const scale = scaleOf(element);
  if (scale !== undefined) return decimal(stored, scale);
  const isUnsigned = converted_type?.startsWith("UINT") || (logical_type?.type === "INTEGER" && !logical_type.isSigned);
  const value = Number(stored as number | bigint);
  const day = dayOf(element);
  if (day !== undefined) return value / day;
  if (!isUnsigned || value >= 0) return value;
  return value + (type === "INT64" ? 2 ** 64 : 2 ** 32);
}

/** Written out and read as text, which rounds once. */
function decimal(stored: unknown, scale: number): number {
  return Number(`${stored instanceof Uint8Array ? bigEndian(stored) : stored}e-${scale}`);
}

function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

function keepDevices(table: GrowingTable, page: ColumnPage, row: number, column: string): void {
  for (const [r, value] of pageValues(page).entries()) {
    const name = value instanceof Uint8Array ? textOf(value, 0, value.length).trim() : String(value ?? "");
    const cell = { file: table.file, line: row + r + 1, column };
    table.setDevice(row + r, name, cell, "no value", "fill the cell or remove the row");
  }
}

/** The stored value of every row, null where there is none. */
export function pageValues(page: ColumnPage): unknown[] {
  checkCount(page);
  const { rows, values, dictionary, defined } = page;
  let next = 0;
  return Array.from({ length: rows }, (_, r): unknown => {
    if (defined !== undefined && defined[r] === 0) return null;
    const stored: unknown = values[next++];
    const value: unknown = dictionary === undefined ? stored : dictionary[stored as number];
    if (value === undefined) throw new Error(`place ${stored} in a dictionary of ${dictionary?.length}`);
    return value;
  });
}

/** The cells of a Parquet file as other formats can have them. */
export async function parquetCells(source: OpenedFile, added: readonly AddedColumn[]): Promise<ConvertedCells> {
  const parquet = await openParquet(source);
  const columns = [];
  const leftOut: string[] = [];
  for (const element of parquet.elements) {
    const convert = converter(element);
    if (convert === undefined) {
      leftOut.push(element.name);
      continue;
    }
    const cells: CellValue[] = [];
    for (const group of parquet.groups) {
      await parquet.read(element.name, group, (page) => {
        for (const value of pageValues(page)) cells.push(value === null ? null : convert(value));
      });
    }
    columns.push(typedCellColumn(element.name, cells));
  }
  const names = parquet.elements.map(({ name }) => name);
  return { columns: [...columns, ...addedCellColumns(withFreeNames(added, names), parquet.rows)], leftOut };
}

const DAY = 86_400_000;

/** From a stored value to a cell; undefined for what is nested, or means something that only its own format can say. */
function converter(element: SchemaElement): ((value: unknown) => CellValue) | undefined {
  const { type, converted_type, logical_type, repetition_type } = element;
  if (type === undefined || repetition_type === "REPEATED" || type === "INT96") return undefined;
  const meaning = logical_type?.type ?? converted_type;
  if (type === "BYTE_ARRAY") {
    const isText = [undefined, "STRING", "UTF8", "ENUM", "JSON"].includes(meaning);
    return isText
      ? (value) => (value instanceof Uint8Array ? textOf(value, 0, value.length) : String(value))
      : undefined;
  }
  if (meaning === "DATE") return (value) => new Date(DAY * Number(value)).toISOString().slice(0, 10);
  const parts = partsOfSecond(element);
  if (parts !== undefined) return (value) => moment(BigInt(value as number | bigint), BigInt(parts));
  const isNumber = [undefined, "INTEGER", "INT_8", "INT_16", "INT_32", "INT_64", "UINT_8", "UINT_16"].includes(meaning);
  if (!isNumber || type === "FIXED_LEN_BYTE_ARRAY") return undefined;
  return (value) => value as CellValue;
}

/** As ISO 8601, with all digits below a second. */
function moment(value: bigint, second: bigint): string {
  const rest = ((value % second) + second) % second;
  const whole = new Date(Number((value - rest) / second) * 1000).toISOString().slice(0, 19);
  const digits = String(second).length - 1;
  return rest === 0n ? whole : `${whole}.${String(rest).padStart(digits, "0")}`;
}
