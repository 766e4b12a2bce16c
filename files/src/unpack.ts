// The text of a file as a stream of bytes, unpacked where it is packed, and never more of it than the limits allow.

import type { Limits } from "./limits.ts";
import { type ByteFile, type Source, type TextEncoding, textEncodings } from "./source.ts";

/** Packed bytes that cannot be unpacked any further; who reads them knows the line and column that this is. */
export class UnpackError extends Error {
  readonly rule: string;
  readonly got: string;
  readonly remedy: string;

  constructor(rule: string, got: string, remedy: string, options?: ErrorOptions) {
    super(`unpacked text must ${rule}, got ${got}; ${remedy}`, options);
    this.rule = rule;
    this.got = got;
    this.remedy = remedy;
  }
}

/** Bytes in order, into buffers of the reader. */
export interface ByteStream {
  /** Fills `into` from its start as far as the next piece goes; 0 at the end. Throws an UnpackError where it cannot. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** The text of a source, unpacked and in UTF-8. */
export function streamOf(source: Source, limits: Limits): ByteStream {
  const bytes = source.container === "gzip" ? gunzipped(source, limits) : plain(source);
  return source.encoding === undefined ? bytes : recoded(bytes, source.encoding);
}

const RECODED_PIECE = 2 ** 16;

/** In UTF-8 what is in another encoding. */
function recoded(bytes: ByteStream, encoding: TextEncoding): ByteStream {
  const decoder = new TextDecoder(textEncodings[encoding]);
  const encoder = new TextEncoder();
  const piece = new Uint8Array(RECODED_PIECE);
  let rest: Uint8Array = new Uint8Array();
  return {
    async read(into) {
      for (let length = 1; rest.length === 0 && length > 0; ) {
        length = await bytes.read(piece);
        rest = encoder.encode(decoder.decode(piece.subarray(0, length), { stream: length > 0 }));
      }
      const length = Math.min(rest.length, into.length);
      into.set(rest.subarray(0, length));
      rest = rest.subarray(length);
      return length;
    },
    close: () => bytes.close(),
  };
}

function plain(bytes: ByteFile): ByteStream {
  let at = 0;
  return {
    async read(into) {
      const length = await bytes.read(into, at);
      at += length;
      return length;
    },
    close: async () => {},
  };
}

const PACKED_PIECE = 2 ** 18;

/** Each piece is new: an unpacker may hold on to it. */
async function* pieces(bytes: ByteFile): AsyncGenerator<Uint8Array> {
  for (let at = 0; ; ) {
    const piece = new Uint8Array(Math.min(PACKED_PIECE, bytes.size + 1));
    const length = await bytes.read(piece, at);
    if (length === 0) return;
    yield piece.subarray(0, length);
    at += length;
  }
}

function gunzipped(source: Source, limits: Limits): ByteStream {
  const unpacked = source.platform.gunzip(pieces(source))[Symbol.asyncIterator]();
  let rest: Uint8Array = new Uint8Array();
  let allowed = limits.fileBytes;
  const next = () =>
    unpacked.next().catch((error: unknown) => {
      const remedy = "pack or copy the file again";
      throw new UnpackError("come from whole gzip data", "data that is cut or damaged", remedy, { cause: error });
    });
  return {
    async read(into) {
      while (rest.length === 0) {
        const { value, done } = await next();
        if (done) return 0;
        if (allowed === 0 && value.length > 0) {
          const rule = `be within the first ${limits.fileBytes} unpacked bytes`;
          throw new UnpackError(rule, "more", "split the file into one per device, or take a sample of its rows");
        }
        rest = value.subarray(0, allowed);
        allowed -= rest.length;
      }
      const length = Math.min(rest.length, into.length);
      into.set(rest.subarray(0, length));
      rest = rest.subarray(length);
      return length;
    },
    close: async () => void (await unpacked.return?.()),
  };
}
