// Keys that change while devices run: rotations with kill -9 at random moments and a neighbour that is away, and a
// revocation that travels along a line of devices.

import { spawnSync } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import { graph } from "@fedkm/core";
import { type DeviceFolder, readAudit, readFolder, revokePeer, rotateFolder } from "@fedkm/device/daemon";
import { print } from "../measure.ts";
import {
  type Folders,
  inSeconds,
  makeFolders,
  program,
  type RunningDevice,
  seconds,
  settle,
  startDevice,
} from "./processes.ts";
import { problem } from "./setting.ts";

/** The bars: always a whole key, all neighbours follow within 90 s, also one that was away; objective parts stay within 0.1 %. */
export async function rotations({ kills }: { kills: number }): Promise<boolean> {
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
      const { old } = await rotateFolder(center.path, false, new Date());
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
    const { next } = await rotateFolder(center.path, true, new Date());
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
export async function revocations(): Promise<boolean> {
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
    await revokePeer(zero.path, four.identity.peer, "its disk was stolen", new Date());
    const unlinked = await seconds(() => peerOf(running[1], four) === undefined && running[1].status() !== undefined);
    const shown = await seconds(() => running[3].log().includes("no longer to be trusted: its disk was stolen"));
    const kept = peerOf(running[3], four) !== undefined;
    const refused = spawnSync(process.execPath, [
      ...[
        program,
        "device",
        "link",
        `fedkm:${four.identity.peer}@${four.listen[0]}`,
        "--accept-open",
        "--state",
        one.path,
      ],
    ]);
    print("A device revoked by one two and more hops away", [
      [
        "unlinked by the neighbour",
        "shown three hops away",
        "still linked there",
        "linked again without --even-revoked",
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
