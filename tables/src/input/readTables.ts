// From tables, files and sources to devices: one table each, or one column that names them; the same columns everywhere.

import type { Matrix } from "@fedkm/core";
import {
  checkMissingCells,
  DataError,
  type DialectOptions,
  type Encoding,
  encodedColumns,
  encodeTable,
  encodingOf,
  fillMissing,
  type MissingPolicy,
  readLayout,
  readTable,
  type Selection,
  scalingMeans,
  type Table,
} from "@fedkm/files";
import type { OpenSource } from "@fedkm/sql";
import { reportWorkProgress, type WorkContext } from "../work.ts";
import { assignRows, drawInputSample, type InputDevice, type InputRows } from "./assignDevices.ts";
import { columnWarnings } from "./columnWarnings.ts";
import { readSource, type SourceRequest, type SourceTable, sourceWarnings } from "./sources.ts";

/** A path where there is a file system, and a Blob everywhere. */
export type FileInput = Parameters<typeof readTable>[0];

/** Rows at hand: one device. */
export interface DeviceTable {
  readonly name: string;
  /** NaN where a cell is missing. It is not written to. */
  readonly points: Matrix;
  /** Default: x1, x2 and so on. */
  readonly columns?: readonly string[];
}

/** Which rows, and how they are read. */
export interface RowsRequest extends Selection, DialectOptions {
  readonly tables?: readonly DeviceTable[];
  readonly files?: readonly FileInput[];
  readonly sources?: readonly SourceRequest[];
  /** Default "refuse". */
  readonly missing?: MissingPolicy;
  /** Only so many rows of all, drawn at random. */
  readonly sample?: number;
  /** Of that draw. Default 1. */
  readonly seed?: number;
}

export interface InputFile extends InputRows {
  /** What was read: undefined for rows at hand and for sources. */
  readonly input?: FileInput;
}

export interface Input {
  /** The columns that are clustered: of a category one for each of its values. */
  readonly columns: readonly string[];
  /** How the columns of the files become these. */
  readonly encoding: Encoding;
  /** Those of the files that hold dates, as days. */
  readonly dates: readonly string[];
  readonly devices: readonly InputDevice[];
  /** One for each table, file and source, in this order. */
  readonly files: readonly InputFile[];
  /** For each device the source of its rows, if that is what they come from. */
  readonly sources: readonly (OpenSource | undefined)[];
  /** What took the place of missing cells. */
  readonly fill?: readonly number[];
  readonly dropped: number;
  readonly warnings: readonly string[];
}

/** Rows of sources are loaded, unless they may stay: then a device of such rows has a sample of them. */
export async function readInput(
  request: RowsRequest,
  context: WorkContext = {},
  { mayStay = false, examine = true } = {},
): Promise<Input> {
  const { tables: given = [], files = [], missing = "refuse" } = request;
  const tables = given.map((own) => tableAtHand(own, request, missing));
  for (const file of files) tables.push(await readFile(file, tables.at(0), request, missing, context));
  const sources: SourceTable[] = [];
  for (const own of request.sources ?? []) {
    reportWorkProgress(context, { step: "read", name: own.address });
    const columns = tables.at(0)?.columns;
    const asked = columns === undefined ? request : { ...request, columns, exclude: [] };
    // A sample that is asked for is drawn from all rows.
    const source = await readSource(own, asked, mayStay && request.sample === undefined);
    tables.push(source.table);
    sources.push(source);
  }
  if (tables.length === 0) throw new RangeError("a request must have tables, files or sources, got none");
  const warnings = [...(examine ? columnWarnings(tables) : []), ...sources.flatMap(sourceWarnings)];
  const encoding = encodingOf(tables);
  checkRepeating(tables, encoding, request);
  const encoded = tables.map((table) => encodeTable(table, encoding));
  const fill = missing === "mean" ? scalingMeans(encoded.map(({ points }) => points)) : undefined;
  if (fill !== undefined) for (const { points } of encoded) fillMissing(points, fill);
  const drawn = drawInputSample(encoded, request);
  const givenNames = given.map(({ name }) => name);
  const { devices, parts, dropped } = assignRows(encoded, givenNames, request.deviceColumn !== undefined, drawn);
  if (fill !== undefined) warnings.push(...filledCells(tables));
  if (dropped > 0) warnings.push(`${dropped} rows with missing cells were dropped`);
  if (drawn !== undefined) {
    const rows = devices.reduce((sum, { points }) => sum + points.rows, 0);
    warnings.push(`this rests on a sample of ${rows} rows; the others have no label`);
  }
  return {
    columns: encodedColumns(encoding),
    encoding,
    dates: await datesIn(files, tables[0].columns, request),
    devices,
    files: parts.map((part, i) => {
      const input = files.at(i - given.length);
      return i < given.length || i >= given.length + files.length || input === undefined ? part : { ...part, input };
    }),
    sources: devices.map((_, i) => sources[i - given.length - files.length]?.source),
    ...(fill && { fill }),
    dropped,
    warnings,
  };
}

function filledCells(tables: readonly Table[]): string[] {
  const counts = tables[0].columns.map((_, c) => tables.reduce((sum, { missing }) => sum + missing[c].count, 0));
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  const filled = tables[0].columns.flatMap((name, c) =>
    counts[c] > 0 ? [`${counts[c]} in ${JSON.stringify(name)}`] : [],
  );
  const more = filled.length > MOST_FILLED ? [`others in ${filled.length - MOST_FILLED} more`] : [];
  const cells = total === 1 ? "1 missing cell was" : `${total} missing cells were`;
  return [`${cells} filled with the mean of the column: ${[...filled.slice(0, MOST_FILLED), ...more].join(", ")}`];
}

const MOST_FILLED = 5;

/** A copy of the chosen columns: rows are scaled in place. */
export function tableAtHand(
  { name, points, columns }: DeviceTable,
  selection: Selection,
  policy: MissingPolicy,
): Table {
  const { rows, cols } = points;
  const names = columns ?? Array.from({ length: cols }, (_, c) => `x${c + 1}`);
  if (names.length !== cols)
    throw new RangeError(`table "${name}" must have ${cols} names of columns, got ${names.length}`);
  const chosen = selection.columns ?? names.filter((own) => !selection.exclude?.includes(own));
  const places = chosen.map((own) => names.indexOf(own));
  const absent = places.indexOf(-1);
  if (absent >= 0) {
    const got = `the columns ${names.map((own) => JSON.stringify(own)).join(", ")}`;
    throw new DataError({ file: name, column: chosen[absent] }, "exist", got, "name other columns");
  }
  const data = new Float64Array(rows * chosen.length);
  const missing = chosen.map(() => ({ count: 0, line: 0 }));
  for (let r = 0, to = 0; r < rows; r++) {
    for (const [c, place] of places.entries()) {
      const value = points.data[r * cols + place];
      data[to++] = value;
      if (Number.isNaN(value) && missing[c].count++ === 0) missing[c].line = r + 1;
    }
  }
  const own = { data, rows, cols: chosen.length };
  const table: Table = { file: name, format: "npy", columns: chosen, points: own, missing };
  if (rows > 0) checkMissingCells(table, policy);
  return table;
}

async function readFile(
  file: FileInput,
  first: Table | undefined,
  request: RowsRequest,
  missing: MissingPolicy,
  context: WorkContext,
): Promise<Table> {
  const name = inputFileName(file);
  reportWorkProgress(context, { step: "read", name });
  if (first !== undefined && request.columns === undefined) await checkSameColumns(file, first, request);
  const { tables: _, files: __, sources: ___, ...options } = request;
  const onRead = (bytes: number) => reportWorkProgress(context, { step: "read", name, bytes });
  const reading = { ...options, allowsNameless: missing === "drop", onRead };
  const table = await readTable(
    file,
    first === undefined ? reading : { ...reading, columns: first.columns, exclude: [] },
  );
  checkMissingCells(table, missing);
  return table;
}

export function inputFileName(file: FileInput): string {
  if (typeof file === "string") return file;
  return "name" in file && typeof file.name === "string" ? file.name : "data";
}

/** The columns that are dates in the first file, which the others are like. */
async function datesIn(files: readonly FileInput[], columns: readonly string[], { dates, ...plain }: RowsRequest) {
  if (dates === undefined || files.length === 0) return [];
  const layout = await readLayout(files[0], plain);
  return layout.columns.filter(({ name, kind }) => kind === "date" && columns.includes(name)).map(({ name }) => name);
}

/** So few values are a category, whether they repeat or not. */
const FEW_VALUES = 20;

/** A text that hardly ever repeats is a name or a note; who wants it as a category says so. */
function checkRepeating(tables: readonly Table[], encoding: Encoding, { categories }: RowsRequest): void {
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
  file: FileInput,
  { file: first, columns: known }: Table,
  options: RowsRequest,
): Promise<void> {
  const { exclude = [], deviceColumn } = options;
  const names = (await readLayout(file, options)).columns.map(({ name }) => name);
  const further = names.find((name) => ![...known, ...exclude, deviceColumn].includes(name));
  const absent = known.find((name) => !names.includes(name));
  const column = further ?? absent;
  if (column === undefined) return;
  const got = further === undefined ? `none in ${inputFileName(file)}` : `none in ${first}`;
  const common = known.filter((name) => names.includes(name));
  throw new DataError({ file: inputFileName(file), line: 1, column }, "be in every file", got, [
    { kind: "leave-out-columns", columns: [column] },
    ...(common.length > 0 ? [{ kind: "choose-columns", columns: common } as const] : []),
  ]);
}

// The class of every row, from a column that is no feature: what clusters are judged by, never what they are found from.

/** Refuses a column that is not there, before it is left out of what is clustered. */
export async function checkClassColumn(file: FileInput, column: string, options: RowsRequest): Promise<void> {
  const names = (await readLayout(file, options)).columns.map(({ name }) => name);
  if (names.includes(column)) return;
  const got = `the columns ${names.map((name) => JSON.stringify(name)).join(", ")}`;
  throw new DataError({ file: inputFileName(file), line: 1, column }, "exist", got, [
    { kind: "name-column", option: "classes", columns: names },
  ]);
}

/** For each device of an input the classes of its rows, numbered in the order in which they are met. */
export async function readInputClasses(input: Input, column: string, options: RowsRequest): Promise<Uint32Array[]> {
  const numbers = new Map<string, number>();
  const classes = input.devices.map(({ points }) => new Uint32Array(points.rows));
  const filled = new Uint32Array(classes.length);
  for (const { input: file, rows, deviceOf } of input.files) {
    if (file === undefined) throw new RangeError("classes are read from files");
    // A column of names is read as that of devices is.
    const { exclude: _, files: __, ...rest } = options;
    const columns = input.encoding.map(({ name }) => name);
    const { devices } = await readTable(file, { ...rest, columns, deviceColumn: column });
    const { names, of } = devices ?? { names: [], of: new Uint32Array() };
    for (let r = 0; r < rows; r++) {
      const device = deviceOf(r);
      if (device < 0) continue;
      const name = names[of[r]];
      const number = numbers.get(name) ?? numbers.size;
      numbers.set(name, number);
      classes[device][filled[device]++] = number;
    }
  }
  return classes;
}
