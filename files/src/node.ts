// Files in and labels out, in Node: files by their paths, and Blobs as everywhere.

import { openBlob } from "./browser/blob.ts";
import { formatReaders } from "./formats/readers.ts";
import { nodePlatform, openFile } from "./node/file.ts";
import { unzipped, zipBytes, zipEntries } from "./source/zip.ts";

export { expandPatterns, fileSystemReason } from "./node/paths.ts";
export * from "./portable.ts";
export { zipBytes };

/** Every file of a zip archive, by its name. */
export async function readZip(path: string): Promise<Map<string, Uint8Array>> {
  const bytes = await openFile(path);
  try {
    const files = new Map<string, Uint8Array>();
    for (const entry of await zipEntries(bytes)) files.set(entry.name, await unzipped(bytes, entry));
    return files;
  } finally {
    await bytes.close();
  }
}

const openerOf = (input: string | Blob) => async () =>
  typeof input === "string" ? openFile(input) : openBlob(input, nodePlatform);

const readers = /* @__PURE__ */ formatReaders(openerOf);
/** The file with a column of labels, in pieces. Returns the names of columns that its format's writer cannot carry over. */
export const labelFile = readers.labelFile;
/** What the labelled copy of a file is to be called: in some formats none is written. */
export const nameOfLabelled = readers.nameOfLabelled;
/** The bounds that a file states for these columns. */
export const readBounds = readers.readBounds;
/** What a file is like before its rows are read. */
export const readLayout = readers.readLayout;
/** The links between devices of these names that a file lists. */
export const readLinks = readers.readLinks;
/**
 * The chosen columns of a file as numbers. A file that changes meanwhile is read once more, then refused.
 * @example const { points, columns } = await readTable("north.csv");
 */
export const readTable = readers.readTable;
