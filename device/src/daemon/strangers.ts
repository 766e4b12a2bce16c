// Strangers that came by: a short list for the owner to decide on, never a reason to let anybody in.

import { BETWEEN_STRANGERS_MILLISECONDS, MOST_STRANGERS } from "../wire/limits.ts";

/** A peer that proved its key and is not linked. */
export interface Stranger {
  readonly peer: string;
  readonly address: string;
  readonly attempts: number;
  readonly firstSeen: string;
  readonly lastSeen: string;
}

export type StrangerList = ReturnType<typeof strangerList>;

export function strangerList() {
  const strangers = new Map<string, Stranger>();
  let loggedAt = Number.NEGATIVE_INFINITY;
  return {
    /** Whether it should be logged: news, and not more than one line a minute. */
    note(peer: string, address: string, date: Date, now: number): boolean {
      const known = strangers.get(peer);
      const lastSeen = date.toISOString();
      const { attempts, firstSeen } = known ?? { attempts: 0, firstSeen: lastSeen };
      // Moved to the end, so that the first is the one not seen for longest.
      strangers.delete(peer);
      strangers.set(peer, { peer, address, attempts: attempts + 1, firstSeen, lastSeen });
      if (strangers.size > MOST_STRANGERS) strangers.delete(strangers.keys().next().value ?? "");
      if (known !== undefined || now - loggedAt < BETWEEN_STRANGERS_MILLISECONDS) return false;
      loggedAt = now;
      return true;
    },
    remove: (peer: string) => strangers.delete(peer),
    list: (): readonly Stranger[] => [...strangers.values()],
  };
}

/** What a device is called that nobody has named: peer ids begin alike. */
export function strangerName(peer: string): string {
  return peer.slice(-8);
}
