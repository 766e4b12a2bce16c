// What a device needs of the world around it: time, and bytes to and from peers. Time is how long something takes, never
// what o'clock it is, so that a stepped wall clock changes nothing.

/** Time, as a device sees it. */
export interface Clock {
  /** Milliseconds since some moment in the past; never goes back. */
  now(): number;
  /** Runs once, after this many milliseconds, unless the returned function is called before. */
  after(milliseconds: number, run: () => void): () => void;
}

/** The longest a platform timer takes; a longer one would fire at once. */
const LONGEST_TIMER_MILLISECONDS = 2 ** 31 - 1;

/** The machine's monotonic clock. */
export const realClock: Clock = {
  now: () => performance.now(),
  after(milliseconds, run) {
    const timer = setTimeout(run, Math.min(Math.max(0, milliseconds), LONGEST_TIMER_MILLISECONDS));
    return () => clearTimeout(timer);
  },
};

/** Names of peers, which are their public keys' ids, and bytes to and from them. libp2p and the simulation both give it. */
export interface PeerNetwork {
  readonly self: string;
  /** From now on the listener hears. */
  start(listener: NetworkListener): Promise<void>;
  /** Sends a frame to a linked peer. Only the latest of its kind and study counts: one not yet sent is replaced, never queued. */
  send(peer: string, frame: Uint8Array): void;
  close(): Promise<void>;
}

/** A device's ears. Called one at a time, never from within `send`. */
export interface NetworkListener {
  onFrame(peer: string, frame: Uint8Array): void;
  /** Frames sent from now on arrive, unless the link breaks. */
  onConnect(peer: string): void;
  onDisconnect(peer: string): void;
}

/** Rings once, at the earliest of the times that it was asked for. */
export function clockAlarm(clock: Clock, ring: () => void) {
  let at = Number.POSITIVE_INFINITY;
  let cancel = () => {};
  return {
    /** Rings after this time, or sooner if it was asked to. */
    set(milliseconds: number) {
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

/** What somebody may do: so often at once, and once more in each interval after that. */
export class Allowance {
  readonly #burst: number;
  readonly #betweenMilliseconds: number;
  #left: number;
  #at: number;

  constructor(burst: number, betweenMilliseconds: number, now: number) {
    this.#burst = burst;
    this.#betweenMilliseconds = betweenMilliseconds;
    this.#left = burst;
    this.#at = now;
  }

  /** Whether it may be done now, so many times; if so, it counts as done. */
  take(now: number, times = 1): boolean {
    this.#left = Math.min(this.#burst, this.#left + (now - this.#at) / this.#betweenMilliseconds);
    this.#at = now;
    if (this.#left < times) return false;
    this.#left -= times;
    return true;
  }

  refill(): void {
    this.#left = this.#burst;
  }
}

/** What went wrong, in the words of whatever was thrown. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
