// A device that begins again from its own rows, because a person asked for it. Its state is set aside, not lost.

import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { durableWrite } from "../disk/disk.ts";
import { lockFolder } from "../disk/folderLock.ts";

/** A running device that finds this file begins again and removes it. */
export const RESET_FILE = "reset";

export const STATE_FILES = ["state.a", "state.b"];

export interface ResetResult {
  /** Where the state is now; undefined: there was none. */
  readonly setAside: string | undefined;
  readonly isRunning: boolean;
}

/** Works whether the device runs or not. A running one follows within a few seconds. */
export async function resetFolder(path: string, at: Date): Promise<ResetResult> {
  const setAside = await copyAside(path, STATE_FILES, at);
  const unlock = await lockFolder(path).catch(() => undefined);
  if (unlock === undefined) {
    await durableWrite(join(path, RESET_FILE), new TextEncoder().encode(`${at.toISOString()}\n`));
    return { setAside, isRunning: true };
  }
  try {
    for (const name of STATE_FILES) await rm(join(path, name), { force: true });
  } finally {
    await unlock();
  }
  return { setAside, isRunning: false };
}

/** Files are replaced whole, so a copy is whole as well. Returns where the copies are; undefined: there was nothing. */
export async function copyAside(path: string, names: readonly string[], at: Date): Promise<string | undefined> {
  const to = join(path, `set-aside-${at.toISOString().replaceAll(":", "-")}`);
  await mkdir(to, { mode: 0o700 });
  let copied = 0;
  for (const name of names) {
    try {
      await copyFile(join(path, name), join(to, name));
      copied++;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") continue;
      await rm(to, { recursive: true });
      throw error;
    }
  }
  if (copied > 0) return to;
  await rm(to, { recursive: true });
  return undefined;
}
