// Bytes: those of a part of a file, several pieces as one, their text and their checksum.

/** What bytes can be read from; at the end of the file `read` gives 0. */
interface ReadableBytes {
  readonly size: number;
  read(into: Uint8Array, at: number): Promise<number>;
}

/** Bytes from ... to - 1, at the front of `into`; fewer where the file ends before. */
export async function readBytes(
  file: ReadableBytes,
  from: number,
  to: number,
  into = new Uint8Array(Math.max(0, Math.min(to, file.size) - from)),
): Promise<Uint8Array<ArrayBuffer>> {
  let at = 0;
  for (let length = 1; at < into.length && length > 0; at += length) {
    length = await file.read(into.subarray(at), from + at);
  }
  return into.subarray(0, at);
}

export function joinBytes(pieces: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A decoder costs more to call than so many letters to join; most cells are shorter. */
const SHORT = 24;

/** UTF-8 bytes from ... to - 1 as text, a byte order mark in the middle included. */
export function textOf(bytes: Uint8Array, from: number, to: number): string {
  if (to - from > SHORT) return decoder.decode(bytes.subarray(from, to));
  let text = "";
  for (let p = from; p < to; p++) {
    if (bytes[p] > 127) return decoder.decode(bytes.subarray(from, to));
    text += String.fromCharCode(bytes[p]);
  }
  return text;
}

const POLYNOMIAL = 0xedb88320;

const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
  return value;
});

/** The checksum of gzip data and zip archives (RFC 1952). */
export function crc32(bytes: Uint8Array): number {
  let value = 0xffffffff;
  for (const byte of bytes) value = remainders[(value ^ byte) & 255] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
