// Decompression of Parquet pages: what the platform does itself, Zstandard in WebAssembly, the others in JavaScript.

import type { CompressionCodec, Compressors } from "hyparquet";
import { compressors as portable } from "hyparquet-compressors";
import zstandard from "zstandard-wasm";
import { crc32 } from "../checksum.ts";

const DAMAGED = "a page that cannot be unpacked";

/** None unpacks more or fewer bytes than it is asked for, and all fail in the same words. */
export function compressorsWith(own: Compressors): Compressors {
  const all: Compressors = {
    ...portable,
    GZIP: gunzipPage,
    // Asked for 0, the decoder would take the length that the bytes state.
    ZSTD: (bytes, length) => (length === 0 ? new Uint8Array() : zstandard.decompress(bytes, length)),
    ...own,
  };
  return Object.fromEntries(Object.entries(all).map(([codec, unpack]) => [codec, checked(unpack)]));
}

/** The decoder fills what a cut or damaged page leaves open with zeros: only the checksum at its end can show that. */
function gunzipPage(packed: Uint8Array, length: number): Uint8Array {
  const unpacked = portable.GZIP?.(packed, length) ?? new Uint8Array();
  const trailer = new DataView(packed.buffer, packed.byteOffset + packed.length - 8, 8);
  if (trailer.getUint32(4, true) !== length || trailer.getUint32(0, true) !== crc32(unpacked)) throw new Error(DAMAGED);
  return unpacked;
}

type Unpack = (bytes: Uint8Array, length: number) => Uint8Array;

function checked(unpack: Unpack): Unpack {
  return (bytes, length) => {
    let unpacked: Uint8Array;
    try {
      unpacked = unpack(bytes, length);
    } catch (error) {
      // Each decoder has words of its own for it, which say nothing about the file.
      throw new Error(DAMAGED, { cause: error });
    }
    if (unpacked.length !== length) throw new Error(DAMAGED);
    return owned(unpacked);
  };
}

/** The bytes in a buffer that ends with them: what is read from it beyond their end is an error, not something else. */
export function owned(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : new Uint8Array(bytes);
}

/** To be awaited before pages of this codec are unpacked. */
export async function prepareCodec(codec: CompressionCodec): Promise<void> {
  if (codec === "ZSTD") await zstandard.loadWASM();
}
