// Files in and labels out, where there is no file system: tables, links and bounds from Blobs. Nothing here needs Node. The
// ending of a File's name says which text it is: a Blob without a name is taken for delimited text, unless it is Parquet.

import { openBlob, webPlatform } from "./browser/blob.ts";
import { formatReaders } from "./formats/readers.ts";

export * from "./portable.ts";

export const { labelFile, readBounds, readLayout, readLinks, readTable } = /* @__PURE__ */ formatReaders(
  (blob: Blob) => async () => openBlob(blob, webPlatform),
);
