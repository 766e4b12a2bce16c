// A mutex for changing a file: one process at a time, also after one that ended while it held it.

import { mkdir, rmdir, stat } from "node:fs/promises";
import { type Clock, realClock } from "../environment.ts";

const LOOK_EVERY_MILLISECONDS = 20;

/** A turn lasts milliseconds. One that is seen for this long was left by a process that ended in it. */
const LONGEST_TURN_MILLISECONDS = 10_000;

/**
 * Does the work while nobody else does theirs under the same mark, an empty folder that must not exist otherwise.
 * `isMine` says whether the turn still counts: a process that was stopped for long may have lost it.
 */
export async function withFileMutex<T>(
  mark: string,
  work: (isMine: () => Promise<boolean>) => Promise<T>,
  clock: Clock = realClock,
): Promise<T> {
  const mine = await takeMutex(mark, clock);
  const isMine = async () => (await markOf(mark)) === mine;
  try {
    return await work(isMine);
  } finally {
    if (await isMine()) await rmdir(mark);
  }
}

/** `prepare` reads what is there and says how to write it changed. It is asked again where the turn was lost meanwhile. */
export async function changeUnderMutex(mark: string, prepare: () => Promise<() => Promise<void>>): Promise<void> {
  for (let isDone = false; !isDone; ) {
    isDone = await withFileMutex(mark, async (isMine) => {
      const write = await prepare();
      if (!(await isMine())) return false;
      await write();
      return true;
    });
  }
}

/** Returns how the mark looks that was made, which is unlike every other one. */
async function takeMutex(mark: string, clock: Clock): Promise<string> {
  let other: string | undefined;
  let since = clock.now();
  for (;;) {
    try {
      await mkdir(mark, { mode: 0o700 });
      const mine = await markOf(mark);
      if (mine !== undefined) return mine;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const seen = await markOf(mark);
    const now = clock.now();
    if (seen !== other) {
      other = seen;
      since = now;
    } else if (seen !== undefined && now - since > LONGEST_TURN_MILLISECONDS) {
      // Judged by this process's own clock: the machine's may have jumped since the mark was made.
      await rmdir(mark).catch(() => {});
      continue;
    }
    await new Promise<void>((done) => clock.after(LOOK_EVERY_MILLISECONDS, done));
  }
}

/** Undefined: there is no such mark. */
async function markOf(mark: string): Promise<string | undefined> {
  try {
    const { ino, mtimeNs } = await stat(mark, { bigint: true });
    return `${ino} ${mtimeNs}`;
  } catch {
    return undefined;
  }
}
