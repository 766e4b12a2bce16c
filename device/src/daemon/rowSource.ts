// The rows of a device as it computes with them: read into memory, or left in the database that answers for them; and how
// many of them count. A file that is refused is named with the place in it, never with what stands there.

import { type Matrix, type Statistics, stack } from "@fedkm/core";
import { joinSources, memorySource, type Source, sourceGrids, sourceStatistics } from "@fedkm/core/sources";
import { checkMissingCells, DataError, readTable } from "@fedkm/files";
import { type OpenSource, openSource } from "@fedkm/sql";
import { isAddress } from "@fedkm/sql/address";
import { reasonOf } from "../environment.ts";
import { limitedStudy, limitsFault } from "../study/limitedStudy.ts";
import type { OwnerLimits } from "../study/ownerLimits.ts";
import { absentRows, type DeviceRows, isRemote, type MemoryRows, type RemoteRows } from "../study/remoteRows.ts";
import { hasOpenColumns, type Study } from "../study/study.ts";
import {
  isPlainStudy,
  stackedTables,
  studyColumns,
  type TableRows,
  tableFeatures,
  tableRows,
} from "../study/tableRows.ts";
import { scaleRows } from "../study/units.ts";
import { hashBytes } from "../wire/hashes.ts";
import { type EnvironmentVariables, watchedFilesLook } from "./fileWatch.ts";
import type { DeviceFolder } from "./folder.ts";

/** A few odd values are ordinary. More than this share out of bounds is a wrong unit, column or study. */
const LARGEST_SHARE_OUTSIDE = 0.05;

/** Rows of which some are out of the study's bounds. */
interface RowCounts {
  readonly rows: number;
  /** Out of the bounds of any feature, and of each. */
  readonly left: number;
  readonly outside: readonly number[];
}

export function rowSourceCounts({ features }: Study, { data, rows }: Matrix): RowCounts {
  if (hasOpenColumns({ features })) return { rows, left: 0, outside: features.map(() => 0) };
  const outside = features.map(() => 0);
  let left = 0;
  for (let r = 0; r < rows; r++) {
    let isOutside = false;
    for (const [f, { min, max }] of features.entries()) {
      const value = data[r * features.length + f];
      if (value >= min && value <= max) continue;
      outside[f] += 1;
      isOutside = true;
    }
    if (isOutside) left += 1;
  }
  return { rows, left, outside };
}

/** Why none or too few of the rows count, in one line of counts and names; undefined: nearly all do. */
export function rowsFault(
  { features, k, leastK, minimum }: Study,
  { rows, left, outside }: RowCounts,
): string | undefined {
  if (hasOpenColumns({ features }))
    return rows > 0 && rows < minimum ? `none of ${rows} rows is told, ${minimum} are needed (minimum)` : undefined;
  const where = features.flatMap(({ name, min, max }, f) => {
    return outside[f] > 0 ? [`${name} is not within ${min} and ${max} in ${outside[f]}`] : [];
  });
  const because = left === 0 ? "" : `: ${left} are out of the study's bounds (${where.slice(0, 3).join(", ")})`;
  const least = leastK ?? k;
  if (rows > 0 && rows - left < least * minimum) {
    return `none of ${rows} rows counts, ${least * minimum} are needed (k ${least} x minimum ${minimum})${because}`;
  }
  return left > LARGEST_SHARE_OUTSIDE * rows ? `${left} of ${rows} rows do not count${because}` : undefined;
}

/** Columns of a file, by name. */
export interface Columns {
  readonly names: readonly string[];
  readonly points: Matrix;
  /** Of each row, if they were asked for. */
  readonly persons?: readonly string[];
}

/**
 * The study's features of all rows of a file, in the features' units, and whose rows they are if the study protects persons.
 * Each person has one number in all files for which the same `numbers` are given. Of an open study: its columns as they
 * stand there, with gaps and words.
 */
export async function rowSourcePoints(
  path: string,
  study: Study,
  env: EnvironmentVariables,
  numbers = new Map<string, number>(),
): Promise<MemoryRows> {
  const { columns, categories } = studyColumns(study);
  if (!isPlainStudy(study)) {
    const rows = await rowSourceTable(path, env, study, { columns, categories });
    return hasOpenColumns(study) ? rows : tableFeatures(study, rows);
  }
  const { points, persons } = await rowSourceColumns(path, env, columns, study.personColumn);
  if (persons === undefined) return points;
  const numberOf = (name: string) => {
    const number = numbers.get(name) ?? numbers.size;
    numbers.set(name, number);
    return number;
  };
  return { ...points, persons: Uint32Array.from(persons, numberOf) };
}

async function rowSourceTable(
  path: string,
  env: EnvironmentVariables,
  { missing }: Study,
  { columns, categories }: ReturnType<typeof studyColumns>,
): Promise<TableRows> {
  if (isAddress(path)) {
    if (categories.length > 0)
      throw new RangeError(`categories must be in files, not in a source, got ${categories.join(", ")} in ${path}`);
    return tableRows(await readSource(path, env, columns));
  }
  try {
    const table = await readTable(path, { columns, categories });
    if (missing === undefined) checkMissingCells(table, "refuse");
    return tableRows(table);
  } catch (error) {
    throw error instanceof DataError ? new Error(error.withoutContents) : error;
  }
}

/** Columns are found by their names in the first line; without names all of them are read. */
export async function rowSourceColumns(
  path: string,
  env: EnvironmentVariables,
  wanted?: readonly string[],
  personColumn?: string,
): Promise<Columns> {
  if (isAddress(path)) return readSource(path, env, wanted, personColumn);
  try {
    // A column of names is read as that of devices is.
    const people = personColumn === undefined ? {} : { deviceColumn: personColumn };
    const table = await readTable(path, wanted && { columns: wanted, ...people });
    checkMissingCells(table, "refuse");
    const read = { names: table.columns, points: table.points };
    if (personColumn === undefined) return read;
    const { names, of } = table.devices ?? { names: [], of: new Uint32Array(0) };
    return { ...read, persons: Array.from(of, (number) => names[number]) };
  } catch (error) {
    throw error instanceof DataError ? new Error(error.withoutContents) : error;
  }
}

/** All rows of a source, in memory. */
async function readSource(
  address: string,
  env: EnvironmentVariables,
  columns?: readonly string[],
  personColumn?: string,
): Promise<Columns> {
  if (personColumn !== undefined)
    throw new Error(`persons (${personColumn}) are read from files, got a source: export its rows to a file`);
  const source = await openSource(address, { columns, read: "memory", env });
  try {
    return { names: source.columns, points: await source.sample(Math.max(1, source.rows)) };
  } finally {
    await source.close();
  }
}

/** Files of rows and addresses of sources, and the study that reads them. */
interface StudyData {
  readonly data: readonly string[];
  readonly study: Study;
  readonly limits?: OwnerLimits;
}

interface OpenRows {
  readonly rows: DeviceRows;
  readonly counts: RowCounts;
  /** Why none or too few of them count, if so. */
  readonly fault: string | undefined;
}

export type RowSource = ReturnType<typeof rowSource>;

/** What rows a device would have, and what is made of them (`use`) while they are open. */
export async function lookAtRowSource<T = OpenRows>(
  { data, study, limits = {} }: StudyData,
  env: EnvironmentVariables,
  use = async (opened: OpenRows) => opened as T,
): Promise<T> {
  const own = rowSource(data, env, limits);
  try {
    return await use(await own.open(study));
  } finally {
    await own.close();
  }
}

/** (E1) of the rows that count at these centroids, which are scaled. */
export function rowSourceStatistics(of: StudyData, centroids: Matrix, env: EnvironmentVariables): Promise<Statistics> {
  return lookAtRowSource(of, env, async ({ rows }) => {
    return sourceStatistics(isRemote(rows) ? rows.source : memorySource(scaleRows(of.study, rows)), centroids);
  });
}

/** Whether rows can stay where they are. Guarded and private rows are needed one by one, and so are those of shared clusters. */
function canStay({ privacy, clusters, features }: Study): boolean {
  return privacy === "open" && clusters !== "shared" && isPlainStudy({ features });
}

/** What a person should know who has named a source. */
export function rowSourceRemarks(data: readonly string[], study: Study): string[] {
  if (canStay(study) || !data.some(isAddress)) return [];
  const why = study.clusters === "shared" ? "shared clusters need" : `a ${study.privacy} study needs`;
  return [`the rows of sources are read into memory: ${why} them one by one`];
}

/**
 * The rows of one device, for the study that it runs and the one that it is changing to. For a study that its owner's limits
 * keep it out of, nothing is read.
 */
export function rowSource(data: readonly string[], env: EnvironmentVariables, limits: OwnerLimits) {
  const ending = new AbortController();
  let losses = 0;
  /** The latest, and those before it, of which an answer may be on its way. */
  const held = new Map<Study, (OpenRows & { readonly sources: readonly OpenSource[] })[]>();
  const closeAll = async (some: Iterable<{ readonly sources: readonly OpenSource[] }>) => {
    for (const { sources } of some) for (const source of sources) await source.close();
  };
  return {
    /** As they are now. Those before stay open until the next ones are. */
    async open(study: Study): Promise<OpenRows> {
      const isOut = limitsFault(study, limits) !== undefined;
      const read = await openRows(isOut ? [] : data, study, { env, signal: ending.signal });
      const opened = { ...read, fault: isOut ? undefined : rowsFault(limitedStudy(study, limits), read.counts) };
      const [latest, ...older] = held.get(study) ?? [];
      held.set(study, latest === undefined ? [opened] : [opened, latest]);
      await closeAll(older);
      return opened;
    },
    /** Of the rows that are open for this study. */
    faultOf: (study: Study) => held.get(study)?.[0].fault,
    /** The rows do not answer, and are to be opened again as if they had changed. Returns it in words. */
    lose(reason: unknown) {
      losses++;
      return `the rows do not answer, and nothing is computed until they do: ${reasonOf(reason)}`;
    },
    /** How the data look from outside: equal means unchanged. */
    look: async () => `${await watchedFilesLook(data, env)}, lost ${losses} times`,
    /** Ends all that is asked. */
    async close() {
      ending.abort();
      await closeAll([...held.values()].flat());
    },
  };
}

/** With what sources are opened. */
interface Opening {
  readonly env: EnvironmentVariables;
  readonly signal: AbortSignal;
}

/** All rows of files and sources. */
async function openRows(data: readonly string[], study: Study, opening: Opening) {
  const { signal } = opening;
  const opened: OpenSource[] = [];
  try {
    const numbers = new Map<string, number>();
    const places = await Promise.all(data.map((path) => openDataPlace(path, study, opening, opened, numbers)));
    const counts = totalCounts(study, places);
    const sources = places.flatMap(({ source }) => source ?? []);
    const matrices = places.flatMap(({ points }) => points ?? []);
    if (sources.length > 0) {
      const inMemory = matrices.map((points) => memorySource(scaleRows(study, points)));
      return { rows: await remoteRows([...sources, ...inMemory], counts, signal), counts, sources: opened };
    }
    if (hasOpenColumns(study) && matrices.length > 0) {
      const { columns } = studyColumns(study);
      return { rows: stackedTables(matrices, columns.length), counts, sources: opened };
    }
    const rows = matrices.length > 0 ? stackedRows(matrices) : absentRows(study.features.length);
    return { rows, counts, sources: opened };
  } catch (error) {
    for (const source of opened) await source.close();
    throw error;
  }
}

function stackedRows(parts: readonly MemoryRows[]): MemoryRows {
  const persons = parts.flatMap((part) => Array.from(part.persons ?? []));
  return { ...stack(parts), ...(persons.length > 0 && { persons: Uint32Array.from(persons) }) };
}

interface DataPlace {
  readonly counts: RowCounts;
  /** One of them is there. */
  readonly points?: MemoryRows;
  readonly source?: Source;
}

async function openDataPlace(
  path: string,
  study: Study,
  { env, signal }: Opening,
  /* IN OUT */ opened: OpenSource[],
  /* IN OUT */ numbers: Map<string, number>,
): Promise<DataPlace> {
  if (!isAddress(path) || !canStay(study)) return loaded(study, await rowSourcePoints(path, study, env, numbers));
  const { features } = study;
  const source = await openSource(path, { columns: features.map(({ name }) => name), env, signal });
  opened.push(source);
  // Nothing is asked of it any more, and it is closed with the others.
  if (source.read === "memory") return loaded(study, await source.sample(Math.max(1, source.rows)));
  const scaling = { offset: features.map(() => 0), scale: features.map(({ scale }) => scale) };
  const { source: within, outside } = await source.bounded(features, scaling);
  return { source: within, counts: { rows: source.rows, left: source.rows - within.rows, outside } };
}

function loaded(study: Study, points: MemoryRows): DataPlace {
  return { points, counts: rowSourceCounts(study, points) };
}

function totalCounts({ features }: Study, places: readonly DataPlace[]): RowCounts {
  const total = (of: (counts: RowCounts) => number) => places.reduce((sum, { counts }) => sum + of(counts), 0);
  return {
    rows: total(({ rows }) => rows),
    left: total(({ left }) => left),
    outside: features.map((_, f) => total(({ outside }) => outside[f])),
  };
}

async function remoteRows(sources: readonly Source[], { left }: RowCounts, signal: AbortSignal): Promise<RemoteRows> {
  const used = sources.filter(({ rows }) => rows > 0);
  const source = used.length === 1 ? used[0] : joinSources(used.length === 0 ? sources : used);
  return { source, leftOut: left, fingerprint: await sourceFingerprint(source, signal), signal };
}

/** By the extremes and the exact sums of all columns, which cost one pass. */
async function sourceFingerprint(source: Source, signal: AbortSignal): Promise<number> {
  const { rows, cols, least, most } = source;
  if (rows === 0) return 0;
  const middle = { data: new Float64Array(cols), rows: 1, cols };
  const { sums } = await source.parts(middle, sourceGrids(source), signal);
  return hashBytes(new Uint8Array(Float64Array.of(rows, ...least, ...most, ...sums).buffer), cols);
}

/** All rows of the device's files and sources in memory, in the features' units. */
export async function readFolderRows(
  { data, study }: Pick<DeviceFolder, "data" | "study">,
  env: EnvironmentVariables,
): Promise<Matrix> {
  const files = await Promise.all(data.map((file) => rowSourcePoints(file, study, env)));
  return files.length > 0 ? stack(files) : { data: new Float64Array(0), rows: 0, cols: study.features.length };
}
