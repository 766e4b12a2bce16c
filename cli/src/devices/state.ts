// The folder of a device as commands see it: what it last wrote about itself, and whether it has settled.

import { readFileSync } from "node:fs";
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

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  return status !== undefined && isSettled(status.device, status.links, enoughMove);
}
