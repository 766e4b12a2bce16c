// A restless neighbour is slowed: after many frames only its latest one counts, a few times a second.

import type { Clock } from "../clock.ts";
import { CALM_FRAMES_PER_SECOND, RESTLESS_FRAMES } from "./limits.ts";

export interface Calm {
  take(frame: Uint8Array): void;
  /** Whether it is slowed now. */
  readonly isRestless: boolean;
  /** Forgets the frame that waits. */
  close(): void;
}

/** `onRestless` is called when the slowing begins, once until the neighbour has been quiet again. */
export function calm(clock: Clock, onFrame: (frame: Uint8Array) => void, onRestless: () => void): Calm {
  let allowed = RESTLESS_FRAMES;
  let countedAt = clock.now();
  let waiting: Uint8Array | undefined;
  let cancel: (() => void) | undefined;
  let isRestless = false;

  const count = () => {
    const now = clock.now();
    allowed = Math.min(RESTLESS_FRAMES, allowed + ((now - countedAt) / 1000) * CALM_FRAMES_PER_SECOND);
    countedAt = now;
    // Halfway back: a neighbour at the edge is not named again and again.
    if (allowed > RESTLESS_FRAMES / 2) isRestless = false;
  };
  const pass = (frame: Uint8Array) => {
    allowed -= 1;
    onFrame(frame);
  };
  const later = () => {
    cancel = undefined;
    count();
    const frame = waiting;
    waiting = undefined;
    if (frame !== undefined) pass(frame);
  };
  return {
    take(frame) {
      count();
      if (waiting === undefined && allowed >= 1) {
        pass(frame);
        return;
      }
      waiting = frame;
      cancel ??= clock.after((1000 * Math.max(0, 1 - allowed)) / CALM_FRAMES_PER_SECOND, later);
      if (isRestless) return;
      isRestless = true;
      onRestless();
    },
    get isRestless() {
      count();
      return isRestless;
    },
    close() {
      waiting = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}
