// status.json as other programs read it: what a device last wrote about itself, and whether it has settled.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isSettled } from "../loop/status.ts";
import { type DaemonStatus, STATUS_FILE, STATUS_VERSION } from "./status.ts";

/** Undefined: the device never ran, or the power failed before its status was on the disk. */
export function lastStatus(folder: string): DaemonStatus | undefined {
  try {
    const status: DaemonStatus = JSON.parse(readFileSync(join(folder, STATUS_FILE), "utf8"));
    return status.version === STATUS_VERSION ? status : undefined;
  } catch {
    return undefined;
  }
}

/** Reads a status again when its file has changed: those of many devices are long, and most of the time they are quiet. */
export function statusReader(): (folder: string) => DaemonStatus | undefined {
  return whenChanged(STATUS_FILE, lastStatus);
}

/** What is read of a file in a folder, read again only when the file is another one than before. */
export function whenChanged<T>(name: string, read: (folder: string) => T): (folder: string) => T {
  const cache = new Map<string, { readonly version: string; readonly content: T }>();
  return (folder) => {
    const file = statSync(join(folder, name), { throwIfNoEntry: false });
    const version = `${file?.mtimeMs} ${file?.size} ${file?.ino}`;
    const last = cache.get(folder);
    if (last?.version === version) return last.content;
    const content = read(folder);
    cache.set(folder, { version, content });
    // What could not be read is tried again.
    if (content instanceof Promise) content.catch(() => cache.delete(folder));
    return content;
  };
}

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  return status !== undefined && isSettled(status.device, status.links, enoughMove);
}
