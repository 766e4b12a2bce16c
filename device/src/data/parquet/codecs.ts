// Decompression of Parquet pages: Node's own where it has it, which is several times faster, else in JavaScript.

import * as zlib from "node:zlib";
import type { Compressors } from "hyparquet";
import { compressors as portable } from "hyparquet-compressors";

/** Since Node 22.15. */
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: (bytes: Uint8Array) => Uint8Array };

export const compressors: Compressors = {
  ...portable,
  GZIP: (bytes) => zlib.gunzipSync(bytes),
  BROTLI: (bytes) => zlib.brotliDecompressSync(bytes),
  ...(zstdDecompressSync && { ZSTD: (bytes: Uint8Array) => zstdDecompressSync(bytes) }),
};
