// Text in blocks of many lines, unpacked and in UTF-8: what a reader has not used stands at the front of the next block.

import { textOf } from "./bytes.ts";
import { ChangedError, DataError, type FilePosition, type Remedy } from "./refusal.ts";
import {
  type ByteFile,
  type Limits,
  type OpenedFile,
  type Opener,
  type TextEncoding,
  textEncodings,
  wholeLimits,
  withByteFile,
} from "./source.ts";

const BLOCK_BYTES = 4 * 2 ** 20;
const NEWLINE = 10;
const REPLACEMENT = "\uFFFD";
const encoder = new TextEncoder();

export interface Feed {
  readonly file: string;
  readonly ending: string;
  /** Bytes 0 ... length - 1 are text; the one after them is 0, which no number contains. */
  readonly bytes: Uint8Array;
  readonly length: number;
  /** Of byte 0. */
  readonly line: number;
  /** Whether the text ends with this block. Its last line then ends with a line feed, given or added. */
  readonly ended: boolean;
  /** Whether that line feed was added here. */
  readonly completed: boolean;
  /** Whether the text began with a byte order mark, which is no part of it. */
  readonly marked: boolean;
  /** Drops the first `used` bytes and reads on behind the rest, which begins with `line`. */
  advance(used: number, line: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * The column in which a byte of the feed stands: its name, or its number from 1, or undefined in text without columns. The
 * feed begins with a whole record.
 */
type ColumnAt = (feed: Feed, at: number) => string | number | undefined;

/**
 * `columnAt` is asked only where text is refused. Text that `isLined` is looked at up to the last line's end. Long, as all
 * of it works on one buffer.
 */
export async function openFeed(
  source: OpenedFile,
  limits: Limits,
  columnAt: ColumnAt,
  { isLined = true } = {},
): Promise<Feed> {
  const stream = streamOf(source, limits, (rule, got, remedy, cause) => {
    throw new DataError(placeOf(feed, text.length, columnAt), rule, got, remedy, { cause });
  });
  const most = BLOCK_BYTES + limits.lineBytes;
  // A small file needs a small buffer: one byte more than it has shows its end.
  const isSmall = source.container !== "gzip" && source.encoding === undefined && source.size < most;
  const bytes = new Uint8Array(2 + (isSmall ? source.size + 1 : most));
  const { file, ending } = source;
  const text = { file, ending, bytes, length: 0, line: 1, ended: false, completed: false, marked: false };
  // How many of the bytes are known to be text.
  let checked = 0;
  const fill = async () => {
    // One byte is for the line feed that may be missing, one for the 0.
    const full = bytes.length - 2;
    while (!text.ended && text.length < full) {
      const read = await stream.read(bytes.subarray(text.length, full));
      text.length += read;
      text.ended = read === 0;
    }
    if (text.ended && text.length > 0 && bytes[text.length - 1] !== NEWLINE) {
      bytes[text.length++] = NEWLINE;
      text.completed = true;
    }
    bytes[text.length] = 0;
  };
  /** Behind the last byte that is a letter of its own: of others the rest may be in the next block. */
  const lastLetter = () => {
    let end = text.length;
    while (end > 0 && bytes[end - 1] > 127) end--;
    return end;
  };
  /** Before anything is read from them. A line that goes on in the next block is looked at then. */
  const check = () => {
    const end = text.ended ? text.length : isLined ? bytes.lastIndexOf(NEWLINE, text.length - 1) + 1 : lastLetter();
    const fresh = bytes.subarray(checked, end);
    if (!source.platform.isText(fresh)) refuseByte(feed, checked, end, columnAt);
    checked = end;
  };
  const advance = async (used: number, line: number) => {
    bytes.copyWithin(0, used, text.length);
    text.length -= used;
    text.line = line;
    checked -= used;
    await fill();
    check();
  };
  const feed: Feed = Object.assign(text, { advance, close: () => stream.close() });
  try {
    await fill();
    // It has grown since: a line of it may be longer than the buffer, and would never end.
    if (isSmall && !text.ended) throw new ChangedError(source.file);
    if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
      bytes.copyWithin(0, 3, text.length + 1);
      text.length -= 3;
      text.marked = true;
    }
    check();
    return feed;
  } catch (error) {
    await stream.close();
    throw error;
  }
}

function placeOf(feed: Feed, at: number, columnAt: ColumnAt): FilePosition {
  let { line } = feed;
  for (let end = feed.bytes.indexOf(NEWLINE); end >= 0 && end < at; end = feed.bytes.indexOf(NEWLINE, end + 1)) line++;
  const column = columnAt(feed, at);
  return { file: feed.file, line, ...(column !== undefined && { column }) };
}

/** Text is UTF-8; anything else would come back changed. */
function refuseByte(feed: Feed, from: number, to: number, columnAt: ColumnAt): never {
  const bytes = feed.bytes.subarray(from, to);
  const zero = bytes.indexOf(0);
  const strange = firstStrange(bytes);
  const at = zero < 0 || strange < zero ? strange : zero;
  const saved: Remedy = { kind: "text", text: "save the file as UTF-8" };
  const remedy: Remedy[] =
    zero < 0
      ? [saved, { kind: "encoding", encoding: "latin1" }]
      : [{ kind: "text", text: "export it as CSV in UTF-8: this is UTF-16, or no text at all" }];
  const got = `byte 0x${bytes[at].toString(16).padStart(2, "0")}`;
  throw new DataError(placeOf(feed, from + at, columnAt), "be UTF-8 text", got, remedy);
}

/** Where the bytes stop being UTF-8: what cannot be decoded comes out as a replacement character that does not stand there. */
function firstStrange(bytes: Uint8Array): number {
  const text = textOf(bytes, 0, bytes.length);
  let at = 0;
  let from = 0;
  for (let next = text.indexOf(REPLACEMENT); next >= 0; next = text.indexOf(REPLACEMENT, next + 1)) {
    at += encoder.encode(text.slice(from, next)).length;
    from = next;
    if (bytes[at] !== 0xef || bytes[at + 1] !== 0xbf || bytes[at + 2] !== 0xbd) return at;
  }
  return bytes.length;
}

/** Text as bytes 0 ... length - 1, the last of which is a line feed unless the text goes on. */
export interface TextBytes {
  readonly file: string;
  /** The name whose ending says what it is, if that is another. */
  readonly ending?: string;
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** A small file as a whole: UTF-8 without its byte order mark, its last line ended. */
export async function wholeText(open: Opener): Promise<TextBytes> {
  return withByteFile(open, wholeLimits, async (file) => {
    const feed = await openFeed(file, wholeLimits, () => undefined);
    await feed.close();
    return feed;
  });
}

/** Packed bytes that cannot be unpacked any further; who reads them knows the line and column that this is. */
type RefuseUnpacking = (rule: string, got: string, remedy: string, cause?: unknown) => never;

interface ByteStream {
  /** Fills `into` from its start as far as the next piece goes; 0 at the end. */
  read(into: Uint8Array): Promise<number>;
  close(): Promise<void>;
}

/** The text of a source, unpacked and in UTF-8. */
function streamOf(source: OpenedFile, limits: Limits, refuse: RefuseUnpacking): ByteStream {
  const bytes = source.container === "gzip" ? gunzipped(source, limits, refuse) : plain(source);
  return source.encoding === undefined ? bytes : recoded(bytes, source.encoding);
}

/** Of pieces of any length; undefined ends them. */
function pieceStream(next: () => Promise<Uint8Array | undefined>, close: () => Promise<void>): ByteStream {
  let rest: Uint8Array | undefined = new Uint8Array();
  return {
    async read(into) {
      while (rest?.length === 0) rest = await next();
      if (rest === undefined) return 0;
      const length = Math.min(rest.length, into.length);
      into.set(rest.subarray(0, length));
      rest = rest.subarray(length);
      return length;
    },
    close,
  };
}

const RECODED_PIECE = 2 ** 16;

/** In UTF-8 what is in another encoding. */
function recoded(bytes: ByteStream, encoding: TextEncoding): ByteStream {
  const decoder = new TextDecoder(textEncodings[encoding]);
  const piece = new Uint8Array(RECODED_PIECE);
  const next = async () => {
    const length = await bytes.read(piece);
    const text = decoder.decode(piece.subarray(0, length), { stream: length > 0 });
    return length === 0 && text === "" ? undefined : encoder.encode(text);
  };
  return pieceStream(next, () => bytes.close());
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

function gunzipped(source: OpenedFile, limits: Limits, refuse: RefuseUnpacking): ByteStream {
  const unpacked = source.platform.gunzip(pieces(source))[Symbol.asyncIterator]();
  let allowed = limits.fileBytes;
  const next = async () => {
    const { value, done } = await unpacked.next().catch((error: unknown) => {
      return refuse("come from whole gzip data", "data that is cut or damaged", "pack or copy the file again", error);
    });
    if (done) return undefined;
    if (allowed === 0 && value.length > 0) {
      const rule = `be within the first ${limits.fileBytes} unpacked bytes`;
      refuse(rule, "more", "split the file into one per device, or take a sample of its rows");
    }
    const piece = value.subarray(0, allowed);
    allowed -= piece.length;
    return piece;
  };
  return pieceStream(next, async () => void (await unpacked.return?.()));
}
