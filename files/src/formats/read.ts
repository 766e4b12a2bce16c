// One way into all formats: a file and what is wanted of it, to a table; and what a file is like before its rows are read.

import { type CsvDialect, openCsv } from "../csv/dialect.ts";
import { readCsv } from "../csv/read.ts";
import { type Limits, type OpenedFile, type Opener, withByteFile } from "../source/source.ts";
import { type Column, type DialectOptions, type ReadPlan, type Selection, tableReadPlan } from "../table/columns.ts";
import type { Format, Table } from "../table/table.ts";
import { isJsonFile, jsonColumns, readJsonTable } from "./json.ts";

export interface ReadOptions extends Selection, DialectOptions {
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
      if (archive.kind === "file") return readFormat(archive.file, plan);
      return (await import("../xlsx/read.ts")).readXlsx(archive.workbook, plan);
    }
    default:
      return isJsonFile(file) ? readJsonTable(file, plan) : readCsv(file, plan);
  }
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
      const { columnsOfXlsx } = await import("../xlsx/read.ts");
      const { workbook } = archive;
      return { format: "xlsx", packed, columns: await columnsOfXlsx(workbook, plan), sheets: workbook.sheets };
    }
    default: {
      if (isJsonFile(file)) return { packed, ...(await jsonColumns(file, limits, rules)) };
      const { feed, dialect, columns } = await openCsv(file, plan);
      await feed.close();
      return { format: "csv", packed, dialect, columns };
    }
  }
}
