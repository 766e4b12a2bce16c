// Who a device is, when that goes wrong: a damaged key, a clock that ran ahead before a backup, and a key used twice;
// and when it changes: rotations and revocations.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { graph } from "@fedkm/core";
import { type DeviceFolder, freePorts, readFolder, writeSettings } from "@fedkm/device/daemon";
import { print } from "../measure.ts";
import { revocations, rotations } from "./keys.ts";
import { type Folders, inSeconds, makeFolders, type RunningDevice, seconds, settle, startDevice } from "./processes.ts";
import { problem } from "./setting.ts";

const YEAR_MILLISECONDS = 365.25 * 86_400_000;

/**
 * The bars: every flip detected; both ends say what is wrong within 90 s, and a restart ends it; a copy is named on all.
 * Those of rotations and revocations stand with them.
 */
export async function identity({ kills }: { kills: number }): Promise<boolean> {
  const held = [
    await damagedKeys(),
    await restoredBackup(),
    await sameKeyTwice(),
    await rotations({ kills }),
    await revocations(),
  ];
  return held.every((is) => is);
}

async function pair(): Promise<Folders> {
  const { study, datasets } = problem("iso", 1);
  return makeFolders({
    study,
    datasets: datasets.slice(0, 3),
    graph: graph(3, [
      [0, 1],
      [0, 2],
    ]),
  });
}

async function damagedKeys(): Promise<boolean> {
  const folders = await pair();
  const [{ path, identity: made }] = folders.devices;
  const file = join(path, "key");
  const whole = readFileSync(file);
  let [tried, detected, named] = [0, 0, 0];
  try {
    for (let bit = 0; bit < 8 * whole.length; bit++) {
      writeFileSync(
        file,
        whole.map((byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte)),
      );
      tried += 1;
      const line = await readFolder(path).then(
        ({ identity: read }) => (read.peer === made.peer ? "" : "another"),
        String,
      );
      if (line.startsWith("Error")) detected += 1;
      if (line.includes(file)) named += 1;
    }
  } finally {
    folders.remove();
  }
  print("A key with one bit flipped", [["flips", "detected", "file named"], [tried, detected, named].map(String)]);
  return detected === tried && named === tried;
}

/** Of one link, by the name of the neighbour. */
const conflictOf = (device: RunningDevice, name: string) =>
  device.status()?.links.find((link) => link.name === name)?.conflict ?? null;

/** Device 1 runs with a clock that is a year ahead; then its backup is restored, without epoch and state. */
async function restoredBackup(): Promise<boolean> {
  const folders = await pair();
  const [center, other, third] = folders.devices;
  const ahead = ["env", `NODE_OPTIONS=--import=data:text/javascript,${stepClock(YEAR_MILLISECONDS)}`];
  const running = [startDevice(center), startDevice(third)];
  try {
    const early = startDevice(other, ahead);
    await settle([...running, early]);
    await early.end("SIGTERM");
    for (const name of ["epoch.a", "epoch.b", "state.a", "state.b"]) rmSync(join(other.path, name), { force: true });
    const restored = startDevice(other);
    running.push(restored);
    const there = await seconds(() => conflictOf(running[0], other.name)?.startsWith("is refused") ?? false);
    const here = await seconds(() => conflictOf(restored, center.name)?.startsWith("refuses this device") ?? false);
    await restored.end("SIGTERM");
    const again = startDevice(other);
    running.push(again);
    const over = await seconds(() => {
      const { framesHeard = 0, conflict } = running[0].status()?.links.find(({ name }) => name === other.name) ?? {};
      return (
        framesHeard > 0 && conflict === null && conflictOf(again, center.name) === null && again.status() !== undefined
      );
    });
    print("A backup restored after a clock that was a year ahead", [
      ["said by the neighbour", "said by the device", "over after its next start"],
      [there, here, over].map(inSeconds),
    ]);
    return [there, here, over].every(Number.isFinite);
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

/** A copy of device 1's folder, on another port. */
async function sameKeyTwice(): Promise<boolean> {
  const folders = await pair();
  const [center, original, third] = folders.devices;
  const base = mkdtempSync(join(tmpdir(), "fedkm-copy-"));
  const running = [center, original, third].map((folder) => startDevice(folder));
  try {
    await settle(running);
    const copy = startDevice(await copyOf(original, join(base, "copy")));
    running.push(copy);
    const times = [
      await seconds(() => conflictOf(running[0], original.name)?.startsWith("runs twice") ?? false),
      await seconds(() => conflictOf(running[1], center.name)?.includes("this device") ?? false),
      await seconds(() => conflictOf(copy, center.name)?.includes("this device") ?? false),
    ];
    print("One key used by two devices", [
      ["named by the neighbour", "by the original", "by the copy"],
      times.map(inSeconds),
    ]);
    return times.every(Number.isFinite);
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
    rmSync(base, { recursive: true });
  }
}

async function copyOf({ path, name, data, announce }: DeviceFolder, to: string): Promise<DeviceFolder> {
  cpSync(path, to, { recursive: true, filter: (file) => !file.endsWith("lock") });
  const [port] = await freePorts("127.0.0.1", 1);
  await writeSettings(to, { name, data, announce, listen: [`/ip4/127.0.0.1/tcp/${port}`] });
  return readFolder(to);
}

/** A module, as part of an address, that steps the wall clock of the process that loads it. */
function stepClock(milliseconds: number): string {
  return encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${milliseconds};`);
}
