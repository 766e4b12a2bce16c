// Devices as processes of this machine: started together, watched, and never left behind.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type DaemonStatus, statusReader } from "@fedkm/device/daemon";

/** What each device last wrote in this run; undefined before its first. */
export type Statuses = readonly (DaemonStatus | undefined)[];

const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));
const LOOK_EVERY_MILLISECONDS = 200;
const STOP_WITHIN_MILLISECONDS = 10_000;
const LOG_FILE = "device.log";

/** Runs the devices of some folders until `isOver` says so or the signal aborts, and returns their last words. */
export async function runProcesses(
  folders: readonly string[],
  signal: AbortSignal,
  isOver: (statuses: Statuses) => boolean,
): Promise<Statuses> {
  const children: ChildProcess[] = [];
  const latestStatus = statusReader();
  try {
    for (const folder of folders) children.push(startProcess(folder));
    for (;;) {
      const ended = children.findIndex(hasEnded);
      if (ended >= 0) throw new Error(failureOf(folders[ended], children[ended]));
      if (isOver(folders.map(latestStatus)) || signal.aborted) break;
      // Cut short when it is stopped, which the next turn sees.
      await pause(LOOK_EVERY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await Promise.all(children.map(stopProcess));
  }
  return folders.map(latestStatus);
}

function startProcess(folder: string): ChildProcess {
  const log = openSync(join(folder, LOG_FILE), "a", 0o600);
  try {
    // The channel ends with this process, however it ends, and the device with the channel.
    return spawn(process.execPath, [program, "device", "run", "--state", folder], {
      stdio: ["ignore", "ignore", log, "ipc"],
    });
  } finally {
    closeSync(log);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function failureOf(folder: string, { exitCode, signalCode }: ChildProcess): string {
  const lastLine = readFileSync(join(folder, LOG_FILE), "utf8").trimEnd().split("\n").at(-1) ?? "no log";
  return `${folder} ended with ${signalCode ?? `exit code ${exitCode}`}: ${lastLine}`;
}

/** Asks it to stop, and ends it if it does not. */
async function stopProcess(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const patience = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MILLISECONDS);
  await exited;
  clearTimeout(patience);
}
