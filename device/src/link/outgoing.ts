// The telling half of a link: sends while there is credit, and keeps the latest frame, never a queue, while there is none.

import { ENOUGH_BYTES, MOST_FRAMES } from "./credit.ts";
import { withLength } from "./framing.ts";

export interface Outgoing {
  tell(frame: Uint8Array): void;
  /** Confirmations: each byte says how many more frames were taken. Returns why that cannot be, if it cannot. */
  hear(bytes: Uint8Array): string | undefined;
  readonly sent: Traffic;
  /** Frames that a newer one replaced before they were sent. */
  readonly replaced: number;
}

export interface Traffic {
  readonly frames: number;
  readonly bytes: number;
}

export function outgoing(send: (bytes: Uint8Array) => void): Outgoing {
  const unconfirmed: number[] = [];
  let bytesUnderWay = 0;
  let waiting: Uint8Array | undefined;
  const sent = { frames: 0, bytes: 0 };
  let replaced = 0;

  const transmit = (frame: Uint8Array) => {
    const bytes = withLength(frame);
    unconfirmed.push(bytes.length);
    bytesUnderWay += bytes.length;
    sent.frames += 1;
    sent.bytes += bytes.length;
    send(bytes);
  };
  const hasCredit = () => unconfirmed.length < MOST_FRAMES && bytesUnderWay < ENOUGH_BYTES;

  return {
    tell(frame) {
      if (hasCredit()) {
        transmit(frame);
        return;
      }
      if (waiting !== undefined) replaced += 1;
      waiting = frame;
    },
    hear(bytes) {
      for (const taken of bytes) {
        if (taken === 0 || taken > unconfirmed.length) {
          return `a confirmation must name 1 to ${unconfirmed.length} frames (those under way), got ${taken}`;
        }
        for (const length of unconfirmed.splice(0, taken)) bytesUnderWay -= length;
      }
      if (waiting !== undefined && hasCredit()) {
        const frame = waiting;
        waiting = undefined;
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
