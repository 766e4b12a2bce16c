// Frames on a stream of bytes, each behind its length, which is judged before anything is kept for it. The receiving half
// confirms them at a bounded pace; the sending half sends while there is credit, and else keeps the latest of each lane.

import type { Clock } from "../environment.ts";
import { frameLane } from "../wire/frames.ts";
import * as limits from "../wire/limits.ts";

/** Seven bits a byte, lowest first, as in LEB128; lengths below 2^28 take at most this many bytes. */
const LONGEST_PREFIX = 4;

/** Stands before a frame, where a length would, and asks for its confirmation. */
const ASK = 0;

/** The bytes that go on the stream for one frame. */
export function frameStreamBytes(frame: Uint8Array, isAsking = false): Uint8Array {
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

/** Puts arriving bytes together again. Keeps one frame of at most `maxFrame` bytes, and gives each away, with whether it asks. */
// Long: one closure over the frame under way and its length.
export function frameReader(maxFrame: number, onFrame: (frame: Uint8Array, isAsking: boolean) => void) {
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
    /** Takes what arrived. Returns why the rest cannot be read, if a length is one that no frame of ours has. */
    read(bytes: Uint8Array): string | undefined {
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
    /** Whether a frame has begun and not ended. */
    get midway() {
      return frame !== undefined || prefixBytes > 0 || isAsking;
    },
    /** How long the frame that has begun will be; 0 while that is not known. */
    get expected() {
      return frame?.length ?? 0;
    },
  };
}

interface IncomingFramesOptions {
  readonly maxFrame: number;
  readonly clock: Clock;
  onFrame(frame: Uint8Array): void;
  /** Sends a confirmation. */
  confirm(bytes: Uint8Array): void;
  /** The peer broke the rules: nothing more is read from this stream. */
  refuse(reason: string): void;
}

export type IncomingFrames = ReturnType<typeof incomingFrameStream>;

// Long: one closure over the frame under way and its confirmation.
export function incomingFrameStream({ maxFrame, clock, onFrame, confirm, refuse }: IncomingFramesOptions) {
  let frames = 0;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let cancelConfirmation: (() => void) | undefined;
  let cancelPatience: (() => void) | undefined;
  let closed = false;

  const close = () => {
    closed = true;
    cancelConfirmation?.();
    cancelPatience?.();
  };
  const giveUp = (reason: string) => {
    if (closed) return;
    close();
    refuse(reason);
  };
  const confirmNow = () => {
    cancelConfirmation = undefined;
    confirmedAt = clock.now();
    confirm(Uint8Array.of(frames));
    frames = 0;
  };
  const reader = frameReader(maxFrame, (frame, isAsking) => {
    if (closed) return;
    cancelPatience?.();
    cancelPatience = undefined;
    frames += 1;
    if (frames > limits.MOST_UNCONFIRMED_FRAMES) {
      giveUp(`more than ${limits.MOST_UNCONFIRMED_FRAMES} frames were sent without waiting for a confirmation`);
      return;
    }
    if (cancelConfirmation === undefined && (isAsking || frames >= limits.FRAMES_PER_CONFIRMATION)) {
      // Never from within the reading of bytes: what follows in the same bytes was sent without this confirmation.
      const wait = Math.max(0, confirmedAt + limits.BETWEEN_CONFIRMATIONS_MILLISECONDS - clock.now());
      cancelConfirmation = clock.after(wait, confirmNow);
    }
    onFrame(frame);
  });

  /** Gives up on a frame that began this many milliseconds ago, as soon as that is too long for its length. */
  const wait = (waited: number) => {
    const allowed = limits.FRAME_MILLISECONDS + (1000 * reader.expected) / limits.FRAME_BYTES_PER_SECOND;
    const giveUpNow = () => giveUp(`a frame did not end within ${Math.floor(allowed / 1000)} s`);
    cancelPatience =
      waited >= allowed
        ? clock.after(limits.FRAME_GRACE_MILLISECONDS, giveUpNow)
        : clock.after(allowed - waited, () => wait(allowed));
  };

  return {
    receive(bytes: Uint8Array) {
      if (closed) return;
      const reason = reader.read(bytes);
      if (reason !== undefined) giveUp(reason);
      // From the first byte of the frame: a sender that drips bytes gets no more time than one that stops.
      if (!closed && reader.midway && cancelPatience === undefined) wait(0);
    },
    /** Forgets what was under way. */
    close,
  };
}

export type OutgoingFrames = ReturnType<typeof outgoingFrameStream>;

export interface StreamTraffic {
  readonly frames: number;
  readonly bytes: number;
}

// Long: one closure over credit and waiting frames.
export function outgoingFrameStream(clock: Clock, send: (bytes: Uint8Array) => void) {
  const unconfirmed: { readonly bytes: number; readonly at: number }[] = [];
  let bytesUnderWay = 0;
  let enoughBytes = limits.LEAST_UNCONFIRMED_BYTES;
  /** How many of the frames under way, from the first, will be confirmed because one of them asks for it. */
  let asked = 0;
  /** The latest frame of each lane. */
  const waiting = new Map<number, Uint8Array>();
  const sent = { frames: 0, bytes: 0 };
  let replaced = 0;

  const transmit = (frame: Uint8Array) => {
    const isAsking = asked === 0 && 2 * (bytesUnderWay + frame.length) >= enoughBytes;
    const bytes = frameStreamBytes(frame, isAsking);
    unconfirmed.push({ bytes: bytes.length, at: clock.now() });
    bytesUnderWay += bytes.length;
    if (isAsking) asked = unconfirmed.length;
    sent.frames += 1;
    sent.bytes += bytes.length;
    send(bytes);
  };
  // With nothing asked, nobody would ever say that there is room again.
  const hasCredit = () =>
    unconfirmed.length < limits.MOST_UNCONFIRMED_FRAMES && (bytesUnderWay < enoughBytes || asked === 0);
  const confirm = (frames: number) => {
    const confirmed = unconfirmed.splice(0, frames);
    for (const { bytes } of confirmed) bytesUnderWay -= bytes;
    asked = Math.max(0, asked - frames);
    const isQuick = clock.now() - confirmed[frames - 1].at <= limits.QUICK_CONFIRMATION_MILLISECONDS;
    enoughBytes = isQuick
      ? Math.min(limits.MOST_UNCONFIRMED_BYTES, 2 * enoughBytes)
      : Math.max(limits.LEAST_UNCONFIRMED_BYTES, enoughBytes / 2);
  };

  return {
    send(frame: Uint8Array) {
      if (hasCredit()) {
        transmit(frame);
        return;
      }
      const lane = frameLane(frame);
      // Behind what was said since: a history is told before what rests on it.
      if (waiting.delete(lane)) replaced += 1;
      waiting.set(lane, frame);
    },
    /** Confirmations: each byte says how many more frames were taken. Returns why that cannot be, if it cannot. */
    receive(bytes: Uint8Array): string | undefined {
      for (const taken of bytes) {
        if (taken === 0 || taken > unconfirmed.length) {
          return `a confirmation must name 1 to ${unconfirmed.length} frames (those under way), got ${taken}`;
        }
        confirm(taken);
      }
      for (const [lane, frame] of waiting) {
        if (!hasCredit()) break;
        waiting.delete(lane);
        transmit(frame);
      }
      return undefined;
    },
    sent: sent as StreamTraffic,
    /** Frames that a newer one replaced before they were sent. */
    get replaced() {
      return replaced;
    },
  };
}
