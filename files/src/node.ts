// Files in and labels out, in Node: files by their paths, and Blobs as everywhere.

import { openBlob } from "./browser/blob.ts";
import { formatReaders } from "./formats/readers.ts";
import { nodePlatform, openFile } from "./node/file.ts";

export { expandPatterns, fileSystemReason } from "./node/paths.ts";
export * from "./portable.ts";

const openerOf = (input: string | Blob) => async () =>
  typeof input === "string" ? openFile(input) : openBlob(input, nodePlatform);

export const { labelFile, nameOfLabelled, readBounds, readLayout, readLinks, readTable } =
  /* @__PURE__ */ formatReaders(openerOf);
