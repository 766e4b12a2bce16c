// From tables, files and sources to devices: one table each, or one column that names them; the same columns everywhere.

import type { Matrix } from "@fedkm/core";
import {
  cellReader,
  checkMissingCells,
  DataError,
  type DialectOptions,
  type Encoding,
  encodedColumns,
  encodeTable,
  encodingOf,
  fillMissing,
  firstEncodedColumns,
  hasCategories,
  type MissingPolicy,
  readLayout,
  readTable,
  type Selection,
  scalingMeans,
  type Table,
} from "@fedkm/files";
import type { OpenSource, SourceWords } from "@fedkm/sql";
import { counted } from "../numbers.ts";
import { RequestError } from "../request.ts";
import { reportWorkProgress, type WorkContext } from "../work.ts";
import { assignRows, drawInputSample, folderDevice, type InputDevice, type InputRows } from "./assignDevices.ts";
import { columnWarnings } from "./columnWarnings.ts";
import {
  joinEncodings,
  readSource,
  type SourceRequest,
  type SourceSums,
  type SourceTable,
  sourceDevices,
  sourceWarnings,
} from "./sources.ts";

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

/** How files were read, for files that come later: what was asked or decided, and how cells of columns are written. */
export interface Reading extends Omit<DialectOptions, "onBad"> {
  readonly deviceColumn?: string;
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

/** Rows of one device with the file that they come from. */
export interface InputFile extends InputRows {
  /** What was read: undefined for rows at hand and for sources. */
  readonly input?: FileInput;
}

/** Rows of all devices, and how the columns of their files became numbers. */
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
  readonly reading: Reading;
  /** What took the place of missing cells. */
  readonly fill?: readonly number[];
  readonly dropped: number;
  readonly warnings: readonly string[];
}

interface ReadingChoices {
  readonly mayStay?: boolean;
  readonly examine?: boolean;
  readonly features?: GivenFeatures | undefined;
}

/** Features that are agreed on, so that nothing about them is learnt from the files. */
export interface GivenFeatures {
  readonly encoding: Encoding;
  /** What takes the place of missing cells, if anything may. */
  readonly fill?: readonly number[] | undefined;
  /** A table with these features in place of its columns. */
  encode(table: Table): Table;
}

/** Rows of sources are loaded, unless they may stay: then a device of such rows has a sample of them. */
export async function readInput(
  request: RowsRequest,
  context: WorkContext = {},
  { mayStay = false, examine = true, features }: ReadingChoices = {},
): Promise<Input> {
  const { tables: given = [], files = [], missing = "refuse" } = request;
  const tables = given.map((own) => tableAtHand(own, request, missing));
  for (const file of files) tables.push(await readFile(file, tables.at(0), request, missing, context));
  if (tables.length === 0 && request.sources === undefined)
    throw new RangeError("a request must have tables, files or sources, got none");
  // A sample that is asked for is drawn from all rows.
  const sourced = await readSources(tables, request, mayStay && request.sample === undefined, context);
  const { sources } = sourced;
  const encoding = features?.encoding ?? sourced.encoding;
  const inSources = sources.map(({ table }) => table);
  // Of categories there are only numbers left in tables of sources.
  const judged = hasCategories(encoding) ? tables : [...tables, ...inSources];
  const judges = examine && judged.length > 0;
  const warnings = [...(judges ? columnWarnings(judged) : []), ...sources.flatMap(sourceWarnings)];
  checkRepeating(tables, encoding, request);
  const ownRows = tables.map((table) => features?.encode(table) ?? encodeTable(table, encoding));
  const fill = features === undefined ? sourced.fill : features.fill;
  if (fill !== undefined && features === undefined) for (const { points } of ownRows) fillMissing(points, fill);
  const encoded = [...ownRows, ...inSources.map((table) => features?.encode(table) ?? table)];
  const drawn = drawInputSample(encoded, request);
  const givenNames = given.map(({ name }) => name);
  const { devices, parts, dropped } = assignRows(encoded, givenNames, request.deviceColumn !== undefined, drawn);
  if (fill !== undefined) warnings.push(...filledCells(tables, encoding, sourced.sums));
  if (dropped > 0)
    warnings.push(`${counted(dropped, "row")} with missing cells ${dropped === 1 ? "was" : "were"} dropped`);
  if (drawn !== undefined) {
    const rows = devices.reduce((sum, { points }) => sum + points.rows, 0);
    warnings.push(`this rests on a sample of ${rows} rows; the others have no label`);
  }
  return {
    columns: encodedColumns(encoding),
    encoding,
    dates: await datesIn(
      files,
      encoding.map(({ name }) => name),
      request,
    ),
    reading: given.length > 0 ? {} : readingOf(request, tables),
    devices,
    files: parts.map((part, i) => {
      const input = files.at(i - given.length);
      return i < given.length || i >= given.length + files.length || input === undefined ? part : { ...part, input };
    }),
    sources: sourcesOfDevices(devices, sources, given.length + files.length),
    ...(fill && { fill }),
    dropped,
    warnings,
  };
}

interface ReadSources {
  /** Of all files and sources. */
  readonly encoding: Encoding;
  readonly sources: readonly SourceTable[];
  /** With missing "mean": of each column that is clustered, over all files and sources. */
  readonly fill?: readonly number[] | undefined;
  readonly sums: readonly SourceSums[];
}

/** What sources hold besides numbers is asked first, so that all devices have the same columns. */
async function readSources(
  tables: readonly Table[],
  request: RowsRequest,
  mayStay: boolean,
  context: WorkContext,
): Promise<ReadSources> {
  const { sources = [], deviceColumn, categories, missing } = request;
  const opened: SourceTable[] = [];
  const announce = (name: string) => reportWorkProgress(context, { step: "read", name });
  const known = tables.length === 0 ? undefined : encodingOf(tables);
  const columns = known === undefined ? request.columns : known.map(({ name }) => name);
  const { exclude } = columns === undefined ? request : {};
  const chosen = { ...(columns && { columns }), ...(exclude && { exclude }) };
  const fillOf = (encoding: Encoding) => tables.map((table) => encodeTable(table, encoding).points);
  if (deviceColumn === undefined && categories === undefined && missing !== "mean") {
    for (const own of sources) {
      announce(own.address);
      opened.push(await readSource(own, chosen, mayStay));
    }
    return { encoding: known ?? encodingOf(opened.map(({ table }) => table)), sources: opened, sums: [] };
  }
  const words: SourceWords[] = [];
  const rules = { ...(deviceColumn !== undefined && { deviceColumn }), ...(categories && { categories }) };
  for (const own of sources) words.push(await own.words({ ...chosen, ...rules }));
  const encoding =
    known !== undefined && sources.length === 0 ? known : joinEncodings(known, words, cellReader(request).isMissing);
  const sums: SourceSums[] = [];
  if (missing === "mean") for (const own of sources) sums.push(await own.sums(encoding));
  const fill = missing === "mean" ? meansOf(fillOf(encoding), sums) : undefined;
  for (const [s, own] of sources.entries()) {
    for (const device of sourceDevices(own, words[s], request)) {
      announce(own.address);
      opened.push(await readSource(own, { encoding, ...(fill && { fill }), ...(device && { device }) }, mayStay));
    }
  }
  return { encoding, sources: opened, fill, sums };
}

/** Over rows at hand and those of sources. */
function meansOf(points: readonly Matrix[], sums: readonly SourceSums[]): number[] {
  if (sums.length === 0) return [...scalingMeans(points)];
  return sums[0].sums.map((_, c) => {
    let [sum, count] = [0, 0];
    for (const own of sums) [sum, count] = [sum + own.sums[c], count + own.counts[c]];
    for (const { data, cols } of points) {
      for (let at = c; at < data.length; at += cols) {
        if (!Number.isNaN(data[at])) [sum, count] = [sum + data[at], count + 1];
      }
    }
    return count > 0 ? sum / count : 0;
  });
}

/** A device has one source, unless its rows are in memory, where they have been put together. */
function sourcesOfDevices(
  devices: readonly InputDevice[],
  sources: readonly SourceTable[],
  first: number,
): (OpenSource | undefined)[] {
  const own = devices.map((): OpenSource | undefined => undefined);
  for (const [s, { source, table }] of sources.entries()) {
    const [name] = table.devices?.names ?? [];
    const at = name === undefined ? first + s : devices.findIndex((device) => device.name === name);
    if (own[at] !== undefined && source.read !== "memory") {
      throw new RequestError(
        `device ${JSON.stringify(name)} must have its rows in one source: --read memory puts them together`,
      );
    }
    own[at] = source;
  }
  return own;
}

function readingOf(request: RowsRequest, tables: readonly Table[]): Reading {
  const { delimiter, header, decimal, na, dates, encoding, sheet, deviceColumn } = request;
  const said = Object.entries({ delimiter, header, decimal, na, dates, encoding, sheet, deviceColumn });
  const forms: Reading["forms"] = Object.assign({}, ...tables.toReversed().map((table) => table.forms));
  return {
    ...Object.fromEntries(said.filter(([, value]) => value !== undefined)),
    ...(forms && Object.keys(forms).length > 0 && { forms }),
  };
}

function filledCells(tables: readonly Table[], encoding: Encoding, sums: readonly SourceSums[]): string[] {
  const names = encoding.map(({ name }) => name);
  const firsts = firstEncodedColumns(encoding);
  const counts = names.map((_, c) => {
    const inFiles = tables.reduce((sum, { missing }) => sum + missing[c].count, 0);
    return sums.reduce((sum, own) => sum + own.rows - own.counts[firsts[c]], inFiles);
  });
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return [];
  const filled = names.flatMap((name, c) => (counts[c] > 0 ? [`${counts[c]} in ${JSON.stringify(name)}`] : []));
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
  const { deviceColumn, ...rest } = options;
  // A folder such as plant=north may say what a column would.
  const device = deviceColumn === undefined ? undefined : folderDevice(name, deviceColumn);
  const named = device === undefined ? options : rest;
  const reading = { ...named, allowsNameless: missing === "drop", onRead };
  const table = await readTable(
    file,
    first === undefined ? reading : { ...reading, columns: first.columns, exclude: [] },
  );
  checkMissingCells(table, missing);
  if (device === undefined) return table;
  return { ...table, devices: { names: [device], of: new Uint32Array(table.points.rows) } };
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
  const { exclude: _, files: __, ...rest } = options;
  const columns = input.encoding.map(({ name }) => name);
  for (const { file } of input.files.filter(({ input: read }) => read === undefined))
    throw new RangeError(`classes are read from files, got ${file}`);
  await readNamesOfRows(input, { ...rest, columns, deviceColumn: column }, (name, device, row) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    classes[device][row] = number;
  });
  return classes;
}

/** A column of names is read as that of devices is. */
async function readNamesOfRows(
  { devices, files }: Input,
  options: RowsRequest,
  onName: (name: string, device: number, row: number) => void,
): Promise<void> {
  const filled = new Uint32Array(devices.length);
  for (const { input, rows, deviceOf } of files) {
    const table = input === undefined ? undefined : await readTable(input, options);
    const { names, of } = table?.devices ?? { names: [], of: [] };
    for (let r = 0; r < rows; r++) {
      const device = deviceOf(r);
      if (device < 0) continue;
      onName(names[of[r]] ?? "", device, filled[device]++);
    }
  }
}

// Where rows come from, so that somebody who knows a row finds it again: its file, its number there, and its name.

export interface RowOrigin {
  readonly file: string;
  /** From 1 on. */
  readonly number: number;
  /** Its cell in a column that names rows. */
  readonly name?: string;
}

/** So many columns that are not clustered are looked at for names, in so many rows, of which so many must differ. */
const MOST_LOOKED_AT = 8;
const MOST_NAMED_ROWS = 50_000;
const NAMING_SHARE = 0.5;

/** For each device where its rows come from; undefined where there are so many that nobody looks for one by hand. */
export async function readRowOrigins(input: Input): Promise<RowOrigin[][] | undefined> {
  const all = input.devices.reduce((sum, { points }) => sum + points.rows, 0);
  if (all > MOST_NAMED_ROWS) return undefined;
  const origins: RowOrigin[][] = input.devices.map(() => []);
  for (const { file, rows, deviceOf } of input.files)
    for (let r = 0; r < rows; r++) if (deviceOf(r) >= 0) origins[deviceOf(r)].push({ file, number: r + 1 });
  const { deviceColumn, ...reading } = input.reading;
  const files = input.files.flatMap(({ input: read }) => read ?? []);
  const layouts = await Promise.all(files.map(async (file) => (await readLayout(file, reading)).columns));
  if (layouts.length === 0) return origins;
  const known = [deviceColumn, ...input.encoding.map(({ name }) => name)];
  // A column that not all files have names the rows of some only.
  const others = layouts[0].filter(
    ({ name, kind }) =>
      kind !== "other" && !known.includes(name) && layouts.every((own) => own.some((column) => column.name === name)),
  );
  const [{ name: column, values }] = input.encoding;
  const options = { columns: [column], ...(values && { categories: [column] }), allowsNameless: true };
  let [best, most] = [origins, NAMING_SHARE * all];
  for (const { name } of others.slice(0, MOST_LOOKED_AT)) {
    const named = origins.map((own) => [...own]);
    const met = new Set<string>();
    await readNamesOfRows(input, { ...reading, ...options, deviceColumn: name }, (own, device, row) => {
      named[device][row] = { ...named[device][row], name: own };
      met.add(own);
    });
    if (met.size > most) [best, most] = [named, met.size];
  }
  return best;
}
