// Members over real connections: owners admit a device and remove one, one of them has a new key, and all devices follow.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, createKeyFolder, type DeviceFolder, readFolder } from "../../src/daemon/folder.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import { readMemberFile } from "../../src/daemon/memberFile.ts";
import { changeMember, revokePeer, rotateKey } from "../../src/daemon/ownerChanges.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { realClock } from "../../src/environment.ts";
import { studyText } from "../problem.ts";

let base = "";
const running: Daemon[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "fedkm-members-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((daemon) => daemon.stop()));
  rmSync(base, { recursive: true });
});

const usage = { cpuMicroseconds: () => 0, memoryBytes: () => 0, logFailure: () => undefined, linesLost: () => 0 };
const host = { version: "1", pid: 7, env: process.env, ...usage };
const log = { info() {}, warn() {} };
const fail = (warning: string) => {
  throw new Error(`no warning was expected, got ${warning}`);
};
// So that nobody waits: ten of its seconds pass in one.
const clock = {
  now: () => 10 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 10, run),
};
const until = (isSo: () => unknown) => vi.waitFor(isSo, { timeout: 60_000, interval: 20 });

/** All linked with each other; the first ones found the study. */
async function foldersOf(names: readonly string[], founders: number): Promise<DeviceFolder[]> {
  const ports = await freeMachinePorts("127.0.0.1", names.length);
  const keys = await Promise.all(names.map((name) => createKeyFolder(join(base, name))));
  const named = keys.slice(0, founders).map(({ peer }) => peer);
  const text = studyText.replace("alpha: 1\n", `clusters: shared\nmostRows: 100\nfounders: [${named.join(", ")}]\n`);
  const folders: DeviceFolder[] = [];
  for (const [i, name] of names.entries()) {
    const rows = join(base, `${name}.csv`);
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n4,5\n");
    const settings = { name, data: [rows], listen: [`/ip4/127.0.0.1/tcp/${ports[i]}`], announce: [] };
    const folder = await createFolder(join(base, name), text, settings);
    expect(folder.identity.peer).toBe(keys[i].peer);
    folders.push(folder);
  }
  for (const { path } of folders) {
    const others = folders.filter((other) => other.path !== path);
    const links = others.map(({ name, identity, listen }) => ({ name, peer: identity.peer, addresses: listen }));
    await writeLinksFile(path, links);
  }
  return Promise.all(folders.map(({ path }) => readFolder(path)));
}

const sharedOf = (daemon: Daemon) => daemon.status().device.shared;

test("rows of a device count when two members have admitted it, and not when two have removed it", async () => {
  const folders = await foldersOf(["north", "south", "east", "west"], 3);
  const [north, south, east, west] = folders;
  const daemons: Daemon[] = [];
  for (const { path } of folders) daemons.push(await startDaemon({ folder: path, log, host, clock }));
  running.push(...daemons);
  const rows = (counted: number, members: number) =>
    until(() => {
      for (const daemon of daemons.slice(0, 3))
        expect(sharedOf(daemon)).toMatchObject({ pooledRows: counted, members });
    });
  await rows(12, 3);
  const demand = `must run fedkm device admit ${west.identity.peer}`;
  await until(() => expect(sharedOf(daemons[3])?.waiting).toContain(demand));
  const admit = (folder: DeviceFolder) => changeMember(folder, "admit", "west", 50, fail);
  await expect(changeMember(west, "admit", west.identity.peer, 50, fail)).rejects.toThrow(
    "west must be a member itself",
  );
  expect(await admit(north)).toMatchObject({ peer: west.identity.peer, isDone: false, voices: 1, vouchers: 2 });
  await until(async () => expect(await readMemberFile(south.path)).toHaveLength(1));
  expect(await admit(south)).toMatchObject({ isDone: true });
  await rows(16, 4);
  await until(async () => expect(await readMemberFile(west.path)).toHaveLength(2));
  await until(() => expect(sharedOf(daemons[3])).toMatchObject({ pooledRows: 16, waiting: null }));
  await expect(admit(east)).rejects.toThrow(`${west.identity.peer} must not be a member yet`);
  await changeMember(south, "remove", "west", undefined, fail);
  await changeMember(east, "remove", "west", undefined, fail);
  await rows(12, 3);
});

test("a new key takes the place of the one before, and who revokes its own key is no member", async () => {
  const [north, south] = await foldersOf(["north", "south", "east"], 3);
  const { next } = await rotateKey(north, true, fail);
  const renewed = await readFolder(north.path);
  expect(renewed.identity.peer).toBe(next);
  expect(await readMemberFile(north.path)).toHaveLength(1);
  // It speaks as a member under its new key, and the one before is none.
  await expect(changeMember(renewed, "remove", north.identity.peer, undefined, fail)).rejects.toThrow("be a member");
  expect(await changeMember(renewed, "remove", "south", undefined, fail)).toMatchObject({ isDone: false, voices: 1 });
  await revokePeer(south, south.identity.peer, "stolen", fail);
  await expect(changeMember(south, "remove", "east", undefined, fail)).rejects.toThrow("south must be a member itself");
});
