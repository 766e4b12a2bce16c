// A file as readers see it, wherever it lives: what kind it is by its first bytes, its text unpacked, and whether it stayed
// the same meanwhile. What only a platform can do stands behind two small interfaces.

import type { Compressors } from "hyparquet";
import { ChangedError, DataError, type Remedy } from "./refusal.ts";

/** How much a file may hold. What is larger is refused at once instead of filling the memory. */
export interface Limits {
  /** Of the file on disk, and of a compressed one when unpacked. */
  readonly fileBytes: number;
  readonly lineBytes: number;
  readonly rows: number;
  readonly columns: number;
  /** Numbers read: rows times chosen columns. */
  readonly cells: number;
  /** Size of a number: beyond 2^53 not every whole number is a double, and a cell would be changed without a word. */
  readonly magnitude: number;
  /** Different values of a category. */
  readonly values: number;
}

/** Limits of files that nobody has asked to change. */
export const defaultLimits: Limits = {
  fileBytes: 2 * 2 ** 30,
  lineBytes: 2 ** 20,
  rows: 5e6,
  columns: 1024,
  cells: 1e8,
  magnitude: 2 ** 53,
  values: 256,
};

/** Of files that are read as a whole: links and bounds. */
export const wholeLimits: Limits = { ...defaultLimits, fileBytes: 64 * 2 ** 20, lineBytes: 64 * 2 ** 20 };

/** Takes a file in pieces; each is the taker's own. */
export type PieceWriter = (piece: Uint8Array) => Promise<void>;

/** What Node and browsers do in ways of their own. */
export interface Platform {
  /** Whether the bytes are UTF-8 without a zero byte. */
  isText(bytes: Uint8Array): boolean;
  /** Unpacks gzip data; throws where it is cut or damaged. */
  gunzip(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Unpacks deflated data of this length when unpacked; throws where it is cut, damaged or longer. */
  inflate(packed: Uint8Array, length: number): Promise<Uint8Array>;
  /** Packs what `work` writes, piece by piece, and writes it on. */
  throughGzip(write: PieceWriter, work: (text: PieceWriter) => Promise<void>): Promise<void>;
  /** For pages of Parquet files, where it has better ones than JavaScript; none gives more bytes than it is asked for. */
  readonly compressors: Compressors;
}

export interface ByteFile {
  /** As refusals call it. */
  readonly file: string;
  /** The name whose ending says which text it is; of a file in an archive not that of the archive. */
  readonly ending: string;
  readonly size: number;
  readonly platform: Platform;
  /** Fills `into` with the bytes from `at` on and returns how many they are: some, or 0 at the file's end. */
  read(into: Uint8Array, at: number): Promise<number>;
  isUnchanged(): Promise<boolean>;
  close(): Promise<void>;
}

export type Opener = () => Promise<ByteFile>;

type Container = "text" | "gzip" | "parquet" | "npy" | "zip";

export interface OpenedFile extends ByteFile {
  readonly container: Container;
  /** Of text that is not UTF-8. */
  readonly encoding?: TextEncoding | undefined;
}

/** Encodings of text besides UTF-8, by the names that TextDecoder has for them. */
export const textEncodings = { latin1: "windows-1252", utf16: "utf-16le" } as const;
/** Encodings of text files that are known. */
export type TextEncoding = keyof typeof textEncodings;

/** Enough to tell the kinds of files apart. */
const FIRST_BYTES = 16;

/** Reads a file and closes it. One that changed meanwhile is read once more, unless only one try is allowed, then refused. */
export async function withByteFile<T>(
  open: Opener,
  limits: Limits,
  work: (file: OpenedFile) => Promise<T>,
  encoding?: TextEncoding,
  tries = 2,
): Promise<T> {
  const bytes = await open();
  try {
    const result = await work(await openedByteFile(bytes, limits, encoding));
    if (await bytes.isUnchanged()) return result;
    throw new ChangedError(bytes.file);
  } catch (error) {
    if (!(error instanceof ChangedError) || tries === 1) throw error;
  } finally {
    await bytes.close();
  }
  return withByteFile(open, limits, work, encoding, tries - 1);
}

/** A file of a size and a kind that can be read. */
export async function openedByteFile(bytes: ByteFile, limits: Limits, encoding?: TextEncoding): Promise<OpenedFile> {
  const { file, size } = bytes;
  if (size > limits.fileBytes) {
    const remedy = "split it into one file per device, or take a sample of its rows";
    throw new DataError({ file, whole: true }, `be of at most ${limits.fileBytes} bytes`, `${size}`, remedy);
  }
  const first = new Uint8Array(FIRST_BYTES);
  const length = await bytes.read(first, 0);
  return { ...bytes, container: containerOf(file, first.subarray(0, length), encoding), encoding };
}

/** What else a file may turn out to be by its first bytes, a pattern of hexadecimal digits, and what then helps. */
const strangers: readonly (readonly [bytes: string, name: string, remedy: string | readonly Remedy[]])[] = [
  [
    "d0cf11e0",
    "an old Excel workbook (.xls), or one with a password",
    "save it as .xlsx without a password, or as CSV",
  ],
  ["28b52ffd", "zstd data", "unpack it first"],
  ["425a68", "bzip2 data", "unpack it first"],
  ["fd377a585a", "xz data", "unpack it first"],
  ["4152524f5731", "an Arrow file", "save it as Parquet or CSV"],
  ["89484446", "an HDF5 file", "save it as Parquet or CSV"],
  ["53514c697465", "an SQLite database", "name a table of it, as sqlite:FILE?table=NAME"],
  [
    "fffe",
    "UTF-16 text",
    [
      { kind: "encoding", encoding: "utf16" },
      { kind: "text", text: "save it as UTF-8" },
    ],
  ],
  ["feff", "UTF-16 text", "save it as UTF-8"],
];

function containerOf(file: string, first: Uint8Array, encoding?: TextEncoding): Container {
  const hex = Array.from(first, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex.startsWith("1f8b")) return "gzip";
  if (hex.startsWith("50415231")) return "parquet";
  if (hex.startsWith("934e554d5059")) return "npy";
  if (/^504b0[35]0[46]/.test(hex)) return "zip";
  if (encoding !== undefined) return "text";
  const stranger = strangers.find(([bytes]) => new RegExp(`^${bytes}`).test(hex));
  if (stranger === undefined) return "text";
  const [, name, remedy] = stranger;
  const position = { file, line: 1, column: 1 };
  throw new DataError(position, "begin CSV, TSV, JSON, Parquet, an Excel workbook or a NumPy array", name, remedy);
}
