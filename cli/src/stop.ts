// Being stopped, in one way for every command: by a person (Ctrl-C), by the system, or because the program that started us is gone.

import { constants } from "node:os";

const events = ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"] as const;

export type StopEvent = (typeof events)[number];

/** Why work under `stoppable` ended early. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly event: StopEvent;

  /** `kept` says what is not lost. */
  constructor(event: StopEvent, kept?: string) {
    const what = event === "SIGINT" ? "interrupted" : `stopped by ${event}`;
    super(kept === undefined ? what : `${what}: ${kept}`);
    this.event = event;
  }

  /** As shells report a program that a signal ended. A lost parent counts as a lost terminal. */
  get exitCode(): number {
    return 128 + constants.signals[this.event === "disconnect" ? "SIGHUP" : this.event];
  }
}

/**
 * Runs work under a signal that the first of the events aborts, with a `Stopped` as its reason. A second one does what
 * it does by default, so that work which does not heed the signal can still be ended. `onHangup` is called at SIGHUP
 * instead, for work that outlives its terminal.
 */
export async function stoppable<T>(work: (signal: AbortSignal) => Promise<T>, onHangup?: () => void): Promise<T> {
  const controller = new AbortController();
  const listeners = events.map((event) => {
    return [event, event === "SIGHUP" && onHangup !== undefined ? onHangup : () => stop(event)] as const;
  });
  const forget = () => {
    for (const [event, listener] of listeners) process.removeListener(event, listener);
  };
  const stop = (event: StopEvent) => {
    forget();
    controller.abort(new Stopped(event));
  };
  for (const [event, listener] of listeners) process.on(event, listener);
  try {
    return await work(controller.signal);
  } finally {
    forget();
  }
}

/** For work that goes on until it is stopped: resolves to why. */
export function untilStopped(signal: AbortSignal): Promise<Stopped> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}
