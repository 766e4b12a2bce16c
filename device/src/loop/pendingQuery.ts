// What a device with remote rows waits for: their answer, or rows that answer again. It asks one thing at a time.

import type { RemoteRows } from "../study/remoteRows.ts";

export interface PendingQueryOptions {
  now(): number;
  /** The rows that the device has now. */
  rows(): RemoteRows | undefined;
  /** An answer took so many milliseconds, whether it was of use or not. */
  onAnswer(milliseconds: number): void;
  /** The rows do not answer, and nothing is asked before there are others. */
  onLost(reason: unknown): void;
}

export class PendingQuery {
  readonly #options: PendingQueryOptions;
  #awaits: "answer" | "rows" | undefined;

  constructor(options: PendingQueryOptions) {
    this.#options = options;
  }

  /** Nothing may be computed. */
  get isBusy(): boolean {
    return this.#awaits !== undefined;
  }

  /** The device has other rows. What was asked of those before is answered to nobody. */
  renew(): void {
    if (this.#awaits === "rows") this.#awaits = undefined;
  }

  /** Uses an answer, at once if it is there. */
  use<T>(answer: T | Promise<T>, use: (result: T) => void): void {
    if (!(answer instanceof Promise)) {
      use(answer);
      return;
    }
    const { now, rows, onAnswer, onLost } = this.#options;
    const [asked, begun] = [rows(), now()];
    this.#awaits = "answer";
    const end = (reason?: unknown) => {
      // Rows that were replaced meanwhile may fail.
      const isLost = reason !== undefined && asked === rows();
      this.#awaits = isLost ? "rows" : undefined;
      if (isLost) onLost(reason);
      else onAnswer(now() - begun);
    };
    void answer.then(use).then(() => end(), end);
  }
}
