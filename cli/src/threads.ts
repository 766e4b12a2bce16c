// --threads: large data are worked on by several threads, with the same bits as by one.

import { availableParallelism } from "node:os";
import type { Kernel, Matrix } from "@fedkm/core";
import type { Command } from "commander";
import { parseWhole } from "./arguments.ts";

export interface ThreadFlags {
  /** Default: as many as the machine has processors. */
  readonly threads?: number | undefined;
}

/** With fewer numbers, the work is done before threads have started. */
const WORTHWHILE = 2_000_000;

export function addThreadsOption(command: Command): Command {
  return command.option(
    "--threads <number>",
    "threads for large data; the answer has the same bits with any number of them (default: all processors)",
    parseWhole("--threads", 1, 1024),
  );
}

/** Work with a kernel of so many threads, or without one where that would not pay. */
export async function withThreads<T>(
  { threads = availableParallelism() }: ThreadFlags,
  datasets: readonly Matrix[],
  work: (kernel: Kernel | undefined) => Promise<T>,
): Promise<T> {
  const numbers = datasets.reduce((sum, { rows, cols }) => sum + rows * cols, 0);
  if (threads === 1 || numbers < WORTHWHILE) return work(undefined);
  const { startThreads } = await import("@fedkm/core/threads");
  const kernel = await startThreads({ threads });
  try {
    return await work(kernel);
  } finally {
    await kernel.close();
  }
}
