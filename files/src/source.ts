// A file on disk: what kind it is by its first bytes, its text in blocks, and whether it stayed the same meanwhile.

import { createReadStream } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { createGunzip } from "node:zlib";
import type { Limits } from "./limits.ts";
import { DataError } from "./refusal.ts";

type Container = "text" | "gzip" | "parquet";

export interface Source {
  readonly file: string;
  readonly container: Container;
  readonly bytes: number;
  /** Changes whenever the file does. */
  readonly version: string;
}

const versionOf = ({ size, mtimeMs, ino }: { size: number; mtimeMs: number; ino: number }) =>
  `${size} ${mtimeMs} ${ino}`;

export async function openSource(file: string, limits: Limits): Promise<Source> {
  const about = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const got = error.code === "ENOENT" ? "no such file" : (error.code ?? String(error));
    throw new DataError({ file }, "be a file that can be read", got, "check the path", { cause: error });
  });
  if (about.isDirectory()) {
    throw new DataError({ file }, "be a file", "a folder", `name its files, such as ${file.replace(/\/*$/, "")}/*.csv`);
  }
  if (!about.isFile())
    throw new DataError({ file }, "be a regular file", "a device or pipe", "save it as a file first");
  if (about.size > limits.fileBytes) {
    const remedy = "split it into one file per device, or take a sample of its rows";
    throw new DataError({ file, whole: true }, `be of at most ${limits.fileBytes} bytes`, `${about.size}`, remedy);
  }
  const handle = await open(file, "r").catch((error: NodeJS.ErrnoException) => {
    throw new DataError({ file }, "be a file that can be read", error.code ?? String(error), "check its permissions");
  });
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(8), 0, 8, 0);
    const container = containerOf(file, buffer.subarray(0, bytesRead));
    return { file, container, bytes: about.size, version: versionOf(about) };
  } finally {
    await handle.close();
  }
}

/** What else a file may turn out to be, and what then helps. */
const strangers: readonly (readonly [bytes: string, name: string, remedy: string])[] = [
  ["504b0304", "a zip archive or an Excel workbook", "unpack it, or save the sheet as CSV"],
  ["d0cf11e0", "an Excel workbook", "save the sheet as CSV"],
  ["28b52ffd", "zstd data", "unpack it first"],
  ["425a68", "bzip2 data", "unpack it first"],
  ["fd377a585a", "xz data", "unpack it first"],
  ["4152524f5731", "an Arrow file", "save it as Parquet or CSV"],
  ["89484446", "an HDF5 file", "save it as Parquet or CSV"],
  ["53514c697465", "an SQLite database", "export the table as CSV"],
  ["fffe", "UTF-16 text", "save it as UTF-8"],
  ["feff", "UTF-16 text", "save it as UTF-8"],
];

function containerOf(file: string, first: Buffer): Container {
  const hex = first.toString("hex");
  if (hex.startsWith("1f8b")) return "gzip";
  if (hex.startsWith("50415231")) return "parquet";
  const stranger = strangers.find(([bytes]) => hex.startsWith(bytes));
  if (stranger === undefined) return "text";
  const [, name, remedy] = stranger;
  const place = { file, line: 1, column: 1 };
  throw new DataError(place, "begin CSV, TSV, JSON lines or Parquet (text also as .gz)", name, remedy);
}

/** Throws if the file is not the one that was opened. */
export async function checkUnchanged({ file, version }: Source): Promise<void> {
  const now = await stat(file).then(versionOf, () => "gone");
  if (now !== version) throw new ChangedError(file);
}

/** Somebody wrote to the file while it was read; worth one more try. */
export class ChangedError extends DataError {
  constructor(file: string) {
    const remedy = "wait until it is written, or read a copy";
    super({ file, whole: true }, "stay the same while it is read", "a change", remedy);
  }
}

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

/** The text of a source, unpacked. */
export async function openBytes(source: Source, limits: Limits): Promise<ByteStream> {
  return source.container === "gzip" ? gunzipped(source, limits) : plain(await open(source.file, "r"));
}

function plain(handle: FileHandle): ByteStream {
  return {
    read: async (into) => (await handle.read(into, 0, into.length)).bytesRead,
    close: () => handle.close(),
  };
}

function gunzipped({ file }: Source, limits: Limits): ByteStream {
  const raw = createReadStream(file);
  const unpacked = raw.pipe(createGunzip({ chunkSize: 2 ** 18 }));
  raw.on("error", (error) => unpacked.destroy(error));
  const pieces = unpacked[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let rest: Buffer = Buffer.alloc(0);
  let allowed = limits.fileBytes;
  const next = async () => {
    try {
      return await pieces.next();
    } catch (error) {
      const got = error instanceof Error ? error.message : String(error);
      throw new UnpackError("come from whole gzip data", got, "pack or copy the file again", { cause: error });
    }
  };
  return {
    async read(into) {
      if (rest.length === 0) {
        const { value, done } = await next();
        if (done) return 0;
        if (allowed === 0) {
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
    async close() {
      unpacked.destroy();
      raw.destroy();
    },
  };
}
