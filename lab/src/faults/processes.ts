// Devices as processes for the fault runs: folders, starts, what they say, and an end for each of them.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { formatStudy, isSettled, pointsAsCsv } from "@fedkm/device";
import {
  createFolder,
  type DaemonStatus,
  type DeviceFolder,
  freePorts,
  type Link,
  STATUS_FILE,
  writeLinks,
} from "@fedkm/device/daemon";
import type { Problem } from "./setting.ts";

/** The built command. */
export const program = fileURLToPath(new URL("../../../cli/bin/fedkm.js", import.meta.url));

const SETTLE_MILLISECONDS = 60_000;

/** Folders of linked devices, in a temporary place. */
export interface Folders {
  readonly devices: readonly DeviceFolder[];
  remove(): void;
}

export interface FolderOptions {
  /** Peers that device 0 is linked to as well, and that have no folder. */
  readonly guests?: readonly Link[];
  /** Where a device listens. Default loopback. */
  readonly hosts?: readonly string[];
  /** Links without addresses. */
  readonly isLost?: boolean;
}

export async function makeFolders(
  { study, datasets, graph }: Problem,
  { guests = [], hosts, isLost = false }: FolderOptions = {},
): Promise<Folders> {
  const base = mkdtempSync(join(tmpdir(), "fedkm-faults-"));
  const devices: DeviceFolder[] = [];
  const ports = await freePorts("127.0.0.1", datasets.length);
  for (const [index, points] of datasets.entries()) {
    const name = `device-${index}`;
    const file = join(base, `${name}.csv`);
    writeFileSync(file, pointsAsCsv(study, points));
    const listen = [`/ip4/${hosts?.[index] ?? "127.0.0.1"}/tcp/${ports[index]}`];
    devices.push(
      await createFolder(join(base, name), formatStudy(study), { name, data: [file], listen, announce: [] }),
    );
  }
  for (const [index, { path }] of devices.entries()) {
    const links = Array.from(graph.neighbours[index], (other): Link => {
      const { name, identity, listen } = devices[other];
      return { name, peer: identity.peer, addresses: other < index && !isLost ? listen : [] };
    });
    await writeLinks(path, index === 0 ? [...links, ...guests] : links);
  }
  return { devices, remove: () => rmSync(base, { recursive: true, force: true }) };
}

export interface RunningDevice {
  readonly child: ChildProcess;
  readonly startedAt: number;
  /** All of its log so far. */
  log(): string;
  /** Milliseconds from its start to the first line that holds the text; rejects if it ends before. */
  said(text: string): Promise<number>;
  /** Undefined before its first one. */
  status(): DaemonStatus | undefined;
  end(signal: NodeJS.Signals): Promise<void>;
}

/** `within`: a command that runs another one, such as `ip netns exec NAME`; `run`: a program that runs a device. */
export function startDevice(
  folder: DeviceFolder,
  within: readonly string[] = [],
  options: readonly string[] = [],
  run: readonly string[] = [program, "device", "run"],
): RunningDevice {
  const startedAt = performance.now();
  rmSync(join(folder.path, STATUS_FILE), { force: true });
  const [command, ...args] = [...within, process.execPath, ...run, "--state", folder.path, ...options];
  const child = spawn(command, args, {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let log = "";
  child.stderr?.on("data", (chunk) => {
    log += chunk;
  });
  return {
    child,
    startedAt,
    log: () => log,
    said: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!log.includes(text)) return;
          child.stderr?.off("data", look);
          resolve(performance.now() - startedAt);
        };
        child.stderr?.on("data", look);
        child.once("exit", () => reject(new Error(`ended before it said "${text}": ${log}`)));
        look();
      }),
    status() {
      try {
        return JSON.parse(readFileSync(join(folder.path, STATUS_FILE), "utf8"));
      } catch {
        return undefined;
      }
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, "exit");
      child.kill(signal);
      await exited;
    },
  };
}

/** Waits until all are settled, for a minute at most. */
export async function settle(devices: readonly RunningDevice[]): Promise<void> {
  const end = performance.now() + SETTLE_MILLISECONDS;
  while (!areSettled(devices) && performance.now() < end) await pause(100);
}

export function areSettled(devices: readonly RunningDevice[]): boolean {
  return devices.every((device) => {
    const status = device.status();
    return status !== undefined && isSettled(status.device, status.links);
  });
}

const WITHIN_MILLISECONDS = 90_000;

/** How long until it is so; infinity: not within the bar. */
export async function seconds(isSo: () => boolean): Promise<number> {
  const begun = performance.now();
  for (; performance.now() - begun < WITHIN_MILLISECONDS; await pause(50)) {
    if (isSo()) return (performance.now() - begun) / 1000;
  }
  return Number.POSITIVE_INFINITY;
}

export const inSeconds = (time: number) => (Number.isFinite(time) ? `after ${time.toFixed(1)} s` : "never");
