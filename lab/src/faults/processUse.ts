// What a process uses, as Linux counts it: a status file may be a minute old.

import { readdirSync, readFileSync } from "node:fs";

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
