// Zip archives: the list of their files, the bytes of one of them, and archives of our own. Nothing is unpacked before its size is known and
// allowed, and nothing is written anywhere, so that a name such as ../x is only a name.

import { crc32, joinBytes, readBytes } from "./bytes.ts";
import { DataError } from "./refusal.ts";
import type { ByteFile, Platform } from "./source.ts";

export interface ZipEntry {
  readonly name: string;
  readonly size: number;
  /** Where its own header begins. */
  readonly offset: number;
  readonly packedSize: number;
  readonly method: number;
  readonly checksum: number;
  readonly isEncrypted: boolean;
}

const STORED = 0;
const DEFLATED = 8;
const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const HEADER_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const HEADER_BYTES = 30;
/** The end of the archive may be followed by a comment of this length. */
const MOST_COMMENT = 0xffff;
const MOST_ENTRIES = 10_000;
/** Unpacked, of one file in an archive: it is held in memory as a whole. */
const MOST_UNPACKED = 2 ** 29;

const BROKEN = "copy or write the file again";

/** The files of an archive, folders apart. */
export async function zipEntries(bytes: ByteFile): Promise<ZipEntry[]> {
  const { file, size } = bytes;
  const from = Math.max(0, size - END_BYTES - MOST_COMMENT);
  const tail = await readBytes(bytes, from, size);
  const refuse = (got: string, byte: number): never => {
    throw new DataError({ file, part: "list of files", byte }, "be that of a whole zip archive", got, BROKEN);
  };
  let at = tail.length - END_BYTES;
  while (at >= 0 && uint32(tail, at) !== END_SIGNATURE) at--;
  if (at < 0) return refuse("an archive without its end", size);
  const [count, length, start] = [uint16(tail, at + 10), uint32(tail, at + 12), uint32(tail, at + 16)];
  if (start + length > from + at || count > MOST_ENTRIES) return refuse("a list that does not fit", from + at);
  const list = await readBytes(bytes, start, start + length);
  const entries: ZipEntry[] = [];
  for (let p = 0, n = 0; n < count; n++) {
    if (p + ENTRY_BYTES > list.length || uint32(list, p) !== ENTRY_SIGNATURE)
      return refuse("a damaged list", start + p);
    const names = p + ENTRY_BYTES;
    const entry = entryAt(list, p, names);
    p = names + uint16(list, p + 28) + uint16(list, p + 30) + uint16(list, p + 32);
    if (p > list.length || entry.offset + entry.packedSize > start) return refuse("a damaged list", start + p);
    if (entries.some(({ name }) => name === entry.name))
      return refuse(`two files ${JSON.stringify(entry.name)}`, start);
    if (!entry.name.endsWith("/")) entries.push(entry);
  }
  return entries;
}

function entryAt(list: Uint8Array, p: number, names: number): ZipEntry {
  return {
    name: new TextDecoder().decode(list.subarray(names, names + uint16(list, p + 28))),
    isEncrypted: (uint16(list, p + 8) & 1) === 1,
    method: uint16(list, p + 10),
    checksum: uint32(list, p + 16),
    packedSize: uint32(list, p + 20),
    size: uint32(list, p + 24),
    offset: uint32(list, p + 42),
  };
}

/** The bytes of a file in an archive, checked. */
export async function unzipped(bytes: ByteFile, entry: ZipEntry): Promise<Uint8Array> {
  const { name, size, packedSize, offset, method, checksum } = entry;
  const position = { file: bytes.file, part: JSON.stringify(name), byte: offset };
  const refuse = (rule: string, got: string, remedy: string): never => {
    throw new DataError(position, rule, got, remedy);
  };
  if (entry.isEncrypted) refuse("be readable without a password", "an encrypted file", "save it without a password");
  if (method !== STORED && method !== DEFLATED) {
    refuse("be stored or deflated", `compression method ${method}`, "unpack the archive first");
  }
  if (size > MOST_UNPACKED) {
    const remedy = "unpack it, or save the table as CSV or Parquet";
    refuse(`be of at most ${MOST_UNPACKED} bytes when unpacked`, `${size}`, remedy);
  }
  const header = await readBytes(bytes, offset, offset + HEADER_BYTES);
  if (header.length < HEADER_BYTES || uint32(header, 0) !== HEADER_SIGNATURE) {
    refuse("be part of a whole zip archive", "no file at its place", BROKEN);
  }
  const start = offset + HEADER_BYTES + uint16(header, 26) + uint16(header, 28);
  const packed = await readBytes(bytes, start, start + packedSize);
  let unpacked: Uint8Array | undefined;
  try {
    unpacked = method === STORED ? packed : await bytes.platform.inflate(packed, size);
  } catch {
    // The unpackers of the platforms have words of their own, which say nothing about the file.
  }
  if (unpacked === undefined || unpacked.length !== size || crc32(unpacked) !== checksum) {
    refuse("be unpacked as it was packed", "data that is cut or damaged", BROKEN);
  }
  return unpacked as Uint8Array;
}

/** A part of an archive as a file of its own; refusals call it by both names. */
export function memoryFile(outer: ByteFile, name: string, content: Uint8Array): ByteFile {
  return {
    file: outer.file,
    ending: name,
    size: content.length,
    platform: outer.platform,
    read: async (into, at) => {
      const piece = content.subarray(at, at + into.length);
      into.set(piece);
      return piece.length;
    },
    isUnchanged: () => outer.isUnchanged(),
    close: async () => {},
  };
}

const uint16 = (bytes: Uint8Array, at: number) => bytes[at] | (bytes[at + 1] << 8);
const uint32 = (bytes: Uint8Array, at: number) => (uint16(bytes, at) | (uint16(bytes, at + 2) << 16)) >>> 0;

/** Gzip holds what an archive needs: packed bytes behind a head of ten and before a tail of eight. */
const [GZIP_HEAD, GZIP_TAIL] = [10, 8];
/** The first of January 1980, the earliest that an archive can say. */
const NO_DATE = 0x21;

/**
 * An archive of these files. One that is called mimetype stands there as it is, as programs expect it; without a platform
 * all do, so that the same files always give the same bytes.
 */
export async function zipBytes(
  files: readonly { readonly name: string; readonly bytes: Uint8Array }[],
  platform?: Platform,
): Promise<Uint8Array> {
  const out: Uint8Array[] = [];
  const listed: Uint8Array[] = [];
  let at = 0;
  const put = (bytes: Uint8Array) => {
    out.push(bytes);
    at += bytes.length;
  };
  for (const { name, bytes } of files) {
    const isStored = platform === undefined || name === "mimetype";
    const body = isStored ? bytes : (await gzipped(bytes, platform)).subarray(GZIP_HEAD, -GZIP_TAIL);
    const title = new TextEncoder().encode(name);
    // The bit says that the name is in UTF-8.
    const about = [20, 0x800, isStored ? STORED : DEFLATED, 0, NO_DATE];
    const sizes = [crc32(bytes), body.length, bytes.length];
    const begin = at;
    put(record([0x04034b50], about, sizes, [title.length, 0]));
    put(title);
    put(body);
    listed.push(record([0x02014b50], [20, ...about], sizes, [title.length, 0, 0, 0, 0], [0, begin]), title);
  }
  const begin = at;
  for (const bytes of listed) put(bytes);
  put(record([0x06054b50], [0, 0, files.length, files.length], [at - begin, begin], [0]));
  return joinBytes(out);
}

/** Numbers of four and of two bytes in turn, the low byte first. */
function record(...groups: readonly (readonly number[])[]): Uint8Array {
  const size = groups.reduce((sum, own, i) => sum + own.length * (i % 2 === 0 ? 4 : 2), 0);
  const view = new DataView(new ArrayBuffer(size));
  let at = 0;
  for (const [i, own] of groups.entries()) {
    for (const value of own) {
      if (i % 2 === 0) view.setUint32(at, value, true);
      else view.setUint16(at, value, true);
      at += i % 2 === 0 ? 4 : 2;
    }
  }
  return new Uint8Array(view.buffer);
}

async function gzipped(bytes: Uint8Array, platform: Platform): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  await platform.throughGzip(
    async (piece) => void pieces.push(piece),
    (write) => write(bytes),
  );
  return joinBytes(pieces);
}
