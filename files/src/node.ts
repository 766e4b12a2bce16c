// Files in and labels out, in Node: files by their paths, and Blobs as everywhere.

import { openBlob } from "./browser/blob.ts";
import { nodePlatform, openFile } from "./node/file.ts";
import { fileReaders } from "./readers.ts";

export { expandPatterns, systemReason } from "./node/paths.ts";
export * from "./portable.ts";

const openerOf = (input: string | Blob) => async () =>
  typeof input === "string" ? openFile(input) : openBlob(input, nodePlatform);

export const { labelFile, nameOfLabelled, readBounds, readLayout, readLinks, readTable } =
  /* @__PURE__ */ fileReaders(openerOf);
