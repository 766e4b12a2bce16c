// What a device last said about itself, in status.json.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { STATUS_VERSION } from "../wire/limits.ts";
import type { DaemonStatus } from "./status.ts";

/** The file of a folder that holds the last status. */
export const STATUS_FILE = "status.json";

/** Undefined: the device never ran, or the power failed before its status was on the disk. */
export function lastStatus(folder: string): DaemonStatus | undefined {
  try {
    const status: DaemonStatus = JSON.parse(readFileSync(join(folder, STATUS_FILE), "utf8"));
    return status.version === STATUS_VERSION ? status : undefined;
  } catch {
    return undefined;
  }
}
