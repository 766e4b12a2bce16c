declare const events: readonly ["SIGINT", "SIGTERM", "SIGHUP", "disconnect"];
export type StopEvent = (typeof events)[number];
/** Why work under `stoppable` ended early. */
export declare class Stopped extends Error {
  readonly name = "Stopped";
  readonly event: StopEvent;
  /** `kept` says what is not lost. */
  constructor(event: StopEvent, kept?: string);
  /** As shells report a program that a signal ended. A lost parent counts as a lost terminal. */
  get exitCode(): number;
}
/**
 * Runs work under a signal that the first of the events aborts, with a `Stopped` as its reason. A second one does what
 * it does by default, so that work which does not heed the signal can still be ended. `onHangup` is called at SIGHUP
 * instead, for work that outlives its terminal.
 */
export declare function stoppable<T>(work: (signal: AbortSignal) => Promise<T>, onHangup?: () => void): Promise<T>;
/** The same for a command that says when it is stopped what is as it was: all, until it ends, unless `kept` says otherwise. */
export declare function stoppableUnchanged<T>(
  work: (signal: AbortSignal) => Promise<T>,
  kept?: () => string,
): Promise<T>;
/** Between two pieces of long work: lets events come in, and throws if one of them was a stop. */
export declare function heed(signal: AbortSignal): Promise<void>;
/**
 * Work that awaits nothing, so that no listener can be called before its end: Ctrl-C ends it at once, also inside
 * WebAssembly. What came before it begins is heeded first.
 */
export declare function interruptible<T>(work: () => T, signal: AbortSignal): Promise<T>;
/** For work that goes on until it is stopped: resolves to why. */
export declare function untilStopped(signal: AbortSignal): Promise<Stopped>;
