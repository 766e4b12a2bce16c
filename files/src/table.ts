// Rows as they are read: numbers in one flat array that grows with the file, missing cells as NaN and counted.

import type { Matrix } from "@fedkm/core";
import type { CellReader } from "./cell.ts";
import type { Chosen } from "./layout.ts";
import type { Limits } from "./limits.ts";
import { DataError, shown } from "./refusal.ts";
import type { Remedy } from "./remedy.ts";

export type Format = "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "npy";

export interface Table {
  readonly file: string;
  readonly format: Format;
  /** Names of the features. */
  readonly columns: readonly string[];
  /** NaN where a cell is missing; of a category the place of its value among the words. */
  readonly points: Matrix;
  /** For each column how many cells are missing, and the line of the first. */
  readonly missing: readonly MissingCells[];
  /** Where a column names the devices: their names, and which one each row belongs to. */
  readonly devices?: { readonly names: readonly string[]; readonly of: Uint32Array };
  /** Where some columns are categories: for each of these its values. */
  readonly categories?: readonly (Words | undefined)[];
}

/** The values of a category in the order in which they were met, and the lines of that. */
export interface Words {
  readonly words: readonly string[];
  readonly lines: readonly number[];
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
  /** For each column the values of a category so far, and the line of the first of each; undefined of a number. */
  readonly words: readonly (Map<string, { readonly place: number; readonly line: number }> | undefined)[];
}

interface GrowingDevices {
  readonly numbers: Map<string, number>;
  of: Uint32Array;
  /** The bytes of the name met last, and its number. */
  last: Uint8Array;
  lastNumber: number;
  readonly allowsNameless: boolean;
}

/** In the place of a device's number, of a row that names none. */
export const NO_DEVICE = 2 ** 32 - 1;

/** Room beyond the estimate; memory that is never written to is not taken from the system. */
const SLACK = 1.1;

export function growing(
  file: string,
  { features, device, allowsNameless }: Chosen,
  expectedRows: number,
  limits: Limits,
): Growing {
  const columns = features.map(({ name }) => name);
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
    devices:
      device === undefined
        ? undefined
        : { numbers: new Map(), of: new Uint32Array(rows), last: new Uint8Array(), lastNumber: 0, allowsNameless },
    words: features.map(({ isCategory }) => (isCategory ? new Map() : undefined)),
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

/** The place of a category's value among those met so far; NaN if the text says that it is missing. */
export function wordPlace(
  table: Growing,
  slot: number,
  text: string,
  line: number,
  { limits, rules }: { readonly limits: Limits; readonly rules: CellReader },
): number {
  const words = table.words[slot];
  const word = text.trim();
  const known = words?.get(word);
  if (known !== undefined) return known.place;
  if (words === undefined || rules.isMissing(word)) return Number.NaN;
  if (words.size >= limits.values) {
    const { file, columns } = table;
    const rule = `have one of at most ${limits.values} different values, as a category`;
    const remedies = [{ kind: "leave-out-columns", columns: [columns[slot]] } as const];
    throw new DataError({ file, line, column: columns[slot] }, rule, `one more, ${shown(word)}`, remedies);
  }
  words.set(word, { place: words.size, line });
  return words.size - 1;
}

/** What helps against a row that names no device. */
export function namelessRemedies(text: string): Remedy[] {
  return [
    { kind: "text", text },
    { kind: "missing-policy", policies: ["drop"] },
  ];
}

/** The device of a row by its name, without spaces around; `refuse` is called where one is needed and none is named. */
export function noteDevice({ devices }: Growing, row: number, name: string, refuse: () => never): void {
  if (devices === undefined) return;
  if (name === "" && !devices.allowsNameless) refuse();
  devices.of[row] = name === "" ? NO_DEVICE : deviceNumber(devices.numbers, name);
}

/** The number of a device by its name; a new name is a new device. */
export function deviceNumber(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

export function finished(table: Growing, format: Format): Table {
  const { file, columns, values, rows, cols, missing, devices, words } = table;
  return {
    file,
    format,
    columns,
    points: { data: values.subarray(0, rows * cols), rows, cols },
    missing,
    ...(devices && { devices: { names: [...devices.numbers.keys()], of: devices.of.subarray(0, rows) } }),
    ...(words.some((own) => own !== undefined) && { categories: words.map((own) => own && wordsOf(own)) }),
  };
}

function wordsOf(words: NonNullable<Growing["words"][number]>): Words {
  return { words: [...words.keys()], lines: Array.from(words.values(), ({ line }) => line) };
}
