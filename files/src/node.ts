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

export const { labelFile, nameOfLabelled, readBounds, readLayout, readLinks, readTable } =
  /* @__PURE__ */ formatReaders(openerOf);
