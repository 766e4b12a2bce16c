// Frames on a stream of bytes: each behind its length, which is judged before anything is kept for it.

/** Seven bits a byte, lowest first, as in LEB128; lengths below 2^28 take at most this many bytes. */
const LONGEST_PREFIX = 4;

/** Stands before a frame, where a length would, and asks for its confirmation. */
const ASK = 0;

/** The bytes that go on the stream for one frame. */
export function withLength(frame: Uint8Array, isAsking = false): Uint8Array {
  const prefix: number[] = isAsking ? [ASK] : [];
  for (let rest = frame.length; ; rest >>>= 7) {
    if (rest < 0x80) {
      prefix.push(rest);
      break;
    }
    prefix.push((rest & 0x7f) | 0x80);
  }
  const bytes = new Uint8Array(prefix.length + frame.length);
  bytes.set(prefix);
  bytes.set(frame, prefix.length);
  return bytes;
}

export interface FrameReader {
  /** Takes what arrived. Returns why the rest cannot be read, if a length is one that no frame of ours has. */
  read(bytes: Uint8Array): string | undefined;
  /** Whether a frame has begun and not ended. */
  readonly midway: boolean;
  /** How long the frame that has begun will be; 0 while that is not known. */
  readonly expected: number;
}

/** Puts arriving bytes together again. Keeps one frame of at most `maxFrame` bytes, and gives each away, with whether it asks. */
export function frameReader(maxFrame: number, onFrame: (frame: Uint8Array, isAsking: boolean) => void): FrameReader {
  let frame: Uint8Array | undefined;
  let filled = 0;
  let length = 0;
  let prefixBytes = 0;
  let isAsking = false;

  const readPrefix = (byte: number): string | undefined => {
    length += (byte & 0x7f) * 2 ** (7 * prefixBytes);
    prefixBytes += 1;
    const ended = byte < 0x80;
    if (length > maxFrame || (!ended && prefixBytes === LONGEST_PREFIX)) {
      return `a frame must have at most ${maxFrame} bytes, got ${length} or more`;
    }
    if (!ended) return undefined;
    if (length === 0) {
      // ASK is one byte, once.
      if (isAsking || prefixBytes > 1) return "a frame must have at least 1 byte, got 0";
      isAsking = true;
      prefixBytes = 0;
      return undefined;
    }
    frame = new Uint8Array(length);
    filled = 0;
    length = 0;
    prefixBytes = 0;
    return undefined;
  };

  return {
    read(bytes) {
      let at = 0;
      while (at < bytes.length) {
        if (frame === undefined) {
          const reason = readPrefix(bytes[at]);
          if (reason !== undefined) return reason;
          at += 1;
          continue;
        }
        const part = bytes.subarray(at, at + frame.length - filled);
        frame.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < frame.length) continue;
        const whole = frame;
        const asks = isAsking;
        frame = undefined;
        isAsking = false;
        onFrame(whole, asks);
      }
      return undefined;
    },
    get midway() {
      return frame !== undefined || prefixBytes > 0 || isAsking;
    },
    get expected() {
      return frame?.length ?? 0;
    },
  };
}
