// The folder of a device as commands see it: what it last wrote about itself, and whether it has settled.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { isSettled } from "@fedkm/device";
import { type DaemonStatus, STATUS_FILE, STATUS_VERSION } from "@fedkm/device/daemon";

/** What the device last wrote; undefined if it never ran, or if the power failed before its words were on the disk. */
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
  const known = new Map<string, { readonly look: string; readonly status: DaemonStatus | undefined }>();
  return (folder) => {
    const file = statSync(join(folder, STATUS_FILE), { throwIfNoEntry: false });
    const look = `${file?.mtimeMs} ${file?.ino}`;
    const last = known.get(folder);
    if (last?.look === look) return last.status;
    const status = lastStatus(folder);
    known.set(folder, { look, status });
    return status;
  };
}

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  return status !== undefined && isSettled(status.device, status.links, enoughMove);
}
