// Links as people make and lose them: many at once, one side first, and devices that move to other addresses.

import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { graph } from "@fedkm/core";
import { type DaemonStatus, readLinksFile, writeLinksFile } from "@fedkm/device/daemon";
import { createIdentity, libp2pNetwork } from "@fedkm/device/libp2p";
import { fedkmProgram } from "../fedkm.ts";
import { print } from "../measure.ts";
import { inside, ip, names, withCable } from "./namespaces.ts";
import { makeFolders, problem, processUse, type RunningDevice, startDevice } from "./processes.ts";
import { isLinked, leave, scene } from "./tcpNetwork.ts";

const fedkm = (...args: string[]) => promisify(execFile)(process.execPath, [fedkmProgram, ...args]);

const twoDevices = () => {
  const { study, datasets } = problem("iso", 1);
  return { study, datasets: datasets.slice(0, 2), graph: graph(2, [[0, 1]]) };
};

/** Six processes that link at the same moment, then one that knocks and is accepted. Bars: none lost, 60 s. */
export async function linksAtOnce(): Promise<boolean> {
  const folders = await makeFolders(twoDevices());
  const [north, south] = folders.devices;
  const running: RunningDevice[] = [];
  try {
    await writeLinksFile(north.path, []);
    const invites = await Promise.all(Array.from({ length: 6 }, async () => `fedkm:${(await createIdentity()).peer}`));
    await Promise.all(
      invites.map((invite) => fedkm("device", "link", invite, "--accept", "open", "--state", north.path)),
    );
    const made = (await readLinksFile(north.path)).length;
    // South links north, which learns of it by the knock alone.
    await writeLinksFile(south.path, [{ name: "north", peer: north.identity.peer, addresses: north.listen }]);
    running.push(startDevice(north), startDevice(south));
    const knocked = await within(60, async () => (running[0].status()?.pending.length ?? 0) > 0);
    await fedkm("device", "accept", south.identity.peer, "--accept", "open", "--state", north.path);
    const linked = await within(60, async () => running.every((device) => connections(device) > 0));
    print("Links made at once, and one accepted after it knocked", [
      ["links of six made at once", "start to knock", "accepted to linked"],
      [String(made), seconds(knocked), seconds(linked)],
    ]);
    return made === 6 && knocked !== undefined && linked !== undefined;
  } finally {
    await Promise.all(running.map((device) => device.end("SIGTERM")));
    folders.remove();
  }
}

/** Both ends get other addresses at the same moment. Bar: linked again within 2 minutes. */
export function linksThatMove(): Promise<boolean> {
  return withCable(async () => {
    const byName = await moveBoth("a name", (port) => [`/dns4/north.test/tcp/${port}`], []);
    const byDiscovery = await moveBoth("discovery", () => [], ["--mdns"]);
    const overIpv6 = await moveBoth("a name, IPv6", (port) => [`/dns6/north6.test/tcp/${port}`], []);
    print("Both ends of a link moved to other addresses at the same moment", [
      ["found again by", "start to linked", "moved to linked again"],
      ...[byName, byDiscovery, overIpv6].map(({ way, first, again }) => [way, seconds(first), seconds(again)]),
    ]);
    return [byName, byDiscovery, overIpv6].every(({ again }) => again !== undefined);
  });
}

async function moveBoth(way: string, addressesOf: (port: string) => string[], options: readonly string[]) {
  const folders = await makeFolders(twoDevices(), { hosts: ["0.0.0.0", "0.0.0.0"], isLost: true });
  const [north, south] = folders.devices;
  const port = north.listen[0].split("/").at(-1) ?? "";
  if (way.endsWith("IPv6")) {
    const settings = join(north.path, "device.json");
    const { name, data } = north;
    writeFileSync(settings, JSON.stringify({ name, data, listen: [`/ip6/::/tcp/${port}`], announce: [] }));
  }
  await writeLinksFile(south.path, [{ name: "north", peer: north.identity.peer, addresses: addressesOf(port) }]);
  settle([1, 2]);
  const devices = [north, south].map((folder, index) => startDevice(folder, inside(index), options));
  try {
    const first = await within(60, async () => devices.every((device) => connections(device) > 0));
    const before = devices.map(connections);
    settle([11, 12]);
    const again = await within(120, async () => devices.every((device, i) => connections(device) > before[i]));
    return { way, first, again };
  } finally {
    await Promise.all(devices.map((device) => device.end("SIGTERM")));
    folders.remove();
    for (const name of names) rmSync(`/etc/netns/${name}`, { recursive: true, force: true });
  }
}

/** Gives the two namespaces their only addresses, and their hosts file the first one's names. */
function settle(numbers: readonly number[]): void {
  for (const [index, name] of names.entries()) {
    const device = ["dev", `fedkm-${index}`];
    ip("-n", name, "address", "flush", ...device, "scope", "global");
    ip("-n", name, "address", "add", `10.77.0.${numbers[index]}/24`, ...device);
    ip("-n", name, "address", "add", `fd77::${numbers[index]}/64`, ...device, "nodad");
    ip("-n", name, "route", "replace", "224.0.0.0/4", ...device);
    mkdirSync(`/etc/netns/${name}`, { recursive: true });
    // In place: the file is mounted over /etc/hosts.
    writeFileSync(
      `/etc/netns/${name}/hosts`,
      `127.0.0.1 localhost\n10.77.0.${numbers[0]} north.test\nfd77::${numbers[0]} north6.test\n`,
    );
  }
}

/** A linked peer that jitters for ever. Bars: it is named, and the others make at most 15 rounds a second then. */
export async function restless({ seconds: length }: { seconds: number }): Promise<boolean> {
  const stage = await scene(1);
  const [identity] = stage.guests;
  let latest: Uint8Array | undefined;
  const network = libp2pNetwork({
    identity,
    listen: [],
    links: [{ peer: stage.victimPeer, addresses: [stage.address] }],
    onStranger: () => {},
    onRefuse: () => {},
  });
  await network.start({ onConnect: () => {}, onDisconnect: () => {}, onFrame: (_, frame) => (latest = frame) });
  const end = performance.now() + 1000 * length;
  const honestUse = () => processUse(stage.honest.child.pid ?? 0).cpuSeconds;
  let sequence = 0;
  let before = stage.honest.status();
  let cpuBefore = honestUse();
  while (performance.now() < end) {
    if (latest !== undefined) network.send(stage.victimPeer, jittered(latest, ++sequence));
    if (performance.now() < end - 10_000) {
      before = stage.honest.status();
      cpuBefore = honestUse();
    }
    await pause(6);
  }
  const perSecond = roundsPerSecond(before, stage.honest.status());
  const share = (honestUse() - cpuBefore) / 10;
  const isNamed = stage.victim.log().includes("never rests");
  const linked = isLinked(stage);
  await network.close();
  await leave(stage);
  print(`A linked peer that jitters for ${length} s, 150 frames a second`, [
    ["named", "rounds a second of a device two hops away, last 10 s", "of a core", "honest link"],
    [isNamed ? "yes" : "no", perSecond.toFixed(1), `${(100 * share).toFixed(1)} %`, linked ? "unaffected" : "lost"],
  ]);
  return isNamed && perSecond <= 15 && linked;
}

/** Between the moments at which the two were written: a device with little to do seldom writes one. */
function roundsPerSecond(before: DaemonStatus | undefined, after: DaemonStatus | undefined): number {
  const milliseconds = Date.parse(String(after?.writtenAt)) - Date.parse(String(before?.writtenAt));
  const rounds = (after?.device.round ?? Number.NaN) - (before?.device.round ?? Number.NaN);
  return milliseconds === 0 ? 0 : (1_000 * rounds) / milliseconds;
}

/** A valid frame with a new stamp, and its first coordinate moved by a little. */
function jittered(frame: Uint8Array, sequence: number): Uint8Array {
  const copy = frame.slice();
  const view = new DataView(copy.buffer);
  view.setBigUint64(28, BigInt(Date.now()), true);
  view.setBigUint64(36, BigInt(sequence), true);
  const first = copy.length - 6 * 8;
  view.setFloat64(first, view.getFloat64(first, true) + (sequence % 2 === 0 ? 0.01 : -0.01), true);
  return copy;
}

const connections = (device: RunningDevice) => device.log().split('"msg":"connected"').length - 1;
const seconds = (time: number | undefined) => (time === undefined ? "never" : `${time.toFixed(1)} s`);

/** Seconds until it is so; undefined: it did not become so in time. */
async function within(most: number, isSo: () => Promise<boolean>): Promise<number | undefined> {
  const begun = performance.now();
  const passed = () => (performance.now() - begun) / 1000;
  while (!(await isSo())) {
    if (passed() > most) return undefined;
    await pause(100);
  }
  return passed();
}
