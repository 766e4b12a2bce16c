// Which neighbours relay to a device that may not be dialled itself, and what it tries again while it depends on them.

import type { Clock } from "../environment.ts";
import { peerThroughRelay } from "../keys/peer.ts";
import { RELAY_LOOK_MILLISECONDS } from "../wire/limits.ts";

export interface RelaysOptions {
  readonly clock: Clock;
  /** Asks a neighbour that is connected to relay to this device. False: it relays to nobody. */
  reserve(peer: string): Promise<boolean>;
  /** Whether a neighbour relays to this device now. */
  isReserved(peer: string): boolean;
  /** From now on a neighbour relays to this device. */
  onReserved(peer: string): void;
  /** Those that are reached through a relay now. */
  relayedPeers(): readonly string[];
  tryDirectly(peer: string): void;
}

export function relays(options: RelaysOptions) {
  const { clock, reserve, isReserved, onReserved, relayedPeers, tryDirectly } = options;
  const known = new Set<string>();
  let cancel: (() => void) | undefined;
  let isClosed = false;

  const lookLater = () => {
    if (!isClosed) cancel ??= clock.after(RELAY_LOOK_MILLISECONDS, lookAgain);
  };
  const lookAgain = () => {
    cancel = undefined;
    for (const peer of known) if (!isReserved(peer)) void ask(peer);
    const relayed = relayedPeers();
    for (const peer of relayed) tryDirectly(peer);
    if (known.size > 0 || relayed.length > 0) lookLater();
  };
  const ask = async (peer: string) => {
    try {
      if (!(await reserve(peer))) return;
      known.add(peer);
      if (!isClosed) onReserved(peer);
    } catch {
      // It relays, but not now.
      known.add(peer);
    }
    lookLater();
  };
  return {
    /** A neighbour has connected directly: it is asked whether it relays. */
    ask: (peer: string) => void ask(peer),
    /** A neighbour has gone: it is asked again when it is back. */
    forget: (peer: string) => known.delete(peer),
    /** A neighbour is reached through a relay: now and then it is tried directly. */
    look: lookLater,
    /** Where this device is, through relays. */
    addresses: () => [...known].filter(isReserved).map(peerThroughRelay),
    close() {
      isClosed = true;
      cancel?.();
    },
  };
}
