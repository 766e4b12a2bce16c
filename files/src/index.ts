// Files in and labels out, where there is no file system: tables, links and bounds from Blobs. Nothing here needs Node. The
// ending of a File's name says which text it is: a Blob without a name is taken for delimited text, unless it is Parquet.

import { openBlob, webPlatform } from "./browser/blob.ts";
import { formatReaders } from "./formats/readers.ts";

export * from "./portable.ts";

const readers = /* @__PURE__ */ formatReaders((blob: Blob) => async () => openBlob(blob, webPlatform));
/** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
export const labelFile = readers.labelFile;
/** The bounds that a file states for these columns. */
export const readBounds = readers.readBounds;
/** What a file is like before its rows are read. */
export const readLayout = readers.readLayout;
/** The links between devices of these names that a file lists. */
export const readLinks = readers.readLinks;
/**
 * The chosen columns of a file as numbers. A file that changes meanwhile is read once more, then refused.
 * @example const { points, columns } = await readTable(droppedFile);
 */
export const readTable = readers.readTable;
