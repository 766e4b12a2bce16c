// Devices over libp2p whose owners set limits: they outlive restarts, backups and changes of study, and neighbours learn no more than that a
// device stays out.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { path } from "@fedkm/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { backUpFolder, restoreFolder } from "../../src/daemon/backup.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, readFolder, writeSettings } from "../../src/daemon/folder.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import { finishChangeInFolder, writeNextInFolder } from "../../src/daemon/studyChange.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { realClock } from "../../src/environment.ts";
import { formatStudy } from "../../src/study/study.ts";
import { pointsAsCsv } from "../../src/study/studyOfPoints.ts";
import { problem, studyWith } from "../problem.ts";

let folder = "";
const daemons = new Map<string, Daemon>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-limits-"));
});
afterEach(async () => {
  for (const daemon of daemons.values()) await daemon.stop();
  daemons.clear();
  rmSync(folder, { recursive: true });
});

const host = {
  version: "1",
  pid: 7,
  env: process.env,
  memoryBytes: () => 0,
  cpuMicroseconds: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};
const log = { info: () => {}, warn: () => {} };
const clock = {
  now: () => 20 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 20, run),
};
const pathOf = (name: string) => join(folder, name);

/** Starts it again whenever it asks for that, as the command does. */
async function start(name: string): Promise<void> {
  const daemon = await startDaemon({ folder: pathOf(name), log, host, clock });
  daemons.set(name, daemon);
  void daemon.restart.then(async () => {
    await daemon.stop();
    await start(name);
  });
}

const statusOf = (name: string) => daemons.get(name)?.status();
const noticeOf = (name: string, cause: string) =>
  statusOf(name)?.notices.find((notice) => notice.cause === cause && notice.until === null)?.text;
const eventually = (check: () => void) => vi.waitFor(check, { timeout: 20_000, interval: 50 });

test("limits outlive restart, backup and a change of study; their owner and nobody else learns why", async () => {
  const { datasets } = await problem("iso", path(2), 1);
  const ports = await freeMachinePorts("127.0.0.1", 2);
  const names = ["north", "south"];
  const mild = studyWith({ privacy: "guarded", minimum: 10 });
  const folders = [];
  for (const [i, name] of names.entries()) {
    const file = join(folder, `${name}.csv`);
    writeFileSync(file, pointsAsCsv(mild, datasets[i]));
    const settings = { name, data: [file], listen: [`/ip4/127.0.0.1/tcp/${ports[i]}`], announce: [] };
    const limits = i === 0 ? { minRows: 12 } : {};
    folders.push(await createFolder(pathOf(name), formatStudy(mild), { ...settings, limits }));
  }
  for (const [i, name] of names.entries()) {
    const { identity } = folders[1 - i];
    const addresses = [`/ip4/127.0.0.1/tcp/${ports[1 - i]}`];
    await writeLinksFile(pathOf(name), [{ name: names[1 - i], peer: identity.peer, addresses }]);
    await start(name);
  }
  await eventually(() => expect(statusOf("north")?.device.guarded?.smallestClass).toBeGreaterThanOrEqual(12));
  expect(noticeOf("north", "limits")).toBeUndefined();

  // A study that shows single rows, which both devices go over to.
  const bold = studyWith({ privacy: "open", minimum: 1 });
  for (const name of names) await writeNextInFolder(pathOf(name), bold);
  await eventually(() => expect(statusOf("north")?.next).not.toBeNull());
  for (const name of names) await finishChangeInFolder(pathOf(name), new Date());
  await eventually(() => {
    expect(noticeOf("north", "limits")).toMatch(/stays out of the study.*open and shows single rows.*device\.json/);
    expect(statusOf("north")?.device).toMatchObject({ phase: "paused", rows: 0 });
    expect(noticeOf("south", "out")).toBe("north stays out of this study, as its owner decided");
  });
  expect(JSON.stringify(statusOf("south"))).not.toContain("minRows");

  const saved = join(folder, "north.fedkm");
  await backUpFolder(pathOf("north"), saved, { passphrase: undefined, at: new Date() });
  await restoreFolder(saved, pathOf("copy"));
  expect((await readFolder(pathOf("copy"))).limits).toEqual({ minRows: 12 });
  await daemons.get("north")?.stop();
  // Whoever stays out reads nothing: the file may be gone.
  const rows = readFileSync(join(folder, "north.csv"));
  rmSync(join(folder, "north.csv"));
  await start("north");
  await eventually(() => expect(noticeOf("north", "limits")).toMatch(/stays out/));
  expect(noticeOf("north", "data")).toBeUndefined();

  writeFileSync(join(folder, "north.csv"), rows);
  await writeSettings(pathOf("north"), { ...(await readFolder(pathOf("north"))), limits: {} });
  await eventually(() => {
    expect(noticeOf("north", "limits")).toBeUndefined();
    expect(statusOf("north")?.device.rows).toBe(datasets[0].rows);
    expect(noticeOf("south", "out")).toBeUndefined();
  });
}, 120_000);
