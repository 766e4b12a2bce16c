// What every host of today's JavaScript can do, browsers and Node alike.

import type { PieceWriter, Platform } from "../source.ts";

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
  const stream = streamOf(one(packed)).pipeThrough(new DecompressionStream("deflate-raw"));
  for await (const piece of chunks(stream)) {
    if (at + piece.length > length) throw new Error("more than it says");
    unpacked.set(piece, at);
    at += piece.length;
  }
  return unpacked.subarray(0, at);
}

async function* one(piece: Uint8Array): AsyncGenerator<Uint8Array> {
  yield piece;
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
