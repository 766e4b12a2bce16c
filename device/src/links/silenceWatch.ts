// Who has said nothing for long: one look for all of them now and then, instead of a timer for each.

import type { Clock } from "../environment.ts";
import { PING_MILLISECONDS, SILENCE_LOOK_MILLISECONDS } from "../wire/limits.ts";

/** `onSilent` is called at every look, until something is heard. */
export function silenceWatch<T>(clock: Clock, onSilent: (who: T) => void) {
  const heardAt = new Map<T, number>();
  let cancel: (() => void) | undefined;
  const look = () => {
    cancel = heardAt.size > 0 ? clock.after(SILENCE_LOOK_MILLISECONDS, look) : undefined;
    for (const [who, at] of heardAt) if (clock.now() - at >= PING_MILLISECONDS) onSilent(who);
  };
  return {
    /** Something came from there just now. */
    heard(who: T) {
      heardAt.set(who, clock.now());
      cancel ??= clock.after(SILENCE_LOOK_MILLISECONDS, look);
    },
    forget: (who: T) => heardAt.delete(who),
    close() {
      heardAt.clear();
      cancel?.();
    },
  };
}
