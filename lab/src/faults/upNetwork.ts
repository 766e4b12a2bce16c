// What a whole network of `fedkm up` costs on this machine: until it has settled, and when it is idle.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { isSettled } from "@fedkm/device";
import { type DaemonStatus, STATUS_FILE } from "@fedkm/device/daemon";
import { fedkmProgram } from "../fedkm.ts";
import { print } from "../measure.ts";
import { processUse, withChildren } from "./processes.ts";

export interface UpCase {
  readonly devices: number;
  readonly graph: string;
}

const SETTLED_SECONDS = 120;
const IDLE_SHARE = 0.15;

/** Bars: settled within 120 s, and all processes together below 15 % of a core when idle. */
export async function upNetworks(cases: readonly UpCase[], idleSeconds: number): Promise<boolean> {
  const head = [
    "devices",
    "graph",
    "link ends",
    "settled after",
    "CPU until then",
    `idle for ${idleSeconds} s`,
    "load",
  ];
  const rows = [head];
  let isGood = true;
  for (const { devices, graph } of cases) {
    const load = loadAverage();
    const { seconds, ends, cpuSeconds, idleShare } = await upNetwork({ devices, graph }, idleSeconds);
    const isHeld = seconds !== undefined && seconds <= SETTLED_SECONDS && idleShare < IDLE_SHARE;
    isGood &&= isHeld;
    rows.push([
      String(devices),
      graph,
      ends,
      seconds === undefined ? "never" : `${seconds.toFixed(0)} s`,
      `${cpuSeconds.toFixed(0)} s`,
      `${(100 * idleShare).toFixed(1)} % of a core`,
      `${load} before, ${loadAverage()} after`,
    ]);
  }
  print(`fedkm up (bars: settled within ${SETTLED_SECONDS} s, idle below ${100 * IDLE_SHARE} % of a core)`, rows);
  return isGood;
}

async function upNetwork({ devices, graph }: UpCase, idleSeconds: number) {
  const base = mkdtempSync(join(tmpdir(), "fedkm-faults-"));
  const begun = performance.now();
  const passed = () => (performance.now() - begun) / 1000;
  const args = ["up", "--devices", String(devices), "--graph", graph, "--state", base];
  const child = spawn(process.execPath, [fedkmProgram, ...args], { stdio: "ignore" });
  try {
    let statuses: DaemonStatus[] = [];
    const areSettled = () =>
      statuses.length === devices && statuses.every(({ device, links }) => isSettled(device, links));
    // Twice as long as allowed: by how much a bar is missed is worth knowing.
    while (!areSettled() && passed() < 2 * SETTLED_SECONDS) {
      await pause(1_000);
      statuses = readStatuses(base);
    }
    const seconds = areSettled() ? passed() : undefined;
    const ends = statuses.flatMap(({ links }) => links);
    const pids = withChildren(child.pid ?? 0);
    const cpu = () => pids.reduce((sum, pid) => sum + processUse(pid).cpuSeconds, 0);
    const cpuSeconds = cpu();
    await pause(1_000 * idleSeconds);
    return {
      seconds,
      ends: `${ends.filter(({ isConnected }) => isConnected).length} of ${ends.length}`,
      cpuSeconds,
      idleShare: (cpu() - cpuSeconds) / idleSeconds,
    };
  } finally {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    rmSync(base, { recursive: true, force: true });
  }
}

function readStatuses(base: string): DaemonStatus[] {
  const files = readdirSync(base).map((name) => join(base, name, STATUS_FILE));
  return files.filter((file) => existsSync(file)).map((file) => JSON.parse(readFileSync(file, "utf8")));
}

const loadAverage = () => readFileSync("/proc/loadavg", "utf8").split(" ")[0];
