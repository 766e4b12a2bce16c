// An alarm that rings once, at the earliest of the times that it was asked for.

import type { Clock } from "./environment.ts";

export interface Alarm {
  /** Rings after this time, or sooner if it was asked to. */
  set(milliseconds: number): void;
  cancel(): void;
}

export function alarm(clock: Clock, ring: () => void): Alarm {
  let at = Number.POSITIVE_INFINITY;
  let cancel = () => {};
  return {
    set(milliseconds) {
      const wanted = clock.now() + milliseconds;
      if (wanted >= at) return;
      cancel();
      at = wanted;
      cancel = clock.after(milliseconds, () => {
        at = Number.POSITIVE_INFINITY;
        ring();
      });
    },
    cancel() {
      cancel();
      at = Number.POSITIVE_INFINITY;
    },
  };
}
