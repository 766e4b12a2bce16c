// The cells of a Parquet file as other formats can have them.

import type { SchemaElement } from "hyparquet";
import { type AddedColumn, withFreeNames } from "../added.ts";
import { addedCells, type Cell, type Records, typed } from "../cells.ts";
import type { Source } from "../source.ts";
import { textOf } from "../text.ts";
import { openParquet } from "./file.ts";
import { pageValues } from "./read.ts";

export async function parquetRecords(source: Source, added: readonly AddedColumn[]): Promise<Records> {
  const parquet = await openParquet(source);
  const columns = [];
  const leftOut: string[] = [];
  for (const element of parquet.elements) {
    const convert = converter(element);
    if (convert === undefined) {
      leftOut.push(element.name);
      continue;
    }
    const cells: Cell[] = [];
    for (const group of parquet.groups) {
      await parquet.read(element.name, group, (page) => {
        for (const value of pageValues(page)) cells.push(value === null ? null : convert(value));
      });
    }
    columns.push(typed(element.name, cells));
  }
  const names = parquet.elements.map(({ name }) => name);
  return { columns: [...columns, ...addedCells(withFreeNames(added, names), parquet.rows)], leftOut };
}

const DAY = 86_400_000;
/** Of a second, in the units that timestamps are stored in. */
const units: Readonly<Record<string, bigint>> = { MILLIS: 1000n, MICROS: 1_000_000n, NANOS: 1_000_000_000n };

/** From a stored value to a cell; undefined for what is nested, or means something that only its own format can say. */
function converter({
  type,
  converted_type,
  logical_type,
  repetition_type,
}: SchemaElement): ((value: unknown) => Cell) | undefined {
  if (type === undefined || repetition_type === "REPEATED" || type === "INT96") return undefined;
  const meaning = logical_type?.type ?? converted_type;
  if (type === "BYTE_ARRAY") {
    const isText = [undefined, "STRING", "UTF8", "ENUM", "JSON"].includes(meaning);
    return isText
      ? (value) => (value instanceof Uint8Array ? textOf(value, 0, value.length) : String(value))
      : undefined;
  }
  if (meaning === "DATE") return (value) => new Date(DAY * Number(value)).toISOString().slice(0, 10);
  const unit = logical_type?.type === "TIMESTAMP" ? logical_type.unit : converted_type?.match(/^TIMESTAMP_(\w+)$/)?.[1];
  if (unit !== undefined && unit in units) return (value) => moment(BigInt(value as number | bigint), units[unit]);
  const isNumber = [undefined, "INTEGER", "INT_8", "INT_16", "INT_32", "INT_64", "UINT_8", "UINT_16"].includes(meaning);
  if (!isNumber || type === "FIXED_LEN_BYTE_ARRAY") return undefined;
  return (value) => value as Cell;
}

/** As ISO 8601, with all digits below a second. */
function moment(value: bigint, second: bigint): string {
  const rest = ((value % second) + second) % second;
  const whole = new Date(Number((value - rest) / second) * 1000).toISOString().slice(0, 19);
  const digits = String(second).length - 1;
  return rest === 0n ? whole : `${whole}.${String(rest).padStart(digits, "0")}`;
}
