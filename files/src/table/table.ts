// Rows as they are read: numbers in one flat array that grows with the file, missing cells as NaN and counted.

import type { Matrix } from "@fedkm/core";
import { DataError, type FilePosition, type Remedy, shownInRefusal } from "../source/refusal.ts";
import type { Limits } from "../source/source.ts";
import type { CellReader } from "./cell.ts";
import type { CellForm } from "./cellForms.ts";
import type { ChosenColumns, Column, ReadPlan } from "./columns.ts";

/** Formats of files that are read. */
export type Format = "csv" | "jsonl" | "json" | "parquet" | "xlsx" | "npy";

/** A file that was read: its numbers, and where they come from. */
export interface Table {
  readonly file: string;
  readonly format: Format;
  /** Names of the features. */
  readonly columns: readonly string[];
  /** NaN where a cell is missing; of a category the index of its value among the words. */
  readonly points: Matrix;
  /** For each column how many cells are missing, and the line of the first. */
  readonly missing: readonly MissingCells[];
  /** Where a column names the devices: their names, and which one each row belongs to. */
  readonly devices?: { readonly names: readonly string[]; readonly of: Uint32Array };
  /** Where some columns are categories: for each of these its values. */
  readonly categories?: readonly (CategoryValues | undefined)[];
  /** Of several sheets or files in one: what they are called, and how many of the rows are theirs. */
  readonly parts?: readonly { readonly file: string; readonly rows: number }[];
  /** By the names of columns: how their cells are written, where that is not as usual. */
  readonly forms?: Readonly<Record<string, CellForm>>;
}

/** The values of a category in the order in which they were met, and the lines of that. */
export interface CategoryValues {
  readonly words: readonly string[];
  readonly lines: readonly number[];
}

/** How many cells of a column are missing, and the line of the first. */
export interface MissingCells {
  readonly count: number;
  readonly line: number;
}

/** In the place of a device's number, of a row that names none. */
export const NO_DEVICE = 2 ** 32 - 1;

/** Room beyond the estimate; memory that is never written to is not taken from the system. */
const SLACK = 1.1;

/** The values of a category so far: the index of each, and the line of the first cell that has it. */
type GrowingCategory = Map<string, { readonly index: number; readonly line: number }>;

interface GrowingDevices {
  readonly numbers: Map<string, number>;
  of: Uint32Array;
  /** The bytes of the name that was read last, and its number. */
  last: Uint8Array;
  lastNumber: number;
}

/** A table that a reader fills row by row, or column by column. Its fields are open for loops over millions of cells. */
export class GrowingTable {
  readonly file: string;
  readonly columns: readonly string[];
  readonly cols: number;
  values: Float64Array;
  rows = 0;
  readonly missing: { count: number; line: number }[];
  readonly devices: GrowingDevices | undefined;
  /** For each column its category; undefined of a number. */
  readonly categories: readonly (GrowingCategory | undefined)[];
  readonly #limits: Limits;
  readonly #rules: CellReader;
  readonly #allowsNameless: boolean;

  constructor(file: string, chosen: ChosenColumns, expectedRows: number, { limits, rules }: ReadPlan) {
    const { features, device, allowsNameless } = chosen;
    const rows = Math.min(mostRows(features.length, limits), Math.ceil(SLACK * expectedRows) + 16);
    this.file = file;
    this.columns = features.map(({ name }) => name);
    this.cols = features.length;
    this.values = new Float64Array(rows * this.cols);
    this.missing = features.map(() => ({ count: 0, line: 0 }));
    this.devices =
      device === undefined
        ? undefined
        : { numbers: new Map(), of: new Uint32Array(rows), last: new Uint8Array(), lastNumber: 0 };
    this.categories = features.map(({ isCategory }) => (isCategory ? new Map() : undefined));
    this.#limits = limits;
    this.#rules = rules;
    this.#allowsNameless = allowsNameless;
  }

  get isFull(): boolean {
    return (this.rows + 1) * this.cols > this.values.length;
  }

  /** Room for one more row, which stands in this line; a file with too many rows is refused. */
  makeRoom(line: number): void {
    if (!this.isFull) return;
    const { file, columns, cols, values, devices } = this;
    const most = mostRows(cols, this.#limits);
    const capacity = values.length / cols;
    if (capacity >= most) refuseRows({ file, line, column: columns[0] }, cols, this.#limits, "one more");
    const rows = Math.min(most, Math.ceil(1.5 * capacity) + 16);
    this.values = new Float64Array(rows * cols);
    this.values.set(values);
    if (devices !== undefined) {
      const { of } = devices;
      devices.of = new Uint32Array(rows);
      devices.of.set(of);
    }
  }

  /** NaN is a missing cell, which is counted. */
  set(row: number, feature: number, value: number, line: number): void {
    if (Number.isNaN(value)) this.noteMissing(feature, line);
    this.values[row * this.cols + feature] = value;
  }

  noteMissing(feature: number, line: number): void {
    const cells = this.missing[feature];
    if (cells.count++ === 0) cells.line = line;
  }

  /** The index of a category's value among those so far; NaN if the text says that it is missing. */
  categoryIndex(feature: number, text: string, line: number): number {
    const category = this.categories[feature];
    const word = text.trim();
    const known = category?.get(word);
    if (known !== undefined) return known.index;
    if (category === undefined || this.#rules.isMissing(word)) return Number.NaN;
    if (category.size >= this.#limits.values) {
      const column = this.columns[feature];
      const rule = `have one of at most ${this.#limits.values} different values, as a category`;
      const remedies = [{ kind: "leave-out-columns", columns: [column] } as const];
      throw new DataError({ file: this.file, line, column }, rule, `one more, ${shownInRefusal(word)}`, remedies);
    }
    category.set(word, { index: category.size, line });
    return category.size - 1;
  }

  /** The device of a row by its name, without spaces around. Where none is named but needed, the cell is refused. */
  setDevice(row: number, name: string, cell: FilePosition, got: string, remedy: string): void {
    if (this.devices === undefined) return;
    if (name === "" && !this.#allowsNameless) {
      const remedies: Remedy[] = [
        { kind: "text", text: remedy },
        { kind: "missing-policy", policies: ["drop"] },
      ];
      throw new DataError(cell, "name a device", got, remedies);
    }
    this.devices.of[row] = name === "" ? NO_DEVICE : tableDeviceNumber(this.devices.numbers, name);
  }

  /** `seen` are the columns of text by its first cells. */
  finish(format: Format, seen: readonly Column[] = []): Table {
    const { file, columns, values, rows, cols, missing, devices, categories } = this;
    const forms = seen.flatMap(({ name, form }) => (form && columns.includes(name) ? [[name, form] as const] : []));
    return {
      file,
      format,
      columns,
      points: { data: values.subarray(0, rows * cols), rows, cols },
      missing,
      ...(devices && { devices: { names: [...devices.numbers.keys()], of: devices.of.subarray(0, rows) } }),
      ...(categories.some((own) => own !== undefined) && { categories: categories.map((own) => own && valuesOf(own)) }),
      ...(forms.length > 0 && { forms: Object.fromEntries(forms) }),
    };
  }
}

/** The number of a device by its name; a new name is a new device. */
export function tableDeviceNumber(numbers: Map<string, number>, name: string): number {
  const known = numbers.get(name);
  if (known !== undefined) return known;
  numbers.set(name, numbers.size);
  return numbers.size - 1;
}

function valuesOf(category: GrowingCategory): CategoryValues {
  return { words: [...category.keys()], lines: Array.from(category.values(), ({ line }) => line) };
}

function mostRows(features: number, limits: Limits): number {
  return Math.min(limits.rows, Math.floor(limits.cells / features));
}

/** Refuses a file that says how many rows it has, if these are too many or none. `remedy` is for a file without rows. */
export function checkTableRows(
  file: string,
  rows: number,
  { features }: ChosenColumns,
  limits: Limits,
  remedy: string,
): void {
  const column = features[0].name;
  const most = mostRows(features.length, limits);
  if (rows === 0) throw new DataError({ file, line: 1, column }, "exist", "no rows", remedy);
  if (rows > most) refuseRows({ file, line: most + 1, column }, features.length, limits, `${rows} rows`);
}

function refuseRows(position: FilePosition, features: number, limits: Limits, got: string): never {
  const rule = `be among the first ${mostRows(features, limits)} rows (at most ${limits.rows} rows and ${limits.cells} numbers in a file)`;
  throw new DataError(position, rule, got, "split the file, take a sample of its rows, or choose fewer columns");
}

/** Refuses a number that is too large for doubles to be told apart. */
export function refuseLargeCell(
  cell: FilePosition & { readonly column: string },
  got: string,
  { magnitude }: Limits,
  remedies: string | Remedy[] = [{ kind: "text", text: "fix the value" }, leaveOut(cell)],
): never {
  throw new DataError(cell, `be a number from -${magnitude} to ${magnitude}`, got, remedies);
}

export function refuseTextCell(cell: FilePosition & { readonly column: string }, text: string): never {
  const [fix, empty] = ["fix the cell", "empty it if the value is not known"].map((advice): Remedy => {
    return { kind: "text", text: advice };
  });
  throw new DataError(cell, "be a number", shownInRefusal(text), [fix, empty, leaveOut(cell)]);
}

function leaveOut({ column }: { readonly column: string }): Remedy {
  return { kind: "leave-out-columns", columns: [column] };
}
