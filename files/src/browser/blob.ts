// A file that somebody chose or dropped in a page, or any other Blob; and what every host of today's JavaScript can do.

import { DataError } from "../source/refusal.ts";
import type { ByteFile, PieceWriter, Platform } from "../source/source.ts";

export const webPlatform: Platform = {
  isText(bytes) {
    if (bytes.includes(0)) return false;
    try {
      new TextDecoder("utf-8", { fatal: true }).decode(bytes);
      return true;
    } catch {
      return false;
    }
  },
  gunzip: (packed) => chunks(streamOf(packed).pipeThrough(new DecompressionStream("gzip"))),
  inflate,
  throughGzip,
  compressors: {},
};

/** Piece by piece: what unpacks to more than it says is given up at once. */
async function inflate(packed: Uint8Array, length: number): Promise<Uint8Array> {
  const unpacked = new Uint8Array(length);
  let at = 0;
  const whole = new Blob([packed as Uint8Array<ArrayBuffer>]).stream();
  const stream = whole.pipeThrough(new DecompressionStream("deflate-raw"));
  for await (const piece of chunks(stream)) {
    if (at + piece.length > length) throw new Error("more than it says");
    unpacked.set(piece, at);
    at += piece.length;
  }
  return unpacked.subarray(0, at);
}

function streamOf(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await iterator.next();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: async () => void (await iterator.return?.()),
  });
}

/** Not every browser can iterate over a stream. */
async function* chunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value;
  } finally {
    // The stream may have failed already, which was thrown then.
    await reader.cancel().catch(() => {});
  }
}

async function throughGzip(write: PieceWriter, work: (text: PieceWriter) => Promise<void>): Promise<void> {
  const { readable, writable } = new CompressionStream("gzip");
  const packer = writable.getWriter();
  const written = (async () => {
    for await (const piece of chunks(readable)) await write(piece);
  })();
  const worked = work((piece) => packer.write(piece as Uint8Array<ArrayBuffer>)).then(
    () => packer.close(),
    (error: unknown) => packer.abort(error),
  );
  // Whichever side fails ends the other one too, and `written` says the cause.
  await Promise.all([written, worked.catch(() => {})]);
}

/** What a Blob without a name is called. */
const NAMELESS = "data";

export function openBlob(blob: Blob, platform: Platform): ByteFile {
  const file = "name" in blob && typeof blob.name === "string" ? blob.name : NAMELESS;
  return {
    file,
    ending: file,
    size: blob.size,
    platform,
    async read(into, at) {
      const piece = await blob
        .slice(at, at + into.length)
        .arrayBuffer()
        .catch((error: unknown) => {
          const remedy = "choose the file again";
          throw new DataError({ file }, "be a file that can be read", "one that changed or is gone", remedy, {
            cause: error,
          });
        });
      into.set(new Uint8Array(piece));
      return piece.byteLength;
    },
    // A Blob is what it was, or cannot be read any more.
    isUnchanged: async () => true,
    close: async () => {},
  };
}
