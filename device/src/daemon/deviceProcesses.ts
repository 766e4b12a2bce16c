// Devices as processes of this machine: started together, watched, and never left behind.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { DaemonStatus } from "./status.ts";
import { statusReader } from "./statusFile.ts";

/** What each device last wrote in this run; undefined before its first. */
export type Statuses = readonly (DaemonStatus | undefined)[];

const LOOK_EVERY_MILLISECONDS = 200;
const STOP_WITHIN_MILLISECONDS = 10_000;
const LOG_FILE = "device.log";

/** A device that ended is started again after this time, and twice as long each time, up to the longest. */
const FIRST_WAIT_MILLISECONDS = 1_000;
const LONGEST_WAIT_MILLISECONDS = 30_000;
/** After so long without an end its earlier ends are forgotten. */
const SOUND_MILLISECONDS = 60_000;

/** A device's process, and when it is started again if it has ended. */
interface Supervised {
  readonly folder: string;
  child: ChildProcess;
  startedAt: number;
  waits: number;
  againAt?: number;
}

/** How devices are started: a program with its arguments, which gets the folder of its device as the last one. */
export type DeviceProgram = readonly string[];

/** What is done about devices that end. */
export interface Supervision {
  /** Learns of each end, in one line. */
  onEnd(words: string): void;
  /** By folder: how devices have ended lately, as a sentence. */
  readonly ends: Map<string, string>;
}

/**
 * Runs the devices of some folders until `isOver` says so or the signal aborts, and returns their last words. A device that
 * ends is started again under `supervision`; without it, its end is that of all.
 */
export async function runProcesses(
  folders: readonly string[],
  program: DeviceProgram,
  signal: AbortSignal,
  isOver: (statuses: Statuses) => boolean,
  supervision?: Supervision,
): Promise<Statuses> {
  const devices: Supervised[] = [];
  const latestStatus = statusReader();
  try {
    for (const folder of folders) {
      devices.push({ folder, child: startProcess(program, folder), startedAt: performance.now(), waits: 0 });
    }
    for (;;) {
      for (const device of devices) {
        if (supervision !== undefined) keepUp(device, program, supervision);
        else if (hasEnded(device.child)) throw new Error(failureOf(device));
      }
      if (isOver(folders.map(latestStatus)) || signal.aborted) break;
      // Cut short when it is stopped, which the next turn sees.
      await pause(LOOK_EVERY_MILLISECONDS, undefined, { signal }).catch(() => undefined);
    }
  } finally {
    await Promise.all(devices.map(({ child }) => stopProcess(child)));
  }
  return folders.map(latestStatus);
}

/** Starts a device again that has ended, in time; the others go on meanwhile. */
function keepUp(device: Supervised, program: DeviceProgram, { onEnd, ends }: Supervision): void {
  const { folder, child, againAt } = device;
  const now = performance.now();
  if (!hasEnded(child)) {
    if (now - device.startedAt < SOUND_MILLISECONDS) return;
    device.waits = 0;
    ends.delete(folder);
  } else if (againAt === undefined) {
    const wait = Math.min(LONGEST_WAIT_MILLISECONDS, FIRST_WAIT_MILLISECONDS * 2 ** device.waits);
    const words = `${failureOf(device)}; it is started again after ${wait / 1000} s`;
    Object.assign(device, { againAt: now + wait, waits: device.waits + 1 });
    onEnd(words);
    ends.set(folder, `${words}.`);
  } else if (now >= againAt) {
    delete device.againAt;
    Object.assign(device, { child: startProcess(program, folder), startedAt: now });
  }
}

function startProcess([command, ...args]: DeviceProgram, folder: string): ChildProcess {
  const log = openSync(join(folder, LOG_FILE), "a", 0o600);
  try {
    // The channel ends with this process, however it ends, and the device with the channel.
    return spawn(command, [...args, folder], { stdio: ["ignore", "ignore", log, "ipc"] });
  } finally {
    closeSync(log);
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

function failureOf({ folder, child: { exitCode, signalCode } }: Supervised): string {
  if (signalCode !== null) return `${folder} ended with ${signalCode}`;
  const lastLine = readFileSync(join(folder, LOG_FILE), "utf8").trimEnd().split("\n").at(-1) ?? "no log";
  return `${folder} ended with exit code ${exitCode}: ${lastLine}`;
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
