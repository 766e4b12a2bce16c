// From files to devices: one file each, or one column that names them; the same columns everywhere.

import {
  checkMissing,
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
import type { OpenSource } from "@fedkm/sql";
import { isAddress } from "@fedkm/sql/address";
import { byColumn, type Device, type InputFile, oneEach, sampler, withFolderPlace } from "./gather.ts";
import { readingWatch, withStandardInput } from "./reading.ts";
import type { SourceOptions } from "./sourceOptions.ts";
import { readSource, type SourceTable, sourceWarnings } from "./sources.ts";
import { columnWarnings } from "./warnings.ts";

export interface InputOptions extends Selection, DialectOptions, SourceOptions {
  readonly missing: MissingPolicy;
  /** Only so many rows of all, drawn at random. */
  readonly sample?: number;
  /** Of that draw. */
  readonly seed?: number;
}

export interface Input {
  /** The columns that are clustered: of a category one for each of its values. */
  readonly columns: readonly string[];
  /** How the columns of the files become these. */
  readonly encoding: Encoding;
  /** Those of the files that hold dates, as days. */
  readonly dates: readonly string[];
  readonly devices: readonly Device[];
  readonly files: readonly (InputFile & { readonly isSource: boolean })[];
  /** For each device the source of its rows, if that is what they come from. */
  readonly sources: readonly (OpenSource | undefined)[];
  /** What took the place of missing cells. */
  readonly fill?: readonly number[];
  readonly dropped: number;
  readonly warnings: readonly string[];
}

/** Rows of sources are loaded, unless they may stay: then a device of such rows has a sample of them. */
export async function readInput(
  patterns: readonly string[],
  options: InputOptions,
  onFile: (file: string) => void,
  mayStay = false,
): Promise<Input> {
  const addresses = patterns.filter(isAddress);
  const others = patterns.filter((own) => !isAddress(own));
  const files = others.length === 0 ? [] : expandPatterns(await withStandardInput(others));
  const tables: Table[] = [];
  const watch = readingWatch(files, onFile);
  for (const file of files) {
    const columns = tables.at(0)?.columns;
    if (columns !== undefined && options.columns === undefined)
      await checkSameColumns(file, files[0], columns, options);
    const reading = { ...options, allowsNameless: options.missing === "drop", onRead: watch(file) };
    const table = await readTable(file, columns === undefined ? reading : { ...reading, columns, exclude: [] });
    checkMissing(table, options.missing);
    tables.push(table);
  }
  const sources: SourceTable[] = [];
  for (const address of addresses) {
    onFile(address);
    const columns = tables.at(0)?.columns;
    // A sample that is asked for is drawn from all rows.
    const read = mayStay && options.sample === undefined ? options.read : "memory";
    const asked = columns === undefined ? options : { ...options, columns, exclude: [] };
    const source = await readSource(address, { ...asked, ...(read && { read }) }, onFile);
    tables.push(source.table);
    sources.push(source);
  }
  const warnings = [...columnWarnings(tables), ...sources.flatMap(sourceWarnings)];
  const encoding = encodingOf(tables);
  checkRepeating(tables, encoding, options);
  const encoded = tables.map((table) => encodeTable(table, encoding));
  const fill = options.missing === "mean" ? federatedMeans(encoded.map(({ points }) => points)) : undefined;
  if (fill !== undefined) for (const { points } of encoded) fillMissing(points, fill);
  const placed = options.deviceColumn === undefined ? encoded.map(withFolderPlace) : encoded;
  const kept = sampler(encoded, options);
  const isPlaced = placed.every((table) => table.devices !== undefined);
  const { devices, parts, dropped } = isPlaced ? byColumn(placed, kept) : oneEach(encoded, kept);
  if (dropped > 0) warnings.push(`${dropped} rows with missing cells were dropped`);
  if (kept !== undefined) {
    const rows = devices.reduce((sum, { points }) => sum + points.rows, 0);
    warnings.push(`this rests on a sample of ${rows} rows; the others have no label`);
  }
  return {
    columns: matrixColumns(encoding),
    encoding,
    dates: await datesIn(files, tables[0].columns, options),
    devices,
    files: parts.map((part, i) => ({ ...part, isSource: i >= files.length })),
    sources: devices.map((_, i) => sources[i - files.length]?.source),
    ...(fill && { fill }),
    dropped,
    warnings,
  };
}

/** The columns that are dates in the first file, which the others are like. */
async function datesIn(files: readonly string[], columns: readonly string[], { dates, ...plain }: InputOptions) {
  if (dates === undefined || files.length === 0) return [];
  const layout = await readLayout(files[0], plain);
  return layout.columns.filter(({ name, kind }) => kind === "date" && columns.includes(name)).map(({ name }) => name);
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
