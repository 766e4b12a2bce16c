// One way into all formats: a file and what is wanted of it, to a table.

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
}

/** The chosen columns of a file as numbers. */
export async function tableOf(open: Opener, options: ReadOptions): Promise<Table> {
  const { limits = defaultLimits } = options;
  return reading(open, limits, async (source) => {
    if (source.container === "parquet") {
      // Parquet's decoders are loaded only for those who have such files.
      const { readParquet } = await import("./parquet/read.ts");
      return readParquet(source, options, limits);
    }
    return isJson(source) ? readJsonLines(source, options, limits) : readCsv(source, options, options, limits);
  });
}

/** What a file is like before its rows are read. */
export interface FileLayout {
  readonly format: Format;
  readonly packed: boolean;
  readonly columns: readonly Column[];
  /** Of delimited text. */
  readonly dialect?: Dialect;
}

export async function layoutOf(open: Opener, options: ReadOptions): Promise<FileLayout> {
  const { limits = defaultLimits } = options;
  return reading(open, limits, async (source): Promise<FileLayout> => {
    const packed = source.container === "gzip";
    if (source.container === "parquet") {
      const { columnsOfParquet } = await import("./parquet/read.ts");
      return { format: "parquet", packed, columns: await columnsOfParquet(source, limits) };
    }
    if (isJson(source)) return { format: "jsonl", packed, columns: await jsonColumns(source, limits) };
    const { feed, dialect, columns } = await openCsv(source, options, limits);
    await feed.close();
    return { format: "csv", packed, dialect, columns };
  });
}

export function isJson({ file }: Source): boolean {
  return /\.(jsonl|ndjson|json)(\.gz)?$/i.test(file);
}
