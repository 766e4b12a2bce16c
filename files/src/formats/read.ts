// One way into all formats: a file and what is wanted of it, to a table; and what a file is like before its rows are read.

import { type CsvDialect, openCsv } from "../csv/dialect.ts";
import { readCsv } from "../csv/read.ts";
import { DataError } from "../source/refusal.ts";
import { type Limits, type OpenedFile, type Opener, withByteFile } from "../source/source.ts";
import { type Column, type DialectOptions, type ReadPlan, type Selection, tableReadPlan } from "../table/columns.ts";
import { joinTables, planLike } from "../table/joinTables.ts";
import type { Format, Table } from "../table/table.ts";
import type { Archive } from "./archive.ts";
import { isJsonFile, jsonColumns, readJsonTable } from "./json.ts";

/** How a file is read: its dialect, its columns, limits and progress. */
export interface ReadOptions extends Selection, DialectOptions {
  /** How large a file may be before it is refused. */
  readonly limits?: Limits;
  /** Told from time to time how many bytes of the file were read so far. */
  readonly onRead?: (bytes: number) => void;
}

export async function readFormatTable(open: Opener, options: ReadOptions): Promise<Table> {
  const plan = tableReadPlan(options);
  const watched = options.onRead === undefined ? open : watchedOpener(open, options.onRead);
  return withByteFile(watched, plan.limits, (file) => readFormat(file, plan), options.encoding);
}

function watchedOpener(open: Opener, onRead: (bytes: number) => void): Opener {
  return async () => {
    const bytes = await open();
    let sum = 0;
    const read = async (into: Uint8Array, at: number) => {
      const length = await bytes.read(into, at);
      sum += length;
      onRead(sum);
      return length;
    };
    return { ...bytes, read };
  };
}

async function readFormat(file: OpenedFile, plan: ReadPlan): Promise<Table> {
  // Decoders are loaded only for those who have such files.
  switch (file.container) {
    case "parquet":
      return (await import("../parquet/read.ts")).readParquet(file, plan);
    case "npy":
      return (await import("./npy.ts")).readNpyTable(file, plan);
    case "zip": {
      const archive = await (await import("./archive.ts")).openArchive(file, plan);
      return archive.kind === "file" ? readFormat(archive.file, plan) : readParts(file.file, archive, plan);
    }
    default:
      return isJsonFile(file) ? readJsonTable(file, plan) : readCsv(file, plan);
  }
}

async function readParts(
  file: string,
  archive: Exclude<Archive, { readonly kind: "file" }>,
  plan: ReadPlan,
): Promise<Table> {
  const readers =
    archive.kind === "workbook"
      ? await import("../xlsx/read.ts").then(({ readSheet }) =>
          archive.read.map((workbook) => async (own: ReadPlan) => readSheet(workbook, own)),
        )
      : archive.files.map(({ open }) => async (own: ReadPlan) => {
          const part = await open();
          if (plan.options.columns === undefined) await checkSameColumns(part, plan, own.options.columns);
          return readFormat(part, own);
        });
  const parts: Table[] = [];
  for (const read of readers) parts.push(await read(parts.length === 0 ? plan : planLike(plan, parts[0])));
  return parts.length === 1 ? { ...parts[0], file } : joinTables(file, parts, plan);
}

/** A column that only some files of an archive have is not lost without a word. `known` are those of the first. */
async function checkSameColumns(part: OpenedFile, plan: ReadPlan, known: readonly string[] | undefined): Promise<void> {
  if (known === undefined) return;
  const { exclude = [], deviceColumn } = plan.options;
  const names = (await formatLayout(part, plan)).columns.map(({ name }) => name);
  const further = names.find((name) => ![...known, ...exclude, deviceColumn].includes(name));
  if (further === undefined) return;
  throw new DataError({ file: part.file, line: 1, column: further }, "be in every file", "none in the first", [
    { kind: "leave-out-columns", columns: [further] },
    { kind: "choose-columns", columns: known.filter((name) => names.includes(name)) },
  ]);
}

/** What a file is like before its rows are read. */
export interface FileLayout {
  readonly format: Format;
  readonly packed: boolean;
  readonly columns: readonly Column[];
  /** Of delimited text. */
  readonly dialect?: CsvDialect;
  /** Of a workbook or an archive of arrays: all sheets or arrays, the one that is read first. */
  readonly sheets?: readonly string[];
  /** Of several sheets with the same columns, or files of an archive: what they are called. */
  readonly parts?: readonly string[];
}

export async function readFormatLayout(open: Opener, options: ReadOptions): Promise<FileLayout> {
  const plan = tableReadPlan(options);
  return withByteFile(open, plan.limits, (file) => formatLayout(file, plan), options.encoding);
}

async function formatLayout(file: OpenedFile, plan: ReadPlan): Promise<FileLayout> {
  const { limits, rules } = plan;
  const packed = file.container === "gzip";
  switch (file.container) {
    case "parquet": {
      const { columnsOfParquet } = await import("../parquet/read.ts");
      return { format: "parquet", packed, columns: await columnsOfParquet(file, limits) };
    }
    case "npy":
      return { format: "npy", packed, columns: await (await import("./npy.ts")).npyColumns(file, limits) };
    case "zip": {
      const archive = await (await import("./archive.ts")).openArchive(file, plan);
      if (archive.kind === "file") {
        const { sheets } = archive;
        return { ...(await formatLayout(archive.file, plan)), packed: true, ...(sheets && { sheets }) };
      }
      if (archive.kind === "files") {
        const parts = archive.files.map(({ name }) => name);
        return { ...(await formatLayout(await archive.files[0].open(), plan)), packed: true, sheets: parts, parts };
      }
      const { columnsOfSheet } = await import("../xlsx/read.ts");
      const [workbook] = archive.read;
      const parts = archive.alike.length > 1 && { parts: archive.alike.map(({ sheet }) => sheet) };
      return { format: "xlsx", packed, columns: columnsOfSheet(workbook, plan), sheets: workbook.sheets, ...parts };
    }
    default: {
      if (isJsonFile(file)) return { packed, ...(await jsonColumns(file, limits, rules)) };
      const { feed, dialect, columns } = await openCsv(file, plan);
      await feed.close();
      return { format: "csv", packed, dialect, columns };
    }
  }
}
