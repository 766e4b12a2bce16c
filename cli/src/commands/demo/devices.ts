// The demo's devices for real: ten processes on loopback that find each other and agree, or the same loop in this process.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Matrix, matrix } from "@fedkm/core";
import { contractOf, simulate, studyOfPoints } from "@fedkm/device";
import { checkLoopback, type DaemonStatus } from "@fedkm/device/daemon";
import { systemReason } from "@fedkm/files";
import { prepareFolders } from "../../devices/folders.ts";
import { startProcesses } from "../../devices/processes.ts";
import { hasSettled } from "../../devices/state.ts";
import { planDatasets } from "../../devices/study.ts";
import { stoppable } from "../../stop.ts";
import type { Problem } from "./comparison.ts";

/** What the devices came to, and at what cost. */
export interface DevicesResult {
  readonly centroids: readonly Matrix[];
  readonly messages: number;
  readonly bytes: number;
  readonly milliseconds: number;
  /** Whether every device came to rest with all of its neighbours heard. */
  readonly isAgreed: boolean;
  /** Why they were no processes, if they were not. */
  readonly inProcess: string | undefined;
}

/** Moves below this share of the range are agreement enough to look at; devices go on to 1e-6. */
const AGREED_MOVE = 1e-5;
const WITHIN_MILLISECONDS = 35_000;
/** On a very busy machine. */
const BEGUN_WITHIN_MILLISECONDS = 180_000;
const LOOK_EVERY_MILLISECONDS = 100;

export async function runDevices(
  problem: Problem,
  inProcess: string | undefined,
  onProgress: (text: string) => void,
): Promise<DevicesResult> {
  const reason = inProcess ?? (await whyNoPorts());
  return reason === undefined
    ? stoppable((signal) => runProcesses(problem, onProgress, signal))
    : simulateDevices(problem, reason);
}

async function whyNoPorts(): Promise<string | undefined> {
  try {
    await checkLoopback();
    return undefined;
  } catch (error) {
    return `no port could be opened: ${systemReason(error)}`;
  }
}

async function runProcesses(
  problem: Problem,
  onProgress: (text: string) => void,
  signal: AbortSignal,
): Promise<DevicesResult> {
  const { datasets, graph, k, alpha } = problem;
  const begun = performance.now();
  const base = mkdtempSync(join(tmpdir(), "fedkm-demo-"));
  try {
    const folders = await prepareFolders({ base, graph, ...planDatasets(datasets, join(base, "data"), { k, alpha }) });
    const processes = await startProcesses(folders);
    let [isAgreed, haveBegun] = [false, false];
    const isTime = () => performance.now() - begun < (haveBegun ? WITHIN_MILLISECONDS : BEGUN_WITHIN_MILLISECONDS);
    try {
      while (!isAgreed && isTime()) {
        const statuses = processes.statuses();
        haveBegun = statuses.every((status) => status !== undefined && status.device.centroids !== null);
        const failure = processes.failure();
        if (failure !== undefined) throw new Error(failure);
        const agreed = statuses.filter((status) => hasSettled(status, AGREED_MOVE)).length;
        onProgress(`${agreed} of ${statuses.length} devices agree with their neighbours`);
        isAgreed = agreed === statuses.length;
        await pause(LOOK_EVERY_MILLISECONDS, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    } finally {
      await processes.stop();
    }
    if (!haveBegun)
      return simulateDevices(problem, `ten processes had not begun after ${BEGUN_WITHIN_MILLISECONDS / 60_000} min`);
    const milliseconds = performance.now() - begun;
    return { ...summed(processes.statuses()), milliseconds, isAgreed, inProcess: undefined };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

function summed(statuses: readonly (DaemonStatus | undefined)[]) {
  const sent = statuses.flatMap((status) => status?.links.map((link) => link.sent) ?? []);
  return {
    centroids: statuses.map((status) => matrix(status?.device.centroids ?? [])),
    messages: broadcasts(statuses.map((status) => [status?.device.framesSent ?? 0, status?.links.length ?? 0])),
    bytes: sent.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}

/** What is sent to all neighbours at once is one message, as in the methods beside. */
function broadcasts(devices: readonly (readonly [frames: number, neighbours: number])[]): number {
  return devices.reduce((sum, [frames, neighbours]) => sum + Math.ceil(frames / Math.max(1, neighbours)), 0);
}

/** The same loop without sockets and without waiting: links in memory, and a clock that jumps. */
async function simulateDevices(
  { datasets, graph, k, alpha, seed }: Problem,
  inProcess: string,
): Promise<DevicesResult> {
  const begun = performance.now();
  const study = studyOfPoints(datasets, ["x1", "x2"], { name: "demo", k, alpha });
  const simulation = simulate({ study, contract: await contractOf(study), datasets, graph, seed });
  const isAgreed = simulation.settle(WITHIN_MILLISECONDS);
  const messages = broadcasts(
    datasets.map((_, i) => [simulation.status(i).framesSent, graph.neighbours[i].length] as const),
  );
  const milliseconds = performance.now() - begun;
  return { centroids: simulation.centroids(), messages, bytes: simulation.bytes, milliseconds, isAgreed, inProcess };
}
