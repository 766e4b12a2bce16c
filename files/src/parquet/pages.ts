// One column of one group of rows, page by page. hyparquet decodes the pages; its own way from pages to rows builds nested
// values one by one, which for a plain column of a million numbers takes longer than everything else.

import type {
  ColumnMetaData,
  CompressionCodec,
  Compressors,
  DataPageHeader,
  DecodedArray,
  PageHeader,
  SchemaElement,
  SchemaTree,
} from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { decompressPage, readDataPage, readDataPageV2 } from "hyparquet/src/datapage.js";
import { readPlain } from "hyparquet/src/plain.js";
import { compressors as portable } from "hyparquet-compressors";
import zstandard from "zstandard-wasm";
import { crc32 } from "../source/bytes.ts";
import { DataError, type Remedy } from "../source/refusal.ts";

const DAMAGED = "a page that cannot be unpacked";

/** None unpacks more or fewer bytes than it is asked for, and all fail in the same words. */
export function parquetCompressors(own: Compressors): Compressors {
  const all: Compressors = {
    ...portable,
    GZIP: gunzipPage,
    // Asked for 0, the decoder would take the length that the bytes state.
    ZSTD: (bytes, length) => (length === 0 ? new Uint8Array() : zstandard.decompress(bytes, length)),
    ...own,
  };
  return Object.fromEntries(Object.entries(all).map(([codec, unpack]) => [codec, checked(unpack)]));
}

/** The decoder fills what a cut or damaged page leaves open with zeros: only the checksum at its end can show that. */
function gunzipPage(packed: Uint8Array, length: number): Uint8Array {
  const unpacked = portable.GZIP?.(packed, length) ?? new Uint8Array();
  const trailer = new DataView(packed.buffer, packed.byteOffset + packed.length - 8, 8);
  if (trailer.getUint32(4, true) !== length || trailer.getUint32(0, true) !== crc32(unpacked)) throw new Error(DAMAGED);
  return unpacked;
}

type Unpack = (bytes: Uint8Array, length: number) => Uint8Array;

function checked(unpack: Unpack): Unpack {
  return (bytes, length) => {
    let unpacked: Uint8Array;
    try {
      unpacked = unpack(bytes, length);
    } catch (error) {
      // Each decoder has words of its own for it, which say nothing about the file.
      throw new Error(DAMAGED, { cause: error });
    }
    if (unpacked.length !== length) throw new Error(DAMAGED);
    return owned(unpacked);
  };
}

/** The bytes in a buffer that ends with them: what is read from it beyond their end is an error, not something else. */
function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** To be awaited before pages of this codec are unpacked. */
export async function prepareParquetCodec(codec: CompressionCodec): Promise<void> {
  if (codec === "ZSTD") await zstandard.loadWASM();
}

type ColumnDecoder = Parameters<typeof readDataPage>[2];

export interface ColumnPage {
  readonly rows: number;
  /** Stored values of the rows that have one; places in the dictionary if there is one. */
  readonly values: DecodedArray;
  readonly dictionary: DecodedArray | undefined;
  /** 1 for rows that have a value, 0 for null; undefined if all have one. */
  readonly defined: ArrayLike<number> | undefined;
}

/** Unpacked; no writer makes such pages, and a header that states more is not believed. */
const MOST_PAGE_BYTES = 2 ** 28;

/** Where in the file reading is: at first a chunk of a column, then its pages one after the other. */
export interface Cursor {
  readonly file: string;
  readonly column: string;
  part: string;
  byte: number;
}

interface ColumnChunk {
  readonly about: ColumnMetaData;
  /** From the root of the schema to the column. */
  readonly path: SchemaTree[];
  readonly compressors: Compressors;
}

/** Moves the cursor from page to page. */
export function* readPages(chunk: Uint8Array, column: ColumnChunk, cursor: Cursor): Generator<ColumnPage> {
  const { about, path, compressors } = column;
  const { part, byte } = cursor;
  const { element } = path[path.length - 1];
  const { codec, type } = about;
  const reader = { view: new DataView(chunk.buffer, chunk.byteOffset, chunk.byteLength), offset: 0 };
  const decoder: ColumnDecoder = {
    type,
    element,
    schemaPath: path,
    codec,
    compressors,
    pathInSchema: about.path_in_schema,
    parsers: unused,
  };
  const withoutNulls = { ...decoder, schemaPath: asRequired(path) };
  let dictionary: DecodedArray | undefined;
  for (let left = Number(about.num_values), page = 1; left > 0; page++) {
    cursor.part = `${part}, page ${page}`;
    cursor.byte = byte + reader.offset;
    const header = parquetHeader(reader);
    checkHeader(header, left, chunk.length - reader.offset);
    const bytes = chunk.subarray(reader.offset, reader.offset + header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    const unpacked = () => owned(decompressPage(bytes, header.uncompressed_page_size, codec, compressors));
    const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: words } = header;
    if (header.type === "DICTIONARY_PAGE" && words !== undefined) {
      dictionary = plainValues(unpacked(), words.num_values, element);
      continue;
    }
    const about = first ?? second;
    if (about === undefined) throw new Error(`page of type ${header.type}`);
    if (about.encoding === "DELTA_BINARY_PACKED" && element.converted_type === "UINT_32") {
      // The decoder takes their first value for a signed one: from 2^31 on every value would be off by 2^31.
      const remedies: Remedy[] = [
        { kind: "leave-out-columns", columns: [element.name] },
        { kind: "text", text: "write it in another encoding" },
      ];
      throw new DataError({ ...cursor }, "be stored plainly", "delta encoding of unsigned numbers", remedies);
    }
    const { dataPage, definitionLevels } = first
      ? readFirstVersion(unpacked(), first, element, decoder, withoutNulls)
      : readDataPageV2(owned(bytes), header, decoder);
    const rows = about.num_values;
    // An older writer says that none is null by saying nothing.
    const defined = definitionLevels !== undefined && definitionLevels.length > 0 ? definitionLevels : undefined;
    yield {
      rows,
      values: dataPage,
      dictionary: about.encoding.endsWith("_DICTIONARY") ? dictionary : undefined,
      defined,
    };
    left -= rows;
  }
}

function asRequired(path: SchemaTree[]): SchemaTree[] {
  const leaf = path[path.length - 1];
  return [...path.slice(0, -1), { ...leaf, element: { ...leaf.element, repetition_type: "REQUIRED" } }];
}

/** Most pages have no nulls and say so in one run of ones; the decoder would write out a level for every row. */
function readFirstVersion(
  bytes: Uint8Array,
  header: DataPageHeader,
  element: SchemaElement,
  decoder: ColumnDecoder,
  withoutNulls: ColumnDecoder,
): ReturnType<typeof readDataPage> {
  const end = element.repetition_type === "OPTIONAL" ? endOfOnes(bytes, header.num_values) : 0;
  return end > 0 ? readDataPage(bytes.subarray(end), header, withoutNulls) : readDataPage(bytes, header, decoder);
}

/** Where values begin behind levels that are one run of so many ones; 0 for all other levels. */
function endOfOnes(bytes: Uint8Array, count: number): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 4) return 0;
  const end = 4 + view.getUint32(0, true);
  let header = 0;
  let p = 4;
  // The number of values, doubled, seven bits a byte; an odd one is packed bits instead of a run.
  for (let factor = 1; p < bytes.length && p < 9; factor *= 128) {
    header += factor * (bytes[p] & 127);
    if (bytes[p++] < 128) break;
  }
  return header === 2 * count && bytes[p] === 1 && end === p + 1 ? end : 0;
}

/** What a header states is used to reserve memory and to find the next one: it must be possible before it is believed. */
function checkHeader(header: PageHeader, left: number, rest: number): void {
  const { compressed_page_size, uncompressed_page_size, data_page_header, data_page_header_v2 } = header;
  const states = (what: string, value: number | undefined, most: number) => {
    if (value === undefined || !(value >= 0 && value <= most)) throw new Error(`a page of ${value} ${what}`);
  };
  states("bytes", compressed_page_size, rest);
  states("unpacked bytes", uncompressed_page_size, MOST_PAGE_BYTES);
  const { dictionary_page_header: words } = header;
  if (words !== undefined) states("words", words.num_values, uncompressed_page_size);
  for (const own of [data_page_header, data_page_header_v2]) {
    if (own !== undefined) states("rows", own.num_values, left);
  }
  if (data_page_header_v2 === undefined) return;
  const { num_values, num_nulls, definition_levels_byte_length, repetition_levels_byte_length } = data_page_header_v2;
  states("nulls", num_nulls, num_values);
  states("bytes of levels", definition_levels_byte_length + repetition_levels_byte_length, compressed_page_size);
}

/** Conversions happen later, where types are known. */
const unused = {} as never;

function plainValues(bytes: Uint8Array, count: number, { type, type_length }: SchemaElement): DecodedArray {
  if (type === undefined) throw new Error("a dictionary of a nested column");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readPlain({ view, offset: 0 }, type, count, type_length);
}
