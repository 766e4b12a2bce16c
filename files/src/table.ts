// Rows as they are read: numbers in one flat array that grows with the file, missing cells as NaN and counted.

import type { Matrix } from "@fedkm/core";
import type { Limits } from "./limits.ts";
import { DataError } from "./refusal.ts";

export type Format = "csv" | "jsonl" | "parquet";

export interface Table {
  readonly file: string;
  readonly format: Format;
  /** Names of the features. */
  readonly columns: readonly string[];
  /** NaN where a cell is missing. */
  readonly points: Matrix;
  /** For each column how many cells are missing, and the line of the first. */
  readonly missing: readonly MissingCells[];
  /** Where a column names the devices: their names, and which one each row belongs to. */
  readonly devices?: { readonly names: readonly string[]; readonly of: Uint32Array };
}

export interface MissingCells {
  readonly count: number;
  readonly line: number;
}

/** What readers fill. */
export interface Growing {
  readonly file: string;
  /** Names of the features. */
  readonly columns: readonly string[];
  readonly cols: number;
  values: Float64Array;
  rows: number;
  readonly missing: { count: number; line: number }[];
  /** Present if a column names the devices. */
  devices: GrowingDevices | undefined;
}

interface GrowingDevices {
  readonly numbers: Map<string, number>;
  of: Uint32Array;
  /** The bytes of the name met last, and its number. */
  last: Uint8Array;
  lastNumber: number;
}

/** Room beyond the estimate; memory that is never written to is not taken from the system. */
const SLACK = 1.1;

export function growing(
  file: string,
  columns: readonly string[],
  expectedRows: number,
  hasDevices: boolean,
  limits: Limits,
): Growing {
  const cols = columns.length;
  const most = Math.min(limits.rows, Math.floor(limits.cells / cols));
  const rows = Math.min(most, Math.ceil(SLACK * expectedRows) + 16);
  return {
    file,
    columns,
    cols,
    values: new Float64Array(rows * cols),
    rows: 0,
    missing: Array.from({ length: cols }, () => ({ count: 0, line: 0 })),
    devices: hasDevices
      ? { numbers: new Map(), of: new Uint32Array(rows), last: new Uint8Array(), lastNumber: 0 }
      : undefined,
  };
}

export function isFull({ values, rows, cols }: Growing): boolean {
  return (rows + 1) * cols > values.length;
}

/** Room for more rows, or the refusal of a file that has too many. */
export function makeRoom(table: Growing, line: number, limits: Limits): void {
  const { file, columns, cols, values } = table;
  const most = Math.min(limits.rows, Math.floor(limits.cells / cols));
  const capacity = values.length / cols;
  if (capacity >= most) {
    const rule = `be among the first ${most} rows (at most ${limits.rows} rows and ${limits.cells} numbers in a file)`;
    throw new DataError(
      { file, line, column: columns[0] },
      rule,
      "one more",
      "split the file, take a sample of its rows, or choose fewer columns",
    );
  }
  const rows = Math.min(most, Math.ceil(1.5 * capacity) + 16);
  table.values = new Float64Array(rows * cols);
  table.values.set(values);
  if (table.devices !== undefined) {
    const { of } = table.devices;
    table.devices.of = new Uint32Array(rows);
    table.devices.of.set(of);
  }
}

export function noteMissing({ missing }: Growing, slot: number, line: number): void {
  const own = missing[slot];
  if (own.count++ === 0) own.line = line;
}

/** The number of a device by its name; a new name is a new device. */
export function deviceNumber(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

export function finished(table: Growing, format: Format): Table {
  const { file, columns, values, rows, cols, missing, devices } = table;
  return {
    file,
    format,
    columns,
    points: { data: values.subarray(0, rows * cols), rows, cols },
    missing,
    ...(devices && { devices: { names: [...devices.numbers.keys()], of: devices.of.subarray(0, rows) } }),
  };
}
