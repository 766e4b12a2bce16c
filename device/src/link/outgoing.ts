// The sending half of a link: sends while there is credit, and keeps the latest frame of each lane, never a queue, else.

import type { Clock } from "../environment.ts";
import { withLength } from "../links/frameStream.ts";
import { laneOf } from "../wire/frames.ts";
import {
  LEAST_UNCONFIRMED_BYTES,
  MOST_UNCONFIRMED_BYTES,
  MOST_UNCONFIRMED_FRAMES,
  QUICK_CONFIRMATION_MILLISECONDS,
} from "../wire/limits.ts";

export interface OutgoingFrames {
  send(frame: Uint8Array): void;
  /** Confirmations: each byte says how many more frames were taken. Returns why that cannot be, if it cannot. */
  receive(bytes: Uint8Array): string | undefined;
  readonly sent: StreamTraffic;
  /** Frames that a newer one replaced before they were sent. */
  readonly replaced: number;
}

export interface StreamTraffic {
  readonly frames: number;
  readonly bytes: number;
}

export function outgoingFrames(clock: Clock, send: (bytes: Uint8Array) => void): OutgoingFrames {
  const unconfirmed: { readonly bytes: number; readonly at: number }[] = [];
  let bytesUnderWay = 0;
  let enoughBytes = LEAST_UNCONFIRMED_BYTES;
  /** How many of the frames under way, from the first, will be confirmed because one of them asks for it. */
  let asked = 0;
  /** The latest frame of each lane. */
  const waiting = new Map<number, Uint8Array>();
  const sent = { frames: 0, bytes: 0 };
  let replaced = 0;

  const transmit = (frame: Uint8Array) => {
    const isAsking = asked === 0 && 2 * (bytesUnderWay + frame.length) >= enoughBytes;
    const bytes = withLength(frame, isAsking);
    unconfirmed.push({ bytes: bytes.length, at: clock.now() });
    bytesUnderWay += bytes.length;
    if (isAsking) asked = unconfirmed.length;
    sent.frames += 1;
    sent.bytes += bytes.length;
    send(bytes);
  };
  // With nothing asked, nobody would ever say that there is room again.
  const hasCredit = () => unconfirmed.length < MOST_UNCONFIRMED_FRAMES && (bytesUnderWay < enoughBytes || asked === 0);
  const confirm = (frames: number) => {
    const confirmed = unconfirmed.splice(0, frames);
    for (const { bytes } of confirmed) bytesUnderWay -= bytes;
    asked = Math.max(0, asked - frames);
    const isQuick = clock.now() - confirmed[frames - 1].at <= QUICK_CONFIRMATION_MILLISECONDS;
    enoughBytes = isQuick
      ? Math.min(MOST_UNCONFIRMED_BYTES, 2 * enoughBytes)
      : Math.max(LEAST_UNCONFIRMED_BYTES, enoughBytes / 2);
  };

  return {
    send(frame) {
      if (hasCredit()) {
        transmit(frame);
        return;
      }
      const lane = laneOf(frame);
      if (waiting.has(lane)) replaced += 1;
      waiting.set(lane, frame);
    },
    receive(bytes) {
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
    sent,
    get replaced() {
      return replaced;
    },
  };
}
