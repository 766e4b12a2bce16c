// Devices as processes for the fault runs: their problem, folders, starts, what they print and use, and an end for each.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { erdosRenyi, type Graph, type Matrix, type PaperKind, paperData, randomStream } from "@fedkm/core";
import { formatStudy, isSettled, pointsAsCsv, type Study, studyOfPoints } from "@fedkm/device";
import {
  createFolder,
  type DaemonStatus,
  type DeviceFolder,
  freeMachinePorts,
  type Link,
  STATUS_FILE,
  writeLinksFile,
} from "@fedkm/device/daemon";
import type { Identity } from "@fedkm/device/libp2p";
import { fedkmProgram } from "../fedkm.ts";

// The problems of the fault runs: the paper's data on ten devices, as a study that devices share.

export interface Problem {
  readonly study: Study;
  readonly datasets: readonly Matrix[];
  readonly graph: Graph;
}

/** Ten devices with 100 points each, linked as G(10, p), k = 3. Scales are 1, so that coordinates are comparable with `fit`. */
export function problem(kind: PaperKind, seed: number, probability = 0.4, alpha = 1): Problem {
  const { datasets } = paperData(kind, 10, 100, seed);
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: `${kind} ${seed}`, alpha });
  return { study, datasets, graph: erdosRenyi(10, probability, randomStream(seed, "graph")) };
}

// What a process uses, as Linux counts it: a status file may be a minute old.

/** Of one process and all its threads since its start, except for its memory, which is that of now. */
export interface ProcessUse {
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** How often a thread of it waited for something, and so was woken up. */
  readonly wakeUps: number;
  readonly writtenBytes: number;
}

/** What Linux gives to programs as the unit of CPU time, whatever the kernel's own is. */
const TICKS_PER_SECOND = 100;

export function processUse(pid: number): ProcessUse {
  const folder = `/proc/${pid}`;
  const [userTicks, systemTicks] = statOf(pid).slice(11, 13).map(Number);
  const tasks = readdirSync(`${folder}/task`);
  return {
    cpuSeconds: (userTicks + systemTicks) / TICKS_PER_SECOND,
    memoryBytes: 1024 * named(`${folder}/status`, "VmRSS"),
    wakeUps: tasks.reduce((sum, task) => sum + named(`${folder}/task/${task}/status`, "voluntary_ctxt_switches"), 0),
    writtenBytes: named(`${folder}/io`, "wchar"),
  };
}

/** The process and all that it started itself. */
export function withChildren(pid: number): number[] {
  const all = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return [pid, ...all.map(Number).filter((other) => parentOf(other) === pid)];
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(statOf(pid)[1]);
  } catch {
    // It has ended since the folder was read.
    return undefined;
  }
}

/** The fields from the state on, the third: the name before it may hold spaces. */
function statOf(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

function named(file: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(readFileSync(file, "utf8"))?.[1]);
}

/** The built command. */

const SETTLE_MILLISECONDS = 60_000;

/** Folders of linked devices, in a temporary place. */
export interface Folders {
  readonly devices: readonly DeviceFolder[];
  remove(): void;
}

interface FolderOptions {
  /** Peers that device 0 is linked to as well, and that have no folder. */
  readonly guests?: readonly Link[];
  /** Where a device listens. Default loopback. */
  readonly hosts?: readonly string[];
  /** Links without addresses. */
  readonly isLost?: boolean;
  /** The keys of the devices. Default: new ones. */
  readonly identities?: readonly Identity[];
}

export async function makeFolders(
  { study, datasets, graph }: Problem,
  { guests = [], hosts, isLost = false, identities = [] }: FolderOptions = {},
): Promise<Folders> {
  const base = mkdtempSync(join(tmpdir(), "fedkm-faults-"));
  const devices: DeviceFolder[] = [];
  const ports = await freeMachinePorts("127.0.0.1", datasets.length);
  for (const [index, points] of datasets.entries()) {
    const name = `device-${index}`;
    const file = join(base, `${name}.csv`);
    writeFileSync(file, pointsAsCsv(study, points));
    const listen = [`/ip4/${hosts?.[index] ?? "127.0.0.1"}/tcp/${ports[index]}`];
    const settings = { name, data: [file], listen, announce: [] };
    devices.push(await createFolder(join(base, name), formatStudy(study), settings, identities[index]));
  }
  for (const [index, { path }] of devices.entries()) {
    const links = Array.from(graph.neighbours[index], (other): Link => {
      const { name, identity, listen } = devices[other];
      return { name, peer: identity.peer, addresses: other < index && !isLost ? listen : [] };
    });
    await writeLinksFile(path, index === 0 ? [...links, ...guests] : links);
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
  run: readonly string[] = [fedkmProgram, "device", "run"],
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
