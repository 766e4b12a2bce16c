// Frames to and from programs in other languages (fedkm pipe, plug-ins in Python): a length, a header as JSON, and the
// arrays that it announces as raw little-endian numbers.

/** What an array holds: doubles, or whole numbers from 0 to 2^32 - 1. */
const kinds = { f8: Float64Array, u4: Uint32Array } as const;

type Kind = keyof typeof kinds;
type Numbers = Float64Array | Uint32Array;

/** A frame of `fedkm pipe`: a header and arrays. */
export interface Frame {
  readonly header: Readonly<Record<string, unknown>>;
  readonly arrays: readonly FrameArray[];
}

/** An array of a frame, row after row. */
export interface FrameArray {
  readonly rows: number;
  readonly cols: number;
  readonly data: Numbers;
}

/** A longer header is no request of ours, but bytes that were never meant as one. */
const LONGEST_HEADER = 2 ** 24;

/** The bytes of the header's length. */
const LENGTH = 4;

/** Numbers are handed over as they lie in memory. */
if (new Uint8Array(Uint16Array.of(1).buffer)[0] !== 1) throw new Error("frames need a little-endian machine");

/** A frame of `fedkm pipe` in pieces, without copying its arrays. */
export function* encodePipeFrame(header: Frame["header"], arrays: readonly FrameArray[]): Generator<Uint8Array> {
  const announced = arrays.map(({ data, rows, cols }) => ({ kind: kindOf(data), rows, cols }));
  const text = new TextEncoder().encode(JSON.stringify({ ...header, arrays: announced }));
  yield new Uint8Array(Uint32Array.of(text.length).buffer);
  yield text;
  for (const { data } of arrays) yield new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function kindOf(data: Numbers): Kind {
  return data instanceof Float64Array ? "f8" : "u4";
}

/** The frames of a stream, one after the other. A stream that ends within a frame is refused. */
export async function* decodePipeFrames(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const bytes = new Incoming(pieces);
  for (;;) {
    const length = await bytes.take(LENGTH, { orEnd: true });
    if (length === undefined) return;
    const header = headerOf(await bytes.take(lengthOf(length)));
    const arrays: FrameArray[] = [];
    for (const { kind, rows, cols } of announcedArrays(header)) {
      const { buffer } = await bytes.take(rows * cols * kinds[kind].BYTES_PER_ELEMENT);
      arrays.push({ rows, cols, data: new kinds[kind](buffer) });
    }
    yield { header, arrays };
  }
}

/** A frame that is there in full. */
export function decodePipeFrame(bytes: Uint8Array): Frame {
  let at = 0;
  const take = (length: number) => {
    if (at + length > bytes.length)
      throw new Error(`a frame must be whole, got ${bytes.length - at} of ${length} bytes`);
    at += length;
    // A copy of its own, also of Node's buffers, whose slices are not.
    return new Uint8Array(bytes.subarray(at - length, at));
  };
  const header = headerOf(take(lengthOf(take(LENGTH))));
  const arrays = announcedArrays(header).map(({ kind, rows, cols }) => ({
    rows,
    cols,
    data: new kinds[kind](take(rows * cols * kinds[kind].BYTES_PER_ELEMENT).buffer),
  }));
  return { header, arrays };
}

function lengthOf(bytes: Uint8Array): number {
  const [length] = new Uint32Array(new Uint8Array(bytes).buffer);
  if (length > LONGEST_HEADER)
    throw new Error(`a frame's header must have at most ${LONGEST_HEADER} bytes, got ${length}`);
  return length;
}

function headerOf(bytes: Uint8Array): Frame["header"] {
  try {
    const header: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    if (typeof header === "object" && header !== null && !Array.isArray(header)) return { ...header };
  } catch {
    // Said below, in one way for all that is no object.
  }
  throw new Error("a frame's header must be a JSON object, got something else");
}

function announcedArrays({ arrays }: Frame["header"]): { kind: Kind; rows: number; cols: number }[] {
  if (!Array.isArray(arrays) || !arrays.every(isAnnounced))
    throw new Error("a frame's arrays must be a list of { kind, rows, cols }, got something else");
  return arrays;
}

function isAnnounced(value: unknown): value is { kind: Kind; rows: number; cols: number } {
  const { kind, rows, cols } = (value ?? {}) as Partial<Record<"kind" | "rows" | "cols", unknown>>;
  return (
    typeof kind === "string" &&
    Object.hasOwn(kinds, kind) &&
    [rows, cols].every((size) => Number.isSafeInteger(size) && Number(size) >= 0) &&
    Number(rows) * Number(cols) <= 2 ** 32
  );
}

/** Bytes of a stream by the number that is wanted, in a buffer of their own each time. */
class Incoming {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  async take(length: number): Promise<Uint8Array<ArrayBuffer>>;
  /** Undefined where the stream has ended before the first byte. */
  async take(length: number, ends: { orEnd: true }): Promise<Uint8Array<ArrayBuffer> | undefined>;
  async take(length: number, ends?: { orEnd: true }): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const taken = new Uint8Array(length);
    let filled = 0;
    while (filled < length) {
      if (this.#rest.length === 0) {
        const { value, done } = await this.#pieces.next();
        if (done && ends !== undefined && filled === 0) return undefined;
        if (done) throw new Error(`a frame must be whole, got ${filled} of ${length} bytes`);
        this.#rest = value;
      }
      const part = this.#rest.subarray(0, length - filled);
      taken.set(part, filled);
      filled += part.length;
      this.#rest = this.#rest.subarray(part.length);
    }
    return taken;
  }
}
