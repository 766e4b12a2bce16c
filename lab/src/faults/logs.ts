// Logs that cannot be written, in every way: devices must go on, agree, and say in their status what is lost.

import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { graph } from "@fedkm/core";
import { isSettled } from "@fedkm/device";
import { type DaemonStatus, type DeviceFolder, isLocked, STATUS_FILE } from "@fedkm/device/daemon";
import { fedkmProgram } from "../fedkm.ts";
import { print } from "../measure.ts";
import { makeFolders, problem, processUse, startDevice } from "./processes.ts";

const WITHIN_MILLISECONDS = 60_000;

/** What stands behind stderr of a device. `recover` makes it writable again, if it can be. */
interface Sink {
  readonly name: string;
  readonly stderr: number | "pipe";
  /** Whether a pipe is left unread instead of closed. */
  readonly isStuck?: boolean;
  recover?(): void;
  remove(): void;
}

/**
 * The bar: each device settles, survives SIGHUP, names its log until it can be written again, ends when it is asked to,
 * and after kill -9 nobody takes it for running.
 */
export async function logs(): Promise<boolean> {
  const rows = [["stderr", "settled", "after SIGHUP", "notice", "over when there is room", "memory", "after kill -9"]];
  let isGood = true;
  for (const sink of sinks()) {
    const found = await tryLog(sink);
    isGood &&=
      found.isSettled &&
      found.survives &&
      found.isNamed !== false &&
      found.recovers !== false &&
      !found.isTakenForRunning;
    rows.push([
      sink.name,
      yesOrNo(found.isSettled),
      found.survives ? "runs" : "ended",
      yesOrNo(found.isNamed),
      yesOrNo(found.recovers),
      `${(found.memoryBytes / 1e6).toFixed(0)} MB`,
      found.isTakenForRunning ? "taken for running" : "not running",
    ]);
  }
  print("Logs that cannot be written", rows);
  return isGood;
}

/** Nothing where it was not tried. */
function yesOrNo(is: boolean | undefined): string {
  return is === undefined ? "" : is ? "yes" : "no";
}

function sinks(): Sink[] {
  const nothing = () => undefined;
  const full = openSync("/dev/full", "w");
  return [
    { name: "/dev/full", stderr: full, remove: () => closeSync(full) },
    { name: "a closed pipe", stderr: "pipe", remove: nothing },
    { name: "a pipe that nobody reads", stderr: "pipe", isStuck: true, remove: nothing },
    ...smallDisk(),
  ];
}

/** A file on a disk of 64 kB that is full; none without the right to mount one. */
function smallDisk(): Sink[] {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-small-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", folder], { stdio: "ignore" });
  } catch {
    rmSync(folder, { recursive: true });
    return [];
  }
  const filler = join(folder, "filler");
  const log = openSync(join(folder, "log"), "a");
  try {
    writeFileSync(filler, new Uint8Array(128 * 1024));
  } catch {
    // It is full now.
  }
  const remove = () => {
    closeSync(log);
    execFileSync("umount", [folder]);
    rmSync(folder, { recursive: true });
  };
  return [{ name: "a full disk", stderr: log, recover: () => truncateSync(filler, 0), remove }];
}

async function tryLog({ stderr, isStuck, recover, remove }: Sink) {
  const { study, datasets } = problem("iso", 1);
  const folders = await makeFolders({ study, datasets: datasets.slice(0, 2), graph: graph(2, [[0, 1]]) });
  const neighbour = startDevice(folders.devices[0]);
  const { path } = folders.devices[1];
  const args = [fedkmProgram, "device", "run", "--state", path, "--log", "debug"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", stderr] });
  if (isStuck) child.stderr?.pause();
  else child.stderr?.destroy();
  const isLost = (status: DaemonStatus) => status.notices.some(({ cause, until }) => cause === "log" && until === null);
  try {
    const isReached = await within(folders.devices[1], ({ device, links }) => isSettled(device, links));
    child.kill("SIGHUP");
    const hungUp = new Date();
    // It reads its data again, so it lives.
    for (const file of folders.devices[1].data) utimesSync(file, hungUp, hungUp);
    const survives = await within(folders.devices[1], ({ dataReadAt }) => Date.parse(dataReadAt) > hungUp.getTime());
    // A pipe takes 64 kB before anything is lost; a quiet device does not write as much in a minute.
    const isNamed = isStuck ? undefined : await within(folders.devices[1], isLost);
    recover?.();
    const recovers = recover && (await within(folders.devices[1], (status) => !isLost(status)));
    const isAlive = child.exitCode === null && child.signalCode === null;
    const memoryBytes = isAlive ? processUse(child.pid ?? 0).memoryBytes : Number.NaN;
    child.kill("SIGKILL");
    await new Promise((done) => child.once("exit", done));
    return {
      isSettled: isReached,
      survives: survives && isAlive,
      isNamed,
      recovers,
      memoryBytes,
      isTakenForRunning: await isLocked(path),
    };
  } finally {
    child.kill("SIGKILL");
    await neighbour.end("SIGTERM");
    folders.remove();
    remove();
  }
}

function statusOf({ path }: DeviceFolder): DaemonStatus | undefined {
  try {
    return JSON.parse(readFileSync(join(path, STATUS_FILE), "utf8"));
  } catch {
    return undefined;
  }
}

/** Whether the device's status comes to be so within a minute. */
async function within(folder: DeviceFolder, isSo: (status: DaemonStatus) => boolean): Promise<boolean> {
  for (const end = performance.now() + WITHIN_MILLISECONDS; performance.now() < end; await pause(100)) {
    const status = statusOf(folder);
    if (status !== undefined && isSo(status)) return true;
  }
  return false;
}
