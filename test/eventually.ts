// Waiting for other processes, bounded by progress and not by the clock: a busy machine may take as long as it needs.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { vi } from "vitest";

const AGAIN_AFTER_MILLISECONDS = 50;
/** A check that fails in the same way for so long, while nothing changes in the folder, will not pass any more. */
const QUIET_MILLISECONDS = 120_000;
/** A device that runs always writes something, so there is an end to it. */
const MOST_MILLISECONDS = 600_000;

// A test that waits here must not be ended by another clock.
vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 1_800_000 });

/** What `check` returns, once it does not throw; `folder` is where the processes that it waits for write. */
export async function eventually<T>(check: () => T | Promise<T>, folder?: string): Promise<T> {
  const begun = performance.now();
  let changed = begun;
  let last = "";
  for (;;) {
    try {
      return await check();
    } catch (error) {
      const state = `${error} ${folder === undefined ? "" : filesIn(folder)}`;
      const now = performance.now();
      if (state !== last) changed = now;
      last = state;
      if (now - changed > QUIET_MILLISECONDS || now - begun > MOST_MILLISECONDS) throw error;
    }
    await pause(AGAIN_AFTER_MILLISECONDS);
  }
}

/** The files below a folder and when they changed. A folder may go while it is read, which is a change too. */
function filesIn(folder: string): string {
  try {
    return readdirSync(folder, { recursive: true, encoding: "utf8" })
      .map((name) => `${name} ${statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs}`)
      .join("\n");
  } catch (error) {
    return `${error} ${performance.now()}`;
  }
}
