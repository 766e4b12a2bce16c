// Files that change under a running device: looked at every second, by date and size, so that a file replaced whole is seen too.

import { stat } from "node:fs/promises";
import type { Clock } from "../clock.ts";

const EVERY_MILLISECONDS = 1_000;

/** Calls after any of the files changed, appeared or vanished since it was last seen. Returns how to stop. */
export function watchFiles(paths: readonly string[], clock: Clock, onChange: () => Promise<void>): () => void {
  let seen: string | undefined;
  let isStopped = false;
  let cancel = () => {};
  const look = async () => {
    const now = await Promise.all(paths.map(print));
    const before = seen;
    seen = now.join("\n");
    if (isStopped) return;
    if (before !== undefined && before !== seen) await onChange();
    if (!isStopped) cancel = clock.after(EVERY_MILLISECONDS, () => void look());
  };
  void look();
  return () => {
    isStopped = true;
    cancel();
  };
}

async function print(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return "missing";
  }
}
