// A file on disk, through Node's file system; and what Node does faster than anything that runs everywhere.

import { isUtf8 } from "node:buffer";
import { type FileHandle, open, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import * as zlib from "node:zlib";
import { webPlatform } from "../browser/blob.ts";
import { DataError } from "../source/refusal.ts";
import type { ByteFile, Platform } from "../source/source.ts";
import { fileSystemReason } from "./paths.ts";

const { brotliDecompressSync, createGunzip, gunzipSync, inflateRawSync } = zlib;
const UNPACKED_PIECE = 2 ** 18;

/** Node refuses smaller ones. */
const LEAST_PIECE = 64;

type Unzip = (bytes: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Uint8Array;
/** Since Node 22.15. */
const { zstdDecompressSync } = zlib as { zstdDecompressSync?: Unzip };

export const nodePlatform: Platform = {
  ...webPlatform,
  isText: (bytes) => isUtf8(bytes) && !Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(0),
  gunzip(packed) {
    const raw = Readable.from(packed);
    const unpacked = createGunzip({ chunkSize: UNPACKED_PIECE });
    raw.on("error", (error) => unpacked.destroy(error));
    unpacked.on("close", () => raw.destroy());
    return raw.pipe(unpacked);
  },
  inflate: async (packed, length) => inflateRawSync(packed, { maxOutputLength: Math.max(1, length) }),
  compressors: {
    GZIP: (bytes, length) => gunzipSync(bytes, { maxOutputLength: Math.max(1, length) }),
    BROTLI: (bytes, length) => brotliDecompressSync(bytes, { maxOutputLength: Math.max(1, length) }),
    ...(zstdDecompressSync && { ZSTD: unzipBy(zstdDecompressSync) }),
  },
};

/** In one piece of the page's length: pieces of the usual size would be joined once more. */
function unzipBy(unzip: Unzip) {
  return (bytes: Uint8Array, length: number) => {
    return unzip(bytes, { maxOutputLength: Math.max(1, length), chunkSize: Math.max(LEAST_PIECE, length) });
  };
}

/** Changes whenever the file does. */
const versionOf = ({ size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }) =>
  `${size} ${mtimeMs} ${ino}`;

export async function openFile(file: string): Promise<ByteFile> {
  const refuse = (remedy: string) => (error: unknown) => {
    throw new DataError({ file }, "be a file that can be read", fileSystemReason(error), remedy, { cause: error });
  };
  const about = await stat(file).catch(refuse("check the path"));
  if (about.isDirectory()) {
    throw new DataError({ file }, "be a file", "a folder", `name its files, such as ${file.replace(/\/*$/, "")}/*.csv`);
  }
  if (!about.isFile()) {
    throw new DataError({ file }, "be a regular file", "a device or pipe", "save it as a file first");
  }
  const handle: FileHandle = await open(file, "r").catch(refuse("check its permissions"));
  const version = versionOf(about);
  return {
    file,
    ending: file,
    size: about.size,
    platform: nodePlatform,
    read: async (into, at) => (await handle.read(into, 0, into.length, at)).bytesRead,
    // By its path: a file that was put in its place is another one.
    isUnchanged: async () => (await stat(file).then(versionOf, () => "gone")) === version,
    close: () => handle.close(),
  };
}
