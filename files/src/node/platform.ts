// What Node does faster than anything that runs everywhere.

import { isUtf8 } from "node:buffer";
import { Readable } from "node:stream";
import { brotliDecompressSync, createGunzip, createGzip, gunzipSync, inflateRawSync } from "node:zlib";
import type { PieceWriter, Platform } from "../source.ts";

const UNPACKED_PIECE = 2 ** 18;

export const nodePlatform: Platform = {
  isText: (bytes) => isUtf8(bytes) && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(0),
  gunzip(packed) {
    const raw = Readable.from(packed);
    const unpacked = createGunzip({ chunkSize: UNPACKED_PIECE });
    raw.on("error", (error) => unpacked.destroy(error));
    unpacked.on("close", () => raw.destroy());
    return raw.pipe(unpacked);
  },
  inflate: async (packed, length) => inflateRawSync(packed, { maxOutputLength: Math.max(1, length) }),
  throughGzip,
  compressors: {
    GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: Math.max(1, length) }),
    BROTLI: (bytes, length) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) }),
  },
};

async function throughGzip(write: PieceWriter, work: (text: PieceWriter) => Promise<void>): Promise<void> {
  const gzip = createGzip();
  const written = (async () => {
    for await (const piece of gzip) await write(piece);
  })();
  const text: PieceWriter = (piece) =>
    new Promise((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
  // Failing work ends the stream, and through it what is written: `written` alone says the cause, whichever side failed first.
  const worked = work(text).then(
    () => void gzip.end(),
    (error: Error) => void gzip.destroy(error),
  );
  await Promise.all([written, worked]);
}
