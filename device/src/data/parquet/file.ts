// A Parquet file: its columns by their types, and their values as they are stored, nothing converted on the way.

import { type FileHandle, open } from "node:fs/promises";
import { type FileMetaData, parquetMetadataAsync, parquetSchema, type SchemaElement } from "hyparquet";
import { DataError } from "../refusal.ts";
import type { Source } from "../source.ts";
import { type Page, readPages } from "./pages.ts";

interface RowGroup {
  readonly index: number;
  /** Rows start ... end - 1 of the file. */
  readonly start: number;
  readonly end: number;
}

export interface ParquetFile {
  readonly file: string;
  readonly rows: number;
  /** The columns with their types, in the file's order; nested ones have children. */
  readonly elements: readonly SchemaElement[];
  readonly groups: readonly RowGroup[];
  /** Calls back with the pages of one column that is not nested, in order, and the row of the file where each begins. */
  read(column: string, group: RowGroup, use: (page: Page, row: number) => void): Promise<void>;
  close(): Promise<void>;
}

export async function openParquet({ file, bytes }: Source): Promise<ParquetFile> {
  const handle = await open(file, "r");
  const slice = (start: number, end = bytes) => readSlice(handle, start, Math.min(bytes, end));
  try {
    const metadata = await guarded(file, () => parquetMetadataAsync({ byteLength: bytes, slice }));
    const root = await guarded(file, async () => parquetSchema(metadata));
    const groups = rowGroups(metadata);
    return {
      file,
      rows: groups.at(-1)?.end ?? 0,
      elements: root.children.map(({ element }) => element),
      groups,
      read: (column, group, use) =>
        guarded(file, async () => {
          const about = metadata.row_groups[group.index].columns.find(
            ({ meta_data }) => meta_data?.path_in_schema[0] === column,
          )?.meta_data;
          const leaf = root.children.find(({ element }) => element.name === column);
          if (about === undefined || leaf === undefined) throw new Error(`no column ${column}`);
          const start = Number(about.dictionary_page_offset ?? about.data_page_offset);
          const chunk = await slice(start, start + Number(about.total_compressed_size));
          let row = group.start;
          for (const page of readPages(file, chunk, about, [root, leaf])) {
            if (row + page.rows > group.end) throw new Error(`more values than rows in ${column}`);
            use(page, row);
            row += page.rows;
          }
          if (row < group.end) throw new Error(`fewer values than rows in ${column}`);
        }),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function readSlice(handle: FileHandle, start: number, end: number): Promise<ArrayBuffer> {
  const part = new ArrayBuffer(Math.max(0, end - start));
  for (let at = 0; at < part.byteLength; ) {
    const { bytesRead } = await handle.read(new Uint8Array(part), at, part.byteLength - at, start + at);
    if (bytesRead === 0) throw new Error(`the file ends before byte ${end}`);
    at += bytesRead;
  }
  return part;
}

/** What a decoder trips over is the file's fault; what we refuse ourselves is said already. */
async function guarded<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DataError) throw error;
    const got = error instanceof Error ? error.message : String(error);
    throw new DataError({ file }, "be a whole Parquet file", got, "copy or write it again", { cause: error });
  }
}

function rowGroups({ row_groups }: FileMetaData): RowGroup[] {
  let end = 0;
  return row_groups.map(({ num_rows }, index) => {
    const start = end;
    end += Number(num_rows);
    return { index, start, end };
  });
}
