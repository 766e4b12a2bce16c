// Parquet to a table: whole, floating and decimal columns as doubles, nulls as missing.

import type { DecodedArray, SchemaElement } from "hyparquet";
import { type CellReader, orNoted } from "../cell.ts";
import { type Chosen, type Column, chooseColumns, type Selection } from "../layout.ts";
import type { Limits } from "../limits.ts";
import { DataError, shown } from "../refusal.ts";
import type { Remedy } from "../remedy.ts";
import type { Source } from "../source.ts";
import {
  finished,
  type Growing,
  growing,
  namelessRemedies,
  noteDevice,
  noteMissing,
  type Table,
  wordPlace,
} from "../table.ts";
import { textOf } from "../text.ts";
import { openParquet, type ParquetFile } from "./file.ts";
import type { Page } from "./pages.ts";

/** What numbers must be, and what they mean. */
interface Asked {
  readonly limits: Limits;
  readonly rules: CellReader;
}

export async function readParquet(
  source: Source,
  selection: Selection,
  limits: Limits,
  rules: CellReader,
): Promise<Table> {
  const parquet = await openParquet(source);
  const known = parquetColumns(parquet, limits).map((column) => {
    return rules.dates !== undefined && column.kind === "date" ? ({ ...column, kind: "number" } as const) : column;
  });
  const chosen = chooseColumns({ file: source.file, line: 1 }, known, selection);
  checkSize(parquet, chosen, limits);
  const { features, device } = chosen;
  const table = growing(source.file, chosen, parquet.rows, limits);
  for (const group of parquet.groups) {
    for (const [slot, { index, isCategory }] of features.entries()) {
      const element = parquet.elements[index];
      const keep = isCategory ? keepWords : keepNumbers;
      await parquet.read(element.name, group, (page, row) => keep(table, slot, page, row, element, { limits, rules }));
    }
    if (device !== undefined) {
      const { name } = parquet.elements[device];
      await parquet.read(name, group, (page, row) => keepDevices(table, page, row, name));
    }
  }
  table.rows = parquet.rows;
  return finished(table, "parquet");
}

export async function columnsOfParquet(source: Source, limits: Limits): Promise<Column[]> {
  return parquetColumns(await openParquet(source), limits);
}

function parquetColumns({ file, elements }: ParquetFile, limits: Limits): Column[] {
  if (elements.length > limits.columns) {
    const place = { file, line: 1, column: elements[limits.columns].name };
    const rule = `be among the first ${limits.columns} columns`;
    throw new DataError(place, rule, `${elements.length} columns`, "write a file with the columns that are needed");
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

const perDay = { MILLIS: 86_400_000, MICROS: 86_400_000_000, NANOS: 86_400_000_000_000 };

/** Into how many units a day is divided in a column of dates or moments; undefined of others. */
function dayOf({ type, converted_type, logical_type }: SchemaElement): number | undefined {
  if (type === "INT32" && (converted_type === "DATE" || logical_type?.type === "DATE")) return 1;
  if (type !== "INT64") return undefined;
  if (logical_type?.type === "TIMESTAMP") return perDay[logical_type.unit];
  if (converted_type === "TIMESTAMP_MILLIS") return perDay.MILLIS;
  return converted_type === "TIMESTAMP_MICROS" ? perDay.MICROS : undefined;
}

/** How many digits of a decimal number stand behind the point, undefined of others. Writers may state only the logical type. */
function scaleOf({ converted_type, logical_type, scale = 0 }: SchemaElement): number | undefined {
  if (converted_type === "DECIMAL") return scale;
  return logical_type?.type === "DECIMAL" ? (logical_type.scale ?? 0) : undefined;
}

function checkSize({ file, rows }: ParquetFile, { features }: Chosen, limits: Limits): void {
  const most = Math.min(limits.rows, Math.floor(limits.cells / features.length));
  const column = features[0].name;
  if (rows === 0) throw new DataError({ file, line: 1, column }, "exist", "no rows", "export it again");
  if (rows > most) {
    const rule = `be among the first ${most} rows (at most ${limits.rows} rows and ${limits.cells} numbers in a file)`;
    const remedy = "split the file, take a sample of its rows, or choose fewer columns";
    throw new DataError({ file, line: most + 1, column }, rule, `${rows} rows`, remedy);
  }
}

function keepNumbers(
  table: Growing,
  slot: number,
  page: Page,
  row: number,
  element: SchemaElement,
  { limits: { magnitude }, rules }: Asked,
): void {
  const { values, cols } = table;
  const { rows, defined } = page;
  const numbers = pageNumbers(page, element);
  checkCount(page);
  for (let r = 0, next = 0, at = row * cols + slot; r < rows; r++, at += cols) {
    const value = rules.without(defined === undefined || defined[r] === 1 ? numbers[next++] : Number.NaN);
    values[at] = value;
    if (value <= magnitude && value >= -magnitude) continue;
    const line = row + r + 1;
    if (!Number.isNaN(value)) {
      const place = { file: table.file, line, column: element.name };
      values[at] = orNoted(rules, () => refuseLarge(place, value, magnitude));
    }
    noteMissing(table, slot, line);
  }
}

function keepWords(table: Growing, slot: number, page: Page, row: number, element: SchemaElement, asked: Asked): void {
  const isNumber = kindOf(element) === "number";
  for (const [r, value] of pageValues(page).entries()) {
    const line = row + r + 1;
    const text = value instanceof Uint8Array && !isNumber ? textOf(value, 0, value.length) : undefined;
    const word = text ?? (isNumber && value !== null ? String(storedNumber(value, element)) : String(value ?? ""));
    const place = wordPlace(table, slot, word, line, asked);
    if (Number.isNaN(place)) noteMissing(table, slot, line);
    table.values[line * table.cols - table.cols + slot] = place;
  }
}

/** What the stored values of a page stand for. */
function pageNumbers({ values, dictionary }: Page, element: SchemaElement): Float32Array | Float64Array {
  const meant = dictionary === undefined ? allNumbers(values, element) : allNumbers(dictionary, element);
  if (dictionary === undefined) return meant;
  return Float64Array.from(values as ArrayLike<number>, (place) => {
    if (!(place < meant.length)) throw new Error(`place ${place} in a dictionary of ${meant.length}`);
    return meant[place];
  });
}

/** A cut or changed page may hold fewer values than it says; none of them is a missing cell. */
function checkCount({ rows, values, defined }: Page): void {
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

function refuseLarge(place: { file: string; line: number; column: string }, value: number, magnitude: number): never {
  const rule = `be a number from -${magnitude} to ${magnitude}`;
  const remedies: Remedy[] = [
    { kind: "text", text: "fix the value" },
    { kind: "leave-out-columns", columns: [place.column] },
  ];
  throw new DataError(place, rule, shown(String(value)), remedies);
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

export function bigEndian(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(8 * bytes.length, value);
}

function keepDevices(table: Growing, page: Page, row: number, column: string): void {
  for (const [r, value] of pageValues(page).entries()) {
    const name = value instanceof Uint8Array ? textOf(value, 0, value.length).trim() : String(value ?? "");
    noteDevice(table, row + r, name, () => {
      const place = { file: table.file, line: row + r + 1, column };
      throw new DataError(place, "name a device", "no value", namelessRemedies("fill the cell or remove the row"));
    });
  }
}

/** The stored value of every row, null where there is none. */
export function pageValues(page: Page): unknown[] {
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
