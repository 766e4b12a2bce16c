// One column of one group of rows, page by page. hyparquet decodes the pages; its own way from pages to rows builds nested
// values one by one, which for a plain column of a million numbers takes longer than everything else.

import type { ColumnMetaData, DecodedArray, SchemaElement, SchemaTree } from "hyparquet";
import { parquetHeader } from "hyparquet/src/column.js";
import { decompressPage, readDataPage, readDataPageV2 } from "hyparquet/src/datapage.js";
import { readPlain } from "hyparquet/src/plain.js";
import { asArgument, DataError } from "../refusal.ts";
import { compressors } from "./codecs.ts";

export interface Page {
  /** Rows of the page. */
  readonly rows: number;
  /** Stored values of the rows that have one; places in the dictionary if there is one. */
  readonly values: DecodedArray;
  readonly dictionary: DecodedArray | undefined;
  /** 1 for rows that have a value, 0 for null; undefined if all have one. */
  readonly defined: ArrayLike<number> | undefined;
}

/** `path` leads from the root of the schema to the column. */
export function* readPages(
  file: string,
  chunk: ArrayBuffer,
  about: ColumnMetaData,
  path: SchemaTree[],
): Generator<Page> {
  const { element } = path[path.length - 1];
  const { codec, type } = about;
  const reader = { view: new DataView(chunk), offset: 0 };
  const decoder = {
    type,
    element,
    schemaPath: path,
    codec,
    compressors,
    pathInSchema: about.path_in_schema,
    parsers: unused,
  };
  let dictionary: DecodedArray | undefined;
  for (let left = Number(about.num_values); left > 0; ) {
    const header = parquetHeader(reader);
    const bytes = new Uint8Array(chunk, reader.offset, header.compressed_page_size);
    reader.offset += header.compressed_page_size;
    const unpacked = () => decompressPage(bytes, header.uncompressed_page_size, codec, compressors);
    const { data_page_header: first, data_page_header_v2: second, dictionary_page_header: words } = header;
    if (header.type === "DICTIONARY_PAGE" && words !== undefined) {
      dictionary = plainValues(unpacked(), words.num_values, element);
      continue;
    }
    const about = first ?? second;
    if (about === undefined) throw new Error(`page of type ${header.type}`);
    if (about.encoding === "DELTA_BINARY_PACKED" && element.converted_type === "UINT_32") {
      // The decoder takes their first value for a signed one: from 2^31 on every value would be off by 2^31.
      const remedy = `leave it out with --exclude ${asArgument([element.name])}, or write it in another encoding`;
      throw new DataError(
        { file, column: element.name },
        "be stored plainly",
        "delta encoding of unsigned numbers",
        remedy,
      );
    }
    const { dataPage, definitionLevels } = first
      ? readDataPage(unpacked(), first, decoder)
      : readDataPageV2(bytes, header, decoder);
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

/** Conversions happen later, where types are known. */
const unused = {} as never;

function plainValues(bytes: Uint8Array, count: number, { type, type_length }: SchemaElement): DecodedArray {
  if (type === undefined) throw new Error("a dictionary of a nested column");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return readPlain({ view, offset: 0 }, type, count, type_length);
}
