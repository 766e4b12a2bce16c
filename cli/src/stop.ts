// Being stopped, in one way for every command: by a person (Ctrl-C), by the system, or because the program that started us is gone.

import { constants } from "node:os";
import { setImmediate } from "node:timers/promises";
import { createContext, Script } from "node:vm";
import { isMainThread } from "node:worker_threads";

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

/** The same for a command that says when it is stopped what is as it was: all, until it ends, unless `kept` says otherwise. */
export function stoppableUnchanged<T>(
  work: (signal: AbortSignal) => Promise<T>,
  kept = () => "nothing was changed",
): Promise<T> {
  return stoppable(async (signal) => {
    try {
      return await work(signal);
    } catch (error) {
      // Whatever a reader says that was stopped in the middle of a file.
      const reason = signal.aborted ? signal.reason : error;
      throw reason instanceof Stopped ? new Stopped(reason.event, kept()) : reason;
    }
  });
}

/** Between two pieces of long work: lets events come in, and throws if one of them was a stop. */
export async function throwIfStopped(signal: AbortSignal): Promise<void> {
  // The first turn may be the end of one in which nobody asks for signals any more.
  await setImmediate();
  await setImmediate();
  signal.throwIfAborted();
}

/**
 * Work that awaits nothing, so that no listener can be called before its end: Ctrl-C ends it at once, also inside
 * WebAssembly. What came before it begins is heeded first.
 */
export async function interruptible<T>(work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
  const [script, context] = [new Script("work()"), createContext({ work })];
  // Last, because an event that comes between this and the work is lost.
  await throwIfStopped(signal);
  // Signals reach the main thread only.
  if (!isMainThread) return work();
  try {
    return script.runInContext(context, { breakOnSigint: true });
  } catch (error) {
    const isInterrupted = (error as NodeJS.ErrnoException | undefined)?.code === "ERR_SCRIPT_EXECUTION_INTERRUPTED";
    throw isInterrupted ? new Stopped("SIGINT") : error;
  }
}

/** For work that goes on until it is stopped: resolves to why. */
export function untilStopped(signal: AbortSignal): Promise<Stopped> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener("abort", () => resolve(signal.reason), { once: true });
  });
}
