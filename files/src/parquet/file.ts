// A Parquet file: its columns by their types, and their values as they are stored, nothing converted on the way.

import { type FileMetaData, parquetMetadataAsync, parquetSchema, type SchemaElement, type SchemaTree } from "hyparquet";
import { readBytes } from "../source/bytes.ts";
import { DataError, type FilePosition } from "../source/refusal.ts";
import type { ByteFile } from "../source/source.ts";
import { type ColumnPage, type Cursor, parquetCompressors, prepareParquetCodec, readPages } from "./pages.ts";

interface RowGroup {
  readonly index: number;
  /** Rows start ... end - 1 of the file. */
  readonly start: number;
  readonly end: number;
}

/** Takes a page and the row of the file where it begins. The page's values are good until it returns. */
type PageUser = (page: ColumnPage, row: number) => void;

export interface ParquetFile {
  readonly file: string;
  readonly rows: number;
  /** The columns with their types, in the file's order; nested ones have children. */
  readonly elements: readonly SchemaElement[];
  readonly groups: readonly RowGroup[];
  /** Calls back with the pages of one column that is not nested, in order. */
  read(column: string, group: RowGroup, use: PageUser): Promise<void>;
}

export async function openParquet(bytes: ByteFile): Promise<ParquetFile> {
  const { file, size } = bytes;
  const slice = (start: number, end = size) => parquetSlice(bytes, start, end);
  // The footer's length and four letters end the file.
  const footer: FilePosition = { file, part: "footer", byte: Math.max(0, size - 8) };
  const { metadata, root, groups } = await guardParquet(footer, async () => {
    const about = await parquetMetadataAsync({ byteLength: size, slice });
    return { metadata: about, root: parquetSchema(about), groups: rowGroups(about) };
  });
  return {
    file,
    rows: groups.at(-1)?.end ?? 0,
    elements: root.children.map(({ element }) => element),
    groups,
    read: chunkReader(bytes, metadata, root),
  };
}

function chunkReader(bytes: ByteFile, { row_groups }: FileMetaData, root: SchemaTree): ParquetFile["read"] {
  const { file, size, platform } = bytes;
  const compressors = parquetCompressors(platform.compressors);
  // One buffer for all chunks: a new one for each would wait for the collector, file after file in memory.
  let buffer = new ArrayBuffer(0);
  return (column, group, use) => {
    const cursor: Cursor = { file, column, part: `row group ${group.index + 1}`, byte: 0 };
    return guardParquet(cursor, async () => {
      const own = row_groups[group.index].columns.find(({ meta_data }) => meta_data?.path_in_schema[0] === column);
      const about = own?.meta_data;
      const leaf = root.children.find(({ element }) => element.name === column);
      if (about === undefined || leaf === undefined) throw new Error("no such column in this row group");
      await prepareParquetCodec(about.codec);
      const start = Number(about.dictionary_page_offset ?? about.data_page_offset);
      const length = Number(about.total_compressed_size);
      if (!(start >= 0 && length >= 0 && start + length <= size)) throw new Error("a chunk beyond the file's end");
      if (buffer.byteLength < length) buffer = new ArrayBuffer(length);
      cursor.byte = start;
      await parquetSlice(bytes, start, start + length, buffer);
      let row = group.start;
      const chunk = { about, path: [root, leaf], compressors };
      for (const page of readPages(new Uint8Array(buffer, 0, length), chunk, cursor)) {
        if (row + page.rows > group.end) throw new Error("more values than rows");
        use(page, row);
        row += page.rows;
      }
      if (row < group.end) throw new Error("fewer values than rows");
    });
  };
}

/** Bytes start ... end - 1 of the file, at the front of the buffer; a file that ends before is an error. */
export async function parquetSlice(
  file: ByteFile,
  start: number,
  end: number,
  buffer = new ArrayBuffer(end - start),
): Promise<ArrayBuffer> {
  const { length } = await readBytes(file, start, end, new Uint8Array(buffer, 0, end - start));
  if (length < end - start) throw new Error(`the file ends before byte ${end}`);
  return buffer;
}

/** What a decoder trips over is the file's fault; what we refuse ourselves is said already. */
export async function guardParquet<T>(position: FilePosition, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DataError) throw error;
    // An engine's own words about its own code mean nothing to whoever has the file.
    const isEngine = error instanceof TypeError || error instanceof RangeError;
    const got = error instanceof Error && !isEngine ? error.message : "bytes that cannot be decoded";
    const remedy = "copy or write the file again";
    throw new DataError({ ...position }, "be that of a whole Parquet file", got, remedy, { cause: error });
  }
}

function rowGroups({ row_groups }: FileMetaData): RowGroup[] {
  let end = 0;
  return row_groups.map(({ num_rows }, index) => {
    const start = end;
    const rows = Number(num_rows);
    if (!Number.isSafeInteger(rows) || rows < 0) throw new Error(`${num_rows} rows in row group ${index + 1}`);
    end += rows;
    return { index, start, end };
  });
}
