// Files that change under a running device: looked at every few seconds, by date and size, so that a file replaced whole is seen too.

import { type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { sqlSourceVersion } from "@fedkm/sql";
import { isAddress } from "@fedkm/sql/address";
import type { Clock } from "../environment.ts";
import { REREAD_MILLISECONDS, WATCH_MILLISECONDS, WATCH_QUIET_MILLISECONDS } from "../wire/limits.ts";

/** How a file looks that is not there. */
export const MISSING = "missing";

/** As the program was started with them. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

/** How files and sources look from outside, as one text: equal means unchanged. */
export async function watchedFilesLook(paths: readonly string[], env: EnvironmentVariables): Promise<string> {
  const looks = paths.map((path) => {
    return isAddress(path) ? sqlSourceVersion(path, env) : stat(path).then(lookOfStats, () => MISSING);
  });
  return (await Promise.all(looks)).join(", ");
}

/**
 * The same for files in the device's own folder, at once: a look that waits for another thread costs an idle device
 * several times as much. Data may lie on a disk of the network that does not answer, so they are looked at by `lookOf`.
 */
export function watchedFilesNow(...paths: readonly string[]): string {
  const looks = paths.map((path) => {
    try {
      return lookOfStats(statSync(path));
    } catch {
      return MISSING;
    }
  });
  return looks.join(", ");
}

function lookOfStats({ mtimeMs, size, ino }: Stats): string {
  return `${mtimeMs} ${size} ${ino}`;
}

/**
 * Calls `use` when files look (`lookNow`) otherwise than `known`, as soon as they look the same twice in a row: somebody may be in
 * the middle of writing. Files that could not be used (false) are tried again although they look the same, because a
 * right or a disk that comes back changes neither date nor size. Returns how to stop.
 */
export function watchFiles(
  lookNow: () => string | Promise<string>,
  known: string,
  clock: Clock,
  use: () => Promise<boolean>,
): () => void {
  let acted = known;
  let before = known;
  let unusableSince: number | undefined;
  let retryAt = Number.POSITIVE_INFINITY;
  let isStopped = false;
  let cancel = () => {};
  const act = async () => {
    const isUsed = await use();
    const now = clock.now();
    unusableSince = isUsed ? undefined : (unusableSince ?? now);
    const wait = Math.min(REREAD_MILLISECONDS, now - (unusableSince ?? now));
    retryAt = isUsed ? Number.POSITIVE_INFINITY : now + wait;
  };
  const look = async () => {
    const now = await lookNow();
    if (!isStopped && now === before && (now !== acted || clock.now() >= retryAt)) {
      acted = now;
      await act();
    }
    const isQuiet = now === before && now === acted && unusableSince === undefined;
    before = now;
    schedule(isQuiet ? WATCH_QUIET_MILLISECONDS : WATCH_MILLISECONDS);
  };
  const schedule = (wait: number) => {
    if (!isStopped) cancel = clock.after(wait, () => void look());
  };
  schedule(WATCH_MILLISECONDS);
  return () => {
    isStopped = true;
    cancel();
  };
}
