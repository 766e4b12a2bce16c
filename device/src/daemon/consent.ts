// A person's consent that a device begins a new history of what it publishes, in a file that a running device follows.

import { join } from "node:path";
import { durableWrite } from "../disk/disk.ts";
import { isLocked } from "../disk/folderLock.ts";

/** A device that finds this file, now or when it is started, forgets its history and removes the file. */
export const CONSENT_FILE = "consent";

/** Returns whether the device runs. */
export async function consentInFolder(path: string, at: Date): Promise<boolean> {
  await durableWrite(join(path, CONSENT_FILE), new TextEncoder().encode(`${at.toISOString()}\n`));
  return isLocked(path);
}
