// From files to devices: one file each, or one column that names them; the same columns everywhere.

import { type Matrix, takeRows } from "@fedkm/core";
import {
  checkMissing,
  completeRows,
  DataError,
  type DialectOptions,
  type Encoding,
  encodeTable,
  encodingOf,
  expandPatterns,
  federatedMeans,
  fillMissing,
  type MissingPolicy,
  matrixColumns,
  readLayout,
  readTable,
  type Selection,
  type Table,
} from "@fedkm/files";
import { deviceNames } from "./names.ts";
import { columnWarnings } from "./warnings.ts";

export interface InputOptions extends Selection, DialectOptions {
  readonly missing: MissingPolicy;
}

interface Device {
  readonly name: string;
  readonly points: Matrix;
}

/** A file that was read, and the device of each of its rows: rows of a device follow each other in its points. */
interface InputFile {
  readonly file: string;
  readonly rows: number;
  /** -1 for a row that was dropped. */
  deviceOf(row: number): number;
}

export interface Input {
  /** The columns that are clustered: of a category one for each of its values. */
  readonly columns: readonly string[];
  /** How the columns of the files become these. */
  readonly encoding: Encoding;
  readonly devices: readonly Device[];
  readonly files: readonly InputFile[];
  /** What took the place of missing cells. */
  readonly fill?: readonly number[];
  readonly dropped: number;
  readonly warnings: readonly string[];
}

export async function readInput(
  patterns: readonly string[],
  options: InputOptions,
  onFile: (file: string) => void,
): Promise<Input> {
  const files = expandPatterns(patterns);
  const tables: Table[] = [];
  for (const file of files) {
    onFile(file);
    const columns = tables.at(0)?.columns;
    if (columns !== undefined && options.columns === undefined)
      await checkSameColumns(file, files[0], columns, options);
    const table = await readTable(file, columns === undefined ? options : { ...options, columns, exclude: [] });
    checkMissing(table, options.missing);
    tables.push(table);
  }
  const warnings = columnWarnings(tables);
  const encoding = encodingOf(tables);
  checkRepeating(tables, encoding, options);
  const encoded = tables.map((table) => encodeTable(table, encoding));
  const fill = options.missing === "mean" ? federatedMeans(encoded.map(({ points }) => points)) : undefined;
  if (fill !== undefined) for (const { points } of encoded) fillMissing(points, fill);
  const { devices, parts, dropped } = options.deviceColumn === undefined ? oneEach(encoded) : byColumn(encoded);
  if (dropped > 0) warnings.push(`${dropped} rows with missing cells were dropped`);
  return {
    columns: matrixColumns(encoding),
    encoding,
    devices,
    files: parts,
    ...(fill && { fill }),
    dropped,
    warnings,
  };
}

/** So few values are a category, whether they repeat or not. */
const FEW_VALUES = 20;

/** A text that hardly ever repeats is a name or a note; who wants it as a category says so. */
function checkRepeating(tables: readonly Table[], encoding: Encoding, { categories }: InputOptions): void {
  if (categories !== "auto") return;
  const rows = tables.reduce((sum, { points }) => sum + points.rows, 0);
  const strange = encoding.filter(({ values = [] }) => values.length > FEW_VALUES && 2 * values.length > rows);
  if (strange.length === 0) return;
  const [{ name, values = [] }] = strange;
  const [{ file }] = tables;
  const got = `${values.length} different values in ${rows} rows`;
  const columns = strange.map((own) => own.name);
  throw new DataError({ file, line: 1, column: name }, "repeat its values to be a category", got, [
    { kind: "leave-out-columns", columns },
    { kind: "take-categories", columns: encoding.filter((own) => own.values !== undefined).map((own) => own.name) },
  ]);
}

/** A column that only some files have is neither used nor lost without a word. */
async function checkSameColumns(
  file: string,
  first: string,
  known: readonly string[],
  options: InputOptions,
): Promise<void> {
  const { exclude = [], deviceColumn } = options;
  const names = (await readLayout(file, options)).columns.map(({ name }) => name);
  const further = names.find((name) => ![...known, ...exclude, deviceColumn].includes(name));
  const absent = known.find((name) => !names.includes(name));
  const column = further ?? absent;
  if (column === undefined) return;
  const got = further === undefined ? `none in ${file}` : `none in ${first}`;
  const common = known.filter((name) => names.includes(name));
  throw new DataError({ file, line: 1, column }, "be in every file", got, [
    { kind: "leave-out-columns", columns: [column] },
    ...(common.length > 0 ? [{ kind: "choose-columns", columns: common } as const] : []),
  ]);
}

interface Gathered {
  readonly devices: Device[];
  readonly parts: InputFile[];
  readonly dropped: number;
}

function oneEach(tables: readonly Table[]): Gathered {
  const names = deviceNames(tables.map(({ file }) => file));
  let dropped = 0;
  const parts: InputFile[] = [];
  const devices = tables.map((table, i): Device => {
    const complete = completeRows(table);
    parts.push({ file: table.file, rows: table.points.rows, deviceOf: (row) => (complete?.[row] === 0 ? -1 : i) });
    const points = complete === undefined ? table.points : takeRows(table.points, wholeRows(complete));
    dropped += table.points.rows - points.rows;
    return { name: names[i], points };
  });
  return { devices, parts, dropped };
}

function byColumn(tables: readonly Table[]): Gathered {
  const numbers = new Map<string, number>();
  let dropped = 0;
  const parts = tables.map((table): InputFile => {
    const { names, of } = table.devices ?? { names: [], of: new Uint32Array() };
    const own = names.map((name) => {
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      return number;
    });
    const complete = completeRows(table);
    const deviceOf = (row: number) => (complete?.[row] === 0 ? -1 : own[of[row]]);
    if (complete !== undefined) dropped += complete.reduce((sum, whole) => sum + 1 - whole, 0);
    return { file: table.file, rows: table.points.rows, deviceOf };
  });
  const points = split(tables, parts, numbers.size);
  return { devices: Array.from(numbers.keys(), (name, i) => ({ name, points: points[i] })), parts, dropped };
}

/** The rows of each device, in the order of the files. */
function split(tables: readonly Table[], parts: readonly InputFile[], devices: number): Matrix[] {
  const { cols } = tables[0].points;
  const sizes = new Uint32Array(devices);
  for (const { rows, deviceOf } of parts) {
    for (let r = 0; r < rows; r++) if (deviceOf(r) >= 0) sizes[deviceOf(r)]++;
  }
  const points = Array.from(sizes, (rows): Matrix => ({ data: new Float64Array(rows * cols), rows, cols }));
  const filled = new Uint32Array(devices);
  parts.forEach(({ rows, deviceOf }, t) => {
    const { data } = tables[t].points;
    for (let r = 0; r < rows; r++) {
      const device = deviceOf(r);
      if (device < 0) continue;
      const to = filled[device]++ * cols;
      for (let c = 0; c < cols; c++) points[device].data[to + c] = data[r * cols + c];
    }
  });
  return points;
}

function wholeRows(complete: Uint8Array): number[] {
  return Array.from(complete.keys()).filter((row) => complete[row] === 1);
}
