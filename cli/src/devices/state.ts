// The folder of a device as commands see it: what it last wrote about itself, and whether it runs.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isSettled } from "@fedkm/device";
import { type DaemonStatus, STATUS_FILE } from "@fedkm/device/daemon";

/** A running device writes every minute at least; what is older than this was left by one that could not write that it stopped. */
const FRESH_MILLISECONDS = 90_000;

/** What the device last wrote; undefined if it never ran, or if the power failed before its words were on the disk. */
export function lastStatus(folder: string): DaemonStatus | undefined {
  let status: DaemonStatus;
  try {
    status = JSON.parse(readFileSync(join(folder, STATUS_FILE), "utf8"));
  } catch {
    return undefined;
  }
  const { isRunning, pid, writtenAt } = status;
  return { ...status, isRunning: isRunning && isFresh(writtenAt) && isAlive(pid) };
}

/** Whether a device has settled that may not have written anything yet; see `isSettled` for `enoughMove`. */
export function hasSettled(status: DaemonStatus | undefined, enoughMove?: number): boolean {
  return status !== undefined && isSettled(status.device, status.links, enoughMove);
}

/** Numbers of processes are given again, and in a container it is always the same one. */
function isFresh(writtenAt: string): boolean {
  return Math.abs(Date.now() - Date.parse(writtenAt)) < FRESH_MILLISECONDS;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
