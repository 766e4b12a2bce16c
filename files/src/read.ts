// One way into all formats: a file and what is wanted of it, to a table.

import { cellReader } from "./cell.ts";
import type { Dialect, DialectOptions } from "./csv/dialect.ts";
import { openCsv } from "./csv/open.ts";
import { readCsv } from "./csv/read.ts";
import { jsonColumns, readJsonLines } from "./jsonl.ts";
import type { Column, Selection } from "./layout.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { type Opener, reading, type Source } from "./source.ts";
import type { Format, Table } from "./table.ts";

export interface ReadOptions extends Selection, DialectOptions {
  readonly limits?: Limits;
  /** Told from time to time how many bytes of the file were read so far. */
  readonly onRead?: (bytes: number) => void;
}

/** The chosen columns of a file as numbers. */
export async function tableOf(open: Opener, options: ReadOptions): Promise<Table> {
  const { limits = defaultLimits } = options;
  const watched = options.onRead === undefined ? open : watchedOpener(open, options.onRead);
  return reading(watched, limits, (source) => readSource(source, options, limits), options.encoding);
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

async function readSource(source: Source, options: ReadOptions, limits: Limits): Promise<Table> {
  const rules = cellReader(options);
  // Decoders are loaded only for those who have such files.
  switch (source.container) {
    case "parquet":
      return (await import("./parquet/read.ts")).readParquet(source, options, limits, rules);
    case "npy":
      return (await import("./npy.ts")).readNpy(source, options, limits, rules);
    case "zip": {
      const { insideSource, openArchive } = await import("./archive.ts");
      const inside = await openArchive(source, options.sheet);
      if (inside.kind === "file")
        return readSource(await insideSource(inside.file, limits, options.encoding), options, limits);
      return (await import("./xlsx/read.ts")).readXlsx(inside.workbook, options, limits, rules);
    }
    default:
      return isJson(source) ? readJsonLines(source, options, limits, rules) : readCsv(source, options, options, limits);
  }
}

/** What a file is like before its rows are read. */
export interface FileLayout {
  readonly format: Format;
  readonly packed: boolean;
  readonly columns: readonly Column[];
  /** Of delimited text. */
  readonly dialect?: Dialect;
  /** Of a workbook or an archive of arrays: all sheets or arrays, the one that is read first. */
  readonly sheets?: readonly string[];
}

export async function layoutOf(open: Opener, options: ReadOptions): Promise<FileLayout> {
  const { limits = defaultLimits } = options;
  return reading(open, limits, (source) => layoutOfSource(source, options, limits), options.encoding);
}

async function layoutOfSource(source: Source, options: ReadOptions, limits: Limits): Promise<FileLayout> {
  const packed = source.container === "gzip";
  const rules = cellReader(options);
  switch (source.container) {
    case "parquet": {
      const { columnsOfParquet } = await import("./parquet/read.ts");
      return { format: "parquet", packed, columns: await columnsOfParquet(source, limits) };
    }
    case "npy":
      return { format: "npy", packed, columns: await (await import("./npy.ts")).npyColumns(source, limits) };
    case "zip": {
      const { insideSource, openArchive } = await import("./archive.ts");
      const inside = await openArchive(source, options.sheet);
      if (inside.kind === "file") {
        const { sheets } = inside;
        const own = await layoutOfSource(await insideSource(inside.file, limits, options.encoding), options, limits);
        return { ...own, packed: true, ...(sheets && { sheets }) };
      }
      const { columnsOfXlsx } = await import("./xlsx/read.ts");
      const { workbook } = inside;
      const columns = await columnsOfXlsx(workbook, options, limits, rules);
      return { format: "xlsx", packed, columns, sheets: workbook.sheets };
    }
    default: {
      if (isJson(source)) return { packed, ...(await jsonColumns(source, limits, rules)) };
      const { feed, dialect, columns } = await openCsv(source, options, limits);
      await feed.close();
      return { format: "csv", packed, dialect, columns };
    }
  }
}

export function isJson({ ending }: Source): boolean {
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(ending);
}
