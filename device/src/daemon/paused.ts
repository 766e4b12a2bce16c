// A device that a person has paused: a file in its folder, which a running device follows and the next start finds.

import { join } from "node:path";
import { durableWrite, realDisk } from "../disk/disk.ts";
import { isLocked } from "../disk/folderLock.ts";

/** While this file is there, the device is paused. */
export const PAUSED_FILE = "paused";

/** Returns whether the device runs. It follows within a few seconds. */
export async function pauseFolder(path: string, at: Date): Promise<boolean> {
  await durableWrite(join(path, PAUSED_FILE), new TextEncoder().encode(`${at.toISOString()}\n`));
  return isLocked(path);
}

/** Returns whether the device runs. */
export async function resumeFolder(path: string): Promise<boolean> {
  await realDisk.remove(join(path, PAUSED_FILE));
  await realDisk.syncFolder(path);
  return isLocked(path);
}
