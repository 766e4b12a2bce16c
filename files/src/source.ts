// A file as readers see it, wherever it lives: what kind it is by its first bytes, its text unpacked, and whether it stayed
// the same meanwhile. What only a platform can do stands behind two small interfaces.

import type { Compressors } from "hyparquet";
import type { Limits } from "./limits.ts";
import { ChangedError, DataError } from "./refusal.ts";

/** Takes a file in pieces; each is the taker's own. */
export type PieceWriter = (piece: Uint8Array) => Promise<void>;

/** What Node and browsers do in ways of their own. */
export interface Platform {
  /** Whether the bytes are UTF-8 without a zero byte. */
  isText(bytes: Uint8Array): boolean;
  /** Unpacks gzip data; throws where it is cut or damaged. */
  gunzip(packed: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>;
  /** Packs what `work` writes, piece by piece, and writes it on. */
  throughGzip(write: PieceWriter, work: (text: PieceWriter) => Promise<void>): Promise<void>;
  /** For pages of Parquet files, where it has better ones than JavaScript; none gives more bytes than it is asked for. */
  readonly compressors: Compressors;
}

/** A file's bytes, open for reading. */
export interface ByteFile {
  /** As refusals call it; its ending says which text it is. */
  readonly file: string;
  readonly size: number;
  readonly platform: Platform;
  /** Fills `into` with the bytes from `at` on and returns how many they are: some, or 0 at the file's end. */
  read(into: Uint8Array, at: number): Promise<number>;
  isUnchanged(): Promise<boolean>;
  close(): Promise<void>;
}

export type Opener = () => Promise<ByteFile>;

type Container = "text" | "gzip" | "parquet";

export interface Source extends ByteFile {
  readonly container: Container;
}

/** Enough for the name of the first file in a zip archive, which begins at byte 30. */
const FIRST_BYTES = 64;

/** Reads a file and closes it. One that changed meanwhile is read once more, then refused. */
export async function reading<T>(open: Opener, limits: Limits, work: (source: Source) => Promise<T>): Promise<T> {
  try {
    return await readingOnce(open, limits, work);
  } catch (error) {
    if (!(error instanceof ChangedError)) throw error;
    return readingOnce(open, limits, work);
  }
}

export async function readingOnce<T>(open: Opener, limits: Limits, work: (source: Source) => Promise<T>): Promise<T> {
  const bytes = await open();
  try {
    const result = await work(await sourceOf(bytes, limits));
    if (!(await bytes.isUnchanged())) throw new ChangedError(bytes.file);
    return result;
  } finally {
    await bytes.close();
  }
}

/** A file of a size and a kind that can be read. */
export async function sourceOf(bytes: ByteFile, limits: Limits): Promise<Source> {
  const { file, size } = bytes;
  if (size > limits.fileBytes) {
    const remedy = "split it into one file per device, or take a sample of its rows";
    throw new DataError({ file, whole: true }, `be of at most ${limits.fileBytes} bytes`, `${size}`, remedy);
  }
  const first = new Uint8Array(FIRST_BYTES);
  const length = await bytes.read(first, 0);
  return { ...bytes, container: containerOf(file, first.subarray(0, length)) };
}

const FROM_NUMPY = 'save the array as CSV with numpy.savetxt("rows.csv", array, delimiter=",")';

/** What else a file may turn out to be by its first bytes, a pattern of hexadecimal digits, and what then helps. */
const strangers: readonly (readonly [bytes: string, name: string, remedy: string])[] = [
  ["934e554d5059", "a NumPy array (.npy)", FROM_NUMPY],
  // A zip archive whose first file is called something.npy.
  ["504b0304(?:..)*2e6e7079", "NumPy arrays (.npz)", FROM_NUMPY],
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

function containerOf(file: string, first: Uint8Array): Container {
  const hex = Array.from(first, (byte) => byte.toString(16).padStart(2, "0")).join("");
  if (hex.startsWith("1f8b")) return "gzip";
  if (hex.startsWith("50415231")) return "parquet";
  const stranger = strangers.find(([bytes]) => new RegExp(`^${bytes}`).test(hex));
  if (stranger === undefined) return "text";
  const [, name, remedy] = stranger;
  const place = { file, line: 1, column: 1 };
  throw new DataError(place, "begin CSV, TSV, JSON lines or Parquet (text also as .gz)", name, remedy);
}
