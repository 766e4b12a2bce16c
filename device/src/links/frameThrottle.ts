// A restless neighbour is slowed: after many frames only its latest one counts, once a second.

import type { Clock } from "../environment.ts";
import { CALM_MILLISECONDS, RESTLESS_FRAMES, RESTLESS_FRAMES_PER_SECOND } from "../wire/limits.ts";

export type FrameThrottle = ReturnType<typeof frameThrottle>;

export function frameThrottle(clock: Clock, onFrame: (frame: Uint8Array) => void) {
  let allowed = RESTLESS_FRAMES;
  let countedAt = clock.now();
  let waiting: Uint8Array | undefined;
  let cancel: (() => void) | undefined;
  let isRestless = false;

  const count = (frames: number) => {
    const now = clock.now();
    const more = ((now - countedAt) / 1000) * RESTLESS_FRAMES_PER_SECOND;
    allowed = Math.max(0, Math.min(RESTLESS_FRAMES, allowed + more) - frames);
    countedAt = now;
    // Halfway back: a neighbour at the edge is not named again and again.
    if (allowed > RESTLESS_FRAMES / 2) isRestless = false;
  };
  const passLatest = () => {
    cancel = undefined;
    const frame = waiting;
    waiting = undefined;
    if (frame !== undefined) onFrame(frame);
  };
  return {
    take(frame: Uint8Array) {
      count(1);
      if (allowed === 0) isRestless = true;
      // A frame that waits is older than this one.
      if (!isRestless && waiting === undefined) {
        onFrame(frame);
        return;
      }
      waiting = frame;
      cancel ??= clock.after(CALM_MILLISECONDS, passLatest);
    },
    /** Whether it is slowed now. */
    get isRestless() {
      count(0);
      return isRestless;
    },
    /** Forgets the frame that waits. */
    close() {
      waiting = undefined;
      cancel?.();
      cancel = undefined;
    },
  };
}
