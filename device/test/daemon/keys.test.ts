// Keys over real connections: a device rotates while one neighbour follows and another is away, and is revoked later.

import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, type DeviceFolder, readFolder } from "../../src/daemon/folder.ts";
import { keyFacts } from "../../src/daemon/folderFacts.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import {
  followKeyInFolder,
  linkPeer,
  revokedFaultInFolder,
  revokePeer,
  rotateKey,
} from "../../src/daemon/ownerChanges.ts";
import { readAudit } from "../../src/disk/auditLog.ts";
import { readIdentity } from "../../src/disk/identityFile.ts";
import { readLinksFile, writeLinksFile } from "../../src/disk/linksFile.ts";
import { realClock } from "../../src/environment.ts";
import { studyText } from "../problem.ts";

let base = "";
let running: Daemon[] = [];
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "fedkm-keys-"));
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((daemon) => daemon.stop()));
  rmSync(base, { recursive: true });
});

const host = {
  version: "1",
  pid: 7,
  env: process.env,
  cpuMicroseconds: () => 0,
  memoryBytes: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};
const log = { info() {}, warn() {} };
const fail = (warning: string) => {
  throw new Error(`no warning was expected, got ${warning}`);
};
// So that nobody waits: ten of its seconds pass in one.
const clock = {
  now: () => 10 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 10, run),
};
const until = (isSo: () => unknown) => vi.waitFor(isSo, { timeout: 600_000, interval: 20 });

/** Three devices, each linked with the two others. */
async function triangle(): Promise<DeviceFolder[]> {
  const names = ["north", "south", "east"];
  const ports = await freeMachinePorts("127.0.0.1", names.length);
  const folders: DeviceFolder[] = [];
  for (const [i, name] of names.entries()) {
    const rows = join(base, `${name}.csv`);
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n4,5\n");
    const settings = { name, data: [rows], listen: [`/ip4/127.0.0.1/tcp/${ports[i]}`], announce: [] };
    folders.push(await createFolder(join(base, name), studyText, settings));
  }
  for (const { path } of folders) {
    const others = folders.filter((other) => other.path !== path);
    await writeLinksFile(
      path,
      others.map(({ name, identity, listen }) => ({ name, peer: identity.peer, addresses: listen })),
    );
  }
  return folders;
}

/** Runs a device as `device run` does: it starts again for a new key. */
async function start({ path }: DeviceFolder): Promise<() => Daemon> {
  let daemon = await startDaemon({ folder: path, log, host, clock });
  running.push(daemon);
  const again = async (old: Daemon) => {
    await old.restart;
    if (!running.includes(old)) return;
    running = running.filter((one) => one !== old);
    await old.stop();
    daemon = await startDaemon({ folder: path, log, host, clock });
    running.push(daemon);
    await again(daemon);
  };
  void again(daemon);
  return () => daemon;
}

const stateOf = (daemon: () => Daemon, name: string) =>
  daemon()
    .status()
    .links.find((link) => link.name === name);
const noticesOf = (daemon: () => Daemon) =>
  daemon()
    .status()
    .notices.map(({ text }) => text)
    .join("\n");
const eventsOf = async ({ path }: DeviceFolder) => (await readAudit(path)).lines.map(({ event }) => event);

test("a device rotates its key: neighbours follow, also one that was away, and a revoked one is unlinked", async () => {
  const [north, south, east] = await triangle();
  const [a, b] = [await start(north), await start(south)];
  await until(() => expect(stateOf(a, "south")?.age).not.toBeNull());
  const { old, next, behind } = await rotateKey(south, false, fail);
  expect(behind).toEqual(["north", "east"]);
  // North answers; east is away, and the device waits for it.
  await until(async () => expect((await keyFacts(await readFolder(south.path))).behind).toEqual(["east"]));
  expect((await readIdentity(south.path)).peer).toBe(old);
  expect((await readLinksFile(north.path))[0]).toMatchObject({ peer: next, isAwaited: true });
  expect(stateOf(a, "south")).toMatchObject({ isConnected: true, peer: old });
  await until(() => expect(noticesOf(b)).toContain("east does not know this device's new key yet"));

  await rotateKey(south, true, fail);
  await until(() => expect(b().status().device.peer).toBe(next));
  await until(() => expect(stateOf(a, "south")).toMatchObject({ isConnected: true, peer: next }));
  await until(() => expect(noticesOf(a)).toMatch(/south has a new key since .*, as its old key says$/m));
  expect((await readLinksFile(north.path))[0].isAwaited).toBeUndefined();

  // East knows the old key only, which has nothing else to say.
  const c = await start(east);
  await until(() => expect(stateOf(c, "south")).toMatchObject({ isConnected: true, peer: next }));
  await until(() => expect(readdirSync(south.path).filter((name) => name.startsWith("key"))).toEqual(["key"]));

  // South says that east is not to be trusted: north, its neighbour, unlinks it and says why.
  await revokePeer(await readFolder(south.path), "east", "its disk was stolen", fail);
  await until(async () => expect((await readLinksFile(north.path)).map(({ name }) => name)).toEqual(["south"]));
  await until(() =>
    expect(noticesOf(a)).toContain("south says that east is no longer to be trusted: its disk was stolen"),
  );
  expect(await revokedFaultInFolder(north.path, east.identity.peer)).toMatch(/^south said at .*: its disk was stolen$/);
  expect(await eventsOf(north)).toEqual(
    expect.arrayContaining(["started", "data", "released", "followed", "links", "revoked"]),
  );
  expect(await eventsOf(south)).toContain("rotated");

  // Its owner knows better.
  const link = { name: "east", peer: east.identity.peer, addresses: east.listen, allowRevoked: true };
  await linkPeer(north, link, fail);
  await until(() => expect(stateOf(a, "east")?.isConnected).toBe(true));
  expect(await revokedFaultInFolder(north.path, east.identity.peer)).toBeUndefined();
});

test("a device that does not run rotates at once if its owner says so, and its successor can be handed over", async () => {
  const [north, south] = await triangle();
  const waiting = await rotateKey(north, false, fail);
  expect(waiting).toMatchObject({ isDone: false, isRunning: false, behind: ["south", "east"] });
  const done = await rotateKey(north, true, fail);
  expect(done).toMatchObject({ isDone: true, next: waiting.next, behind: ["south", "east"] });
  expect((await readIdentity(north.path)).peer).toBe(done.next);
  expect(await followKeyInFolder(south, done.successors, fail)).toEqual(["north"]);
  expect(await followKeyInFolder(south, done.successors, fail)).toEqual([]);
  expect((await readLinksFile(south.path))[0].peer).toBe(done.next);
  expect(existsSync(join(north.path, "key.next"))).toBe(false);
});
