// Workers over batches of cells: each takes the next batch when it is done with one.
//
// They are processes, not threads: Node 20 can abort as a whole when a thread ends while its code is being compiled.

import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { StudyCell } from "../cell.ts";
import type { GivenData } from "./datasets.ts";
import type { RunRow } from "./trial.ts";
import type { Task } from "./worker.ts";

export interface PoolOptions {
  readonly workers: number;
  /** The points of cells that name them. */
  readonly given?: GivenData | undefined;
  readonly plugins?: readonly string[] | undefined;
  /** Ends all work at once; what was reported stays. */
  readonly signal?: AbortSignal;
  /** Called in the order in which batches are finished. */
  onFinished(batch: number, rows: readonly RunRow[]): void;
}

// The built file also where the sources are run, as in tests: a bare Node cannot read TypeScript.
const file = fileURLToPath(new URL("../../dist/trial/worker.js", import.meta.url));

/** Runs the given batches, the largest first, so that no worker is left with a large one at the end. */
export async function runBatches(
  batches: ReadonlyMap<number, readonly StudyCell[]>,
  { workers, given = {}, plugins = [], signal, onFinished }: PoolOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const waiting = [...batches].sort(([, a], [, b]) => poolWork(b) - poolWork(a));
  const processes = Array.from({ length: Math.min(workers, waiting.length) }, () => {
    // Flags of this process, such as those of a test runner, are not for workers; typed arrays need this serialization.
    const worker = fork(file, { execArgv: [], serialization: "advanced" });
    send(worker, { given, plugins });
    return worker;
  });
  let stop = () => {};
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([stopped, Promise.all(processes.map((worker) => work(worker, waiting, onFinished)))]);
  } finally {
    signal?.removeEventListener("abort", stop);
    await Promise.all(processes.map(end));
  }
}

/** A rough measure of what cells cost: their points, and something for every cell. */
export function poolWork(cells: readonly StudyCell[]): number {
  return cells.length * (100 + (cells[0].pointsPerDevice ?? 1000));
}

type Answer = { readonly rows: readonly RunRow[] } | { readonly failure: string };

function work(
  worker: ChildProcess,
  waiting: [number, readonly StudyCell[]][],
  onFinished: PoolOptions["onFinished"],
): Promise<void> {
  return new Promise((resolve, reject) => {
    let current = -1;
    const next = () => {
      const batch = waiting.shift();
      if (batch === undefined) return resolve();
      current = batch[0];
      send(worker, { cells: batch[1] });
    };
    worker.on("message", (answer: Answer) => {
      if ("failure" in answer) return reject(new Error(answer.failure));
      const finished = current;
      // The next batch first: a worker need not wait until this one is on disk.
      next();
      onFinished(finished, answer.rows);
    });
    worker.on("error", reject);
    worker.on("exit", (code, signal) => reject(new Error(`a worker ended by itself (${signal ?? code})`)));
    next();
  });
}

function send(worker: ChildProcess, task: Task): void {
  // One that is gone says so by its exit.
  worker.send(task, () => {});
}

/** Resolves when the process is gone. */
function end(worker: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (worker.exitCode !== null || worker.signalCode !== null) return resolve();
    worker.once("exit", () => resolve());
    worker.kill("SIGKILL");
  });
}
