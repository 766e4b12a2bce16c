// Files that change under a running device: looked at every second, by date and size, so that a file replaced whole is seen too.

import { stat } from "node:fs/promises";
import type { Clock } from "../clock.ts";
import { WATCH_MILLISECONDS } from "../pace.ts";

/** How a file looks that is not there. */
export const MISSING = "missing";

/** How files look from outside, as one text: equal means unchanged. */
export async function lookOf(paths: readonly string[]): Promise<string> {
  const looks = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return looks.map((look) => (look === undefined ? MISSING : `${look.mtimeMs} ${look.size} ${look.ino}`)).join(", ");
}

/**
 * Calls when files look otherwise than `known`, as soon as they look the same twice in a row: somebody may be in the
 * middle of writing. Returns how to stop.
 */
export function watchFiles(
  paths: readonly string[],
  known: string,
  clock: Clock,
  onChange: () => Promise<void>,
): () => void {
  let acted = known;
  let before = known;
  let isStopped = false;
  let cancel = () => {};
  const look = async () => {
    const now = await lookOf(paths);
    if (!isStopped && now === before && now !== acted) {
      acted = now;
      await onChange();
    }
    before = now;
    schedule();
  };
  const schedule = () => {
    if (!isStopped) cancel = clock.after(WATCH_MILLISECONDS, () => void look());
  };
  schedule();
  return () => {
    isStopped = true;
    cancel();
  };
}
