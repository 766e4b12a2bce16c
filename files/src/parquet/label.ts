// A column of labels behind the columns of a Parquet file.

import type { SchemaElement } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import type { Source } from "../source.ts";
import { openParquet, type ParquetFile } from "./file.ts";
import { bigEndian, pageValues } from "./read.ts";

/** The labelled file, and the columns that could not be carried over value by value. */
export async function labelParquet(
  source: Source,
  column: (taken: readonly string[]) => string,
  labelOf: (row: number) => number | undefined,
): Promise<{ bytes: Uint8Array; leftOut: string[] }> {
  const parquet = await openParquet(source);
  const kept = parquet.elements.filter(isCopied);
  const name = column(parquet.elements.map((element) => element.name));
  const columnData = [];
  for (const element of kept) columnData.push({ name: element.name, data: await storedValues(parquet, element) });
  const labels = Array.from({ length: parquet.rows }, (_, r) => labelOf(r) ?? null);
  const schema: SchemaElement[] = [
    { name: "schema", num_children: kept.length + 1 },
    ...kept,
    { name, type: "INT32", repetition_type: "OPTIONAL" },
  ];
  const buffer = parquetWriteBuffer({ schema, columnData: [...columnData, { name, data: labels }] });
  const leftOut = parquet.elements.filter((element) => !isCopied(element)).map((element) => element.name);
  return { bytes: new Uint8Array(buffer), leftOut };
}

const strangeTypes: ReadonlySet<string | undefined> = new Set(["JSON", "BSON", "INTERVAL"]);
const strangeMeanings: ReadonlySet<string | undefined> = new Set([
  "JSON",
  "BSON",
  "FLOAT16",
  "GEOMETRY",
  "GEOGRAPHY",
  "VARIANT",
]);

/** Nested columns, and types that the writer would turn into something else, are left out. */
function isCopied({ type, converted_type, logical_type, repetition_type }: SchemaElement): boolean {
  if (type === undefined || type === "INT96" || repetition_type === "REPEATED") return false;
  return !strangeTypes.has(converted_type) && !strangeMeanings.has(logical_type?.type);
}

async function storedValues(parquet: ParquetFile, element: SchemaElement): Promise<unknown[]> {
  const values: unknown[] = [];
  for (const group of parquet.groups) {
    await parquet.read(element.name, group, (page) => {
      for (const value of pageValues(page)) values.push(value === null ? null : asWritten(value, element));
    });
  }
  return values;
}

/** The form in which the writer takes a stored value without changing it. */
function asWritten(value: unknown, { converted_type, type }: SchemaElement): unknown {
  if (converted_type === "DECIMAL") return value instanceof Uint8Array ? bigEndian(value) : BigInt(value as number);
  if (converted_type === "UINT_32" && type === "INT32" && (value as number) < 0) return (value as number) + 2 ** 32;
  // Bytes are a part of the page, which is gone when the next one is read.
  return value instanceof Uint8Array ? value.slice() : value;
}
