// Decompression of Parquet pages: gzip and Brotli by Node, Zstandard in WebAssembly, the others in JavaScript.

import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { CompressionCodec, Compressors } from "hyparquet";
import { compressors as portable } from "hyparquet-compressors";
import { ZSTDDecoder } from "zstddec";

const zstandard = new ZSTDDecoder();

/** None unpacks more bytes than it is told to; that there are as many is checked by its caller. */
export const compressors: Compressors = {
  ...portable,
  GZIP: (bytes, length) => owned(gunzipSync(bytes, { maxOutputLength: Math.max(1, length) })),
  BROTLI: (bytes, length) => owned(brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) })),
  // Told 0, the decoder would take the length that the bytes state.
  ZSTD: (bytes, length) => (length === 0 ? new Uint8Array() : zstandard.decode(bytes, length)),
};

/** To be awaited before pages of this codec are unpacked. */
export async function prepareCodec(codec: CompressionCodec): Promise<void> {
  if (codec === "ZSTD") await zstandard.init();
}

/** The bytes in a buffer that ends with them: what is read from it beyond their end is an error, not something else. */
export function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}
