// Decompression of Parquet pages: what the platform does itself, Zstandard in WebAssembly, the others in JavaScript.

import type { CompressionCodec, Compressors } from "hyparquet";
import { compressors as portable } from "hyparquet-compressors";
import { ZSTDDecoder } from "zstddec";

const zstandard = new ZSTDDecoder();

/** None unpacks more bytes than it is asked for; that there are as many is checked by its caller. */
export function compressorsWith(own: Compressors): Compressors {
  return {
    ...portable,
    // Asked for 0, the decoder would take the length that the bytes state.
    ZSTD: (bytes, length) => (length === 0 ? new Uint8Array() : zstandard.decode(bytes, length)),
    ...Object.fromEntries(
      Object.entries(own).map(([codec, unpack]) => [
        codec,
        (bytes: Uint8Array, length: number) => owned(unpack(bytes, length)),
      ]),
    ),
  };
}

/** The bytes in a buffer that ends with them: what is read from it beyond their end is an error, not something else. */
export function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** To be awaited before pages of this codec are unpacked. */
export async function prepareCodec(codec: CompressionCodec): Promise<void> {
  if (codec === "ZSTD") await zstandard.init();
}
