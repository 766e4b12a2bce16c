// Text in blocks of many lines: what a reader has not used stands at the front of the next block.

import { isUtf8 } from "node:buffer";
import type { Limits } from "./limits.ts";
import { DataError } from "./refusal.ts";
import { openBytes, type Source } from "./source.ts";

const BLOCK_BYTES = 4 * 2 ** 20;
const NEWLINE = 10;

export interface Feed {
  readonly file: string;
  /** Bytes 0 ... length - 1 are text; the one after them is 0, which no number contains. */
  readonly bytes: Buffer;
  readonly length: number;
  /** Whether the text ends with this block. Its last line then ends with a line feed, given or added. */
  readonly ended: boolean;
  /** Whether that line feed was added here. */
  readonly completed: boolean;
  /** Whether the text began with a byte order mark, which is no part of it. */
  readonly marked: boolean;
  /** Drops the first `used` bytes, which are lines from `line` on, and reads on behind the rest. */
  advance(used: number, line: number): Promise<void>;
  close(): Promise<void>;
}

export async function openFeed(source: Source, limits: Limits): Promise<Feed> {
  const { file } = source;
  const stream = await openBytes(source, limits);
  const most = BLOCK_BYTES + limits.lineBytes;
  // A small file needs a small buffer: one byte more than it has shows its end.
  const bytes = Buffer.alloc(2 + (source.container === "gzip" ? most : Math.min(most, source.bytes + 1)));
  const state = { file, bytes, length: 0, ended: false, completed: false, marked: false };
  const fill = async () => {
    // One byte is for the line feed that may be missing, one for the 0.
    const full = bytes.length - 2;
    while (!state.ended && state.length < full) {
      const read = await stream.read(bytes.subarray(state.length, full));
      state.length += read;
      state.ended = read === 0;
    }
    if (state.ended && state.length > 0 && bytes[state.length - 1] !== NEWLINE) {
      bytes[state.length++] = NEWLINE;
      state.completed = true;
    }
    bytes[state.length] = 0;
  };
  const advance = async (used: number, line: number) => {
    checkText(file, bytes.subarray(0, used), line);
    bytes.copyWithin(0, used, state.length);
    state.length -= used;
    await fill();
  };
  try {
    await fill();
  } catch (error) {
    await stream.close();
    throw error;
  }
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    bytes.copyWithin(0, 3, state.length + 1);
    state.length -= 3;
    state.marked = true;
  }
  return Object.assign(state, { advance, close: () => stream.close() });
}

/** Text is UTF-8; anything else would come back changed. */
function checkText(file: string, bytes: Buffer, line: number): void {
  if (isUtf8(bytes) && !bytes.includes(0)) return;
  for (let from = 0, at = line; from < bytes.length; at++) {
    const end = bytes.indexOf(NEWLINE, from);
    const to = end < 0 ? bytes.length : end + 1;
    const own = bytes.subarray(from, to);
    if (own.includes(0)) refuseByte(file, at, "0x00", "this is no text file; export it as CSV or Parquet");
    if (!isUtf8(own)) refuseByte(file, at, firstStrange(own), "save the file as UTF-8");
    from = to;
  }
}

function refuseByte(file: string, line: number, byte: string, remedy: string): never {
  throw new DataError({ file, line }, "be UTF-8 text", `byte ${byte}`, remedy);
}

function firstStrange(bytes: Buffer): string {
  let good = 0;
  // The longest beginning that is text; a character has up to four bytes.
  for (let end = 1; end <= bytes.length; end++) if (isUtf8(bytes.subarray(0, end))) good = end;
  return `0x${bytes[good].toString(16)} after ${good} good bytes`;
}
