// Worker threads over batches of cells: each takes the next batch when it is done with one.

import { Worker } from "node:worker_threads";
import type { LabelledPoints } from "@fedkm/core";
import type { Cell } from "./cell.ts";
import type { RunRecord } from "./trial.ts";

export interface PoolOptions {
  readonly workers: number;
  /** The points of cells that name them. */
  readonly features?: LabelledPoints | undefined;
  /** Ends all work at once; what was reported stays. */
  readonly signal?: AbortSignal;
  /** Called in the order in which batches are finished. */
  onFinished(batch: number, rows: readonly RunRecord[]): void;
}

// Flags of this process, such as those of a test runner, are not for threads. They run the built file also where the sources are run, as in tests: a thread cannot read TypeScript.
const file = new URL("../dist/worker.js", import.meta.url);

/** Runs the given batches, the largest first, so that no thread is left with a large one at the end. */
export async function runBatches(
  batches: ReadonlyMap<number, readonly Cell[]>,
  { workers, features, signal, onFinished }: PoolOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const waiting = [...batches].sort(([, a], [, b]) => workIn(b) - workIn(a));
  const threads = Array.from(
    { length: Math.min(workers, waiting.length) },
    () => new Worker(file, { workerData: { features }, execArgv: [] }),
  );
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([stopped, Promise.all(threads.map((thread) => work(thread, waiting, onFinished)))]);
  } finally {
    signal?.removeEventListener("abort", stop);
    await Promise.all(threads.map((thread) => thread.terminate()));
  }
}

/** A rough measure of what cells cost: their points, and something for every cell. */
export function workIn(cells: readonly Cell[]): number {
  return cells.length * (100 + (cells[0].pointsPerDevice ?? 1000));
}

function work(
  thread: Worker,
  waiting: [number, readonly Cell[]][],
  onFinished: PoolOptions["onFinished"],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let current = -1;
    const next = () => {
      const batch = waiting.shift();
      if (batch === undefined) return resolve();
      current = batch[0];
      thread.postMessage(batch[1]);
    };
    thread.on("message", (rows: readonly RunRecord[]) => {
      onFinished(current, rows);
      next();
    });
    thread.on("error", reject);
    next();
  });
}
