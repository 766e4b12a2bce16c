// Who a device is, when that goes wrong: a damaged key, a clock that ran ahead before a backup, and a key used twice;
// and when it changes: rotations and revocations.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { graph } from "@fedkm/core";
import {
  type DeviceFolder,
  freeMachinePorts,
  readAudit,
  readFolder,
  revokePeer,
  rotateKey,
  writeSettings,
} from "@fedkm/device/daemon";
import { fedkmProgram } from "../fedkm.ts";
import { print } from "../measure.ts";
import {
  type Folders,
  inSeconds,
  makeFolders,
  problem,
  type RunningDevice,
  seconds,
  settle,
  startDevice,
} from "./processes.ts";

// Keys that change while devices run: rotations with kill -9 at random moments and a neighbour that is away, and a
// revocation that travels along a line of devices.

/** The bars: always a whole key, all neighbours follow within 90 s, also one that was away; objective parts stay within 0.1 %. */
async function rotations({ kills }: { kills: number }): Promise<boolean> {
  const held = [await rotationUnderKills(kills), await rotationWithoutOne()];
  return held.every((is) => is);
}

async function star(): Promise<Folders> {
  const { study, datasets } = problem("iso", 1);
  const links: [number, number][] = [
    [0, 1],
    [0, 2],
    [1, 2],
  ];
  return makeFolders({ study, datasets: datasets.slice(0, 3), graph: graph(3, links) });
}

/** Device 0 rotates, and is killed and started again until its neighbours have followed. */
async function rotationUnderKills(kills: number): Promise<boolean> {
  const folders = await star();
  const [center, ...others] = folders.devices;
  const running = others.map((folder) => startDevice(folder));
  let device = startDevice(center);
  let [whole, changed] = [0, 0];
  try {
    await settle([device, ...running]);
    const before = sumOfParts([device, ...running]);
    for (let kill = 0; kill < kills; kill++) {
      const { old } = await rotateKey(center, false, console.warn);
      // Around the moment at which the new key becomes the device's own.
      await pause(3_000 * Math.random());
      await device.end("SIGKILL");
      const { identity } = await readFolder(center.path);
      whole += 1;
      if (identity.peer !== old) changed += 1;
      device = startDevice(center);
      await device.said("listening");
      await seconds(() => isLinkedToAll(device, 2));
    }
    const followed = await seconds(() => isLinkedToAll(device, 2));
    await settle([device, ...running]);
    const difference = Math.abs(sumOfParts([device, ...running]) / before - 1);
    const chains = await Promise.all(folders.devices.map(({ path }) => readAudit(path)));
    const broken = chains.filter((chain) => chain.broken !== undefined).length;
    print("A key rotated again and again, with kill -9 at random moments", [
      ["kills", "whole keys", "changed before it", "linked again", "objective", "audit logs broken"],
      [kills, whole, changed, inSeconds(followed), `${(100 * difference).toFixed(4)} %`, broken].map(String),
    ]);
    return whole === kills && Number.isFinite(followed) && difference < 1e-3 && broken === 0;
  } finally {
    await Promise.all([device, ...running].map((one) => one.end("SIGTERM")));
    folders.remove();
  }
}

/** Device 0 is away while device 2, which knows its address, rotates without waiting for it. */
async function rotationWithoutOne(): Promise<boolean> {
  const folders = await star();
  const [away, near, center] = folders.devices;
  const running = [startDevice(center), startDevice(near)];
  try {
    await seconds(() => isLinkedToAll(running[0], 1));
    const { next } = await rotateKey(center, true, console.warn);
    const used = await seconds(() => running[0].status()?.device.peer === next);
    const followed = await seconds(() => peerOf(running[1], center) === next && isConnected(running[1], center));
    running.push(startDevice(away));
    const returned = await seconds(() => peerOf(running[2], center) === next && isConnected(running[2], center));
    print("A key rotated while a neighbour is away", [
      ["in use", "linked by the neighbour that is there", "by the one that was away, after its return"],
      [used, followed, returned].map(inSeconds),
    ]);
    return [used, followed, returned].every(Number.isFinite);
  } finally {
    await Promise.all(running.map((one) => one.end("SIGTERM")));
    folders.remove();
  }
}

/** On a line 0 - 1 - 2 - 3 where 4 is linked to 1 and 3, device 0 has 4 revoked. 1 is its neighbour, 3 is not. */
async function revocations(): Promise<boolean> {
  const { study, datasets } = problem("iso", 1);
  const links: [number, number][] = [
    [0, 1],
    [1, 2],
    [2, 3],
    [1, 4],
    [3, 4],
  ];
  const folders = await makeFolders({ study, datasets: datasets.slice(0, 5), graph: graph(5, links) });
  const running = folders.devices.map((folder) => startDevice(folder));
  const [zero, one, , , four] = folders.devices;
  try {
    await settle(running);
    await revokePeer(await readFolder(zero.path), four.identity.peer, "its disk was stolen", console.warn);
    const unlinked = await seconds(() => peerOf(running[1], four) === undefined && running[1].status() !== undefined);
    const shown = await seconds(() => running[3].log().includes("no longer to be trusted: its disk was stolen"));
    const kept = peerOf(running[3], four) !== undefined;
    const refused = spawnSync(process.execPath, [
      ...[
        fedkmProgram,
        "device",
        "link",
        `fedkm:${four.identity.peer}@${four.listen[0]}`,
        "--accept",
        "open",
        "--state",
        one.path,
      ],
    ]);
    print("A device revoked by one two and more hops away", [
      [
        "unlinked by the neighbour",
        "shown three hops away",
        "still linked there",
        "linked again without --accept revoked",
      ],
      [inSeconds(unlinked), inSeconds(shown), String(kept), refused.status === 1 ? "refused" : "taken"],
    ]);
    return [unlinked, shown].every(Number.isFinite) && kept && refused.status === 1;
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

const linkOf = (device: RunningDevice, { name }: DeviceFolder) =>
  device.status()?.links.find((link) => link.name === name);
const peerOf = (device: RunningDevice, to: DeviceFolder) => linkOf(device, to)?.peer;
const isConnected = (device: RunningDevice, to: DeviceFolder) => linkOf(device, to)?.isConnected === true;
const isLinkedToAll = (device: RunningDevice, links: number) =>
  device.status()?.links.filter((link) => link.isConnected).length === links;
const sumOfParts = (devices: readonly RunningDevice[]) =>
  devices.reduce((sum, device) => sum + (device.status()?.device.objective ?? Number.NaN), 0);

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
  const [port] = await freeMachinePorts("127.0.0.1", 1);
  await writeSettings(to, { name, data, announce, listen: [`/ip4/127.0.0.1/tcp/${port}`] });
  return readFolder(to);
}

/** A module, as part of an address, that steps the wall clock of the process that loads it. */
function stepClock(milliseconds: number): string {
  return encodeURIComponent(`const now = Date.now; Date.now = () => now() + ${milliseconds};`);
}
