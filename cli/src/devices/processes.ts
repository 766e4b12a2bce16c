// Devices as processes of this machine: started together, watched, and never left behind.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { DaemonStatus } from "@fedkm/device/daemon";
import { statusReader } from "./state.ts";

export interface Processes {
  /** What each device last wrote in this run; undefined before its first. */
  statuses(): (DaemonStatus | undefined)[];
  /** Why the first one that ended by itself did so. */
  failure(): string | undefined;
  /** Asks all of them to stop, and ends those that do not. */
  stop(): Promise<void>;
}

const program = fileURLToPath(new URL("../../bin/fedkm.js", import.meta.url));
const STOP_WITHIN_MILLISECONDS = 10_000;
const LOG_FILE = "device.log";

export async function startProcesses(folders: readonly string[]): Promise<Processes> {
  const children: ChildProcess[] = [];
  try {
    for (const folder of folders) children.push(startProcess(folder));
  } catch (error) {
    await Promise.all(children.map(stopProcess));
    throw error;
  }
  let isStopping = false;
  const latestStatus = statusReader();
  return {
    statuses: () => folders.map(latestStatus),
    failure() {
      const index = children.findIndex(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null);
      if (isStopping || index < 0) return undefined;
      const { exitCode, signalCode } = children[index];
      return `${folders[index]} ended with ${signalCode ?? `exit code ${exitCode}`}: ${lastLine(folders[index])}`;
    },
    async stop() {
      isStopping = true;
      await Promise.all(children.map(stopProcess));
    },
  };
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

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  const patience = setTimeout(() => child.kill("SIGKILL"), STOP_WITHIN_MILLISECONDS);
  await exited;
  clearTimeout(patience);
}

function lastLine(folder: string): string {
  return readFileSync(join(folder, LOG_FILE), "utf8").trimEnd().split("\n").at(-1) ?? "no log";
}
