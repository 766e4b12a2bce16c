// The receiving half of a link: takes frames, confirms them at a bounded pace, and refuses a peer that breaks the rules.

import type { Clock } from "../environment.ts";
import { frameReader } from "../links/frameStream.ts";
import {
  BETWEEN_CONFIRMATIONS_MILLISECONDS,
  FRAME_BYTES_PER_SECOND,
  FRAME_GRACE_MILLISECONDS,
  FRAME_MILLISECONDS,
  FRAMES_PER_CONFIRMATION,
  MOST_UNCONFIRMED_FRAMES,
} from "../wire/limits.ts";

export interface IncomingFramesOptions {
  readonly maxFrame: number;
  readonly clock: Clock;
  onFrame(frame: Uint8Array): void;
  /** Sends a confirmation. */
  confirm(bytes: Uint8Array): void;
  /** The peer broke the rules: nothing more is read from this stream. */
  refuse(reason: string): void;
}

export interface IncomingFrames {
  receive(bytes: Uint8Array): void;
  /** Forgets what was under way. */
  close(): void;
}

export function incomingFrames({ maxFrame, clock, onFrame, confirm, refuse }: IncomingFramesOptions): IncomingFrames {
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
    if (frames > MOST_UNCONFIRMED_FRAMES) {
      giveUp(`more than ${MOST_UNCONFIRMED_FRAMES} frames were sent without waiting for a confirmation`);
      return;
    }
    if (cancelConfirmation === undefined && (isAsking || frames >= FRAMES_PER_CONFIRMATION)) {
      // Never from within the reading of bytes: what follows in the same bytes was sent without this confirmation.
      const wait = Math.max(0, confirmedAt + BETWEEN_CONFIRMATIONS_MILLISECONDS - clock.now());
      cancelConfirmation = clock.after(wait, confirmNow);
    }
    onFrame(frame);
  });

  /** Gives up on a frame that began this many milliseconds ago, as soon as that is too long for its length. */
  const wait = (waited: number) => {
    const allowed = FRAME_MILLISECONDS + (1000 * reader.expected) / FRAME_BYTES_PER_SECOND;
    const giveUpNow = () => giveUp(`a frame did not end within ${Math.floor(allowed / 1000)} s`);
    cancelPatience =
      waited >= allowed
        ? clock.after(FRAME_GRACE_MILLISECONDS, giveUpNow)
        : clock.after(allowed - waited, () => wait(allowed));
  };

  return {
    receive(bytes) {
      if (closed) return;
      const reason = reader.read(bytes);
      if (reason !== undefined) giveUp(reason);
      // From the first byte of the frame: a sender that drips bytes gets no more time than one that stops.
      if (!closed && reader.midway) {
        if (cancelPatience === undefined) wait(0);
      }
    },
    close,
  };
}
