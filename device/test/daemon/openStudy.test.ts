// Devices over libp2p with a study that leaves everything open: files with gaps and words in, one clustering out, and
// nothing of it before every owner has approved.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { afterEach, expect, test, vi } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, type DeviceFolder, readFolder } from "../../src/daemon/folder.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import { approveInFolder } from "../../src/daemon/ownerFiles.ts";
import { readAudit } from "../../src/disk/auditLog.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { realClock } from "../../src/environment.ts";
import { simulateQuestions } from "../../src/simulation/studyRun.ts";
import { contractOf, parseStudy } from "../../src/study/study.ts";
import { tableRows } from "../../src/study/tableRows.ts";
import { studyId } from "../../src/wire/frames.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-open-"));
const daemons = new Map<string, Daemon>();
afterEach(async () => {
  for (const daemon of daemons.values()) await daemon.stop();
  rmSync(folder, { recursive: true });
});

const names = ["north", "middle", "south"];
const text = `name: wards
k: 2
features:
  - { name: age, bounds: network, scale: network }
  - { name: crp, bounds: network, scale: network }
  - { name: sex, levels: network }
missing: mean
clusters: shared
privacy: open
minimum: 1
`;

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
// So that nobody waits: five of its seconds pass in one.
const clock = {
  now: () => 5 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 5, run),
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

/** Two groups of patients; every seventh value of one column is missing. */
function rowsOf(seed: number, rows: number) {
  const random = randomStream(seed, "wards");
  const normal = normalStream(random);
  return Array.from({ length: rows }, (_, r) => {
    const isOld = random() < 0.4;
    const crp = r % 7 === 3 ? Number.NaN : (isOld ? 60 : 8) * Math.exp(0.3 * normal());
    return { age: (isOld ? 75 : 35) + 6 * normal(), crp, sex: random() < 0.5 ? "f" : "m" };
  });
}

test("files with gaps and words become one clustering, after every owner has approved, with the bits of a simulation", async () => {
  const ports = await freeMachinePorts("127.0.0.1", 3);
  const data = names.map((_, i) => rowsOf(i + 1, 40 + 30 * i));
  const folders: DeviceFolder[] = [];
  for (const [i, name] of names.entries()) {
    const file = join(folder, `${name}.csv`);
    const lines = data[i].map(({ age, crp, sex }) => `${sex},${Number.isNaN(crp) ? "" : crp},${age}`);
    writeFileSync(file, ["sex,crp,age", ...lines, ""].join("\n"));
    const listen = [`/ip4/127.0.0.1/tcp/${ports[i]}`];
    folders.push(await createFolder(pathOf(name), text, { name, data: [file], listen, announce: [] }));
  }
  for (const [i, name] of names.entries()) {
    const others = folders.flatMap(({ identity }, j) =>
      i === j ? [] : [{ name: names[j], peer: identity.peer, addresses: [`/ip4/127.0.0.1/tcp/${ports[j]}`] }],
    );
    await writeLinksFile(pathOf(name), others);
    await start(name);
  }
  await vi.waitFor(
    () => {
      for (const name of names) expect(statusOf(name)?.device.shared?.described?.rows).toBe(210);
    },
    { timeout: 30_000, interval: 50 },
  );
  const hash = statusOf("north")?.device.shared?.described?.studyHash ?? "";
  const tables = data.map((rows) => {
    const words = ["f", "m"];
    const cells = rows.flatMap(({ age, crp, sex }) => [age, crp, words.indexOf(sex)]);
    const points = { data: Float64Array.from(cells), rows: rows.length, cols: 3 };
    return tableRows({ points, categories: [undefined, undefined, { words, lines: [2, 2] }] });
  });
  const { closed } = await simulateQuestions(parseStudy(text), names, tables, 5);
  expect(studyId(await contractOf(closed))).toBe(hash);

  await approveInFolder(pathOf("north"), hash);
  await approveInFolder(pathOf("middle"), hash);
  await vi.waitFor(() => expect(statusOf("middle")?.device.shared?.described?.isApproved).toBe(true), {
    timeout: 20_000,
    interval: 50,
  });
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  for (const name of names) expect(statusOf(name)?.device.shared?.described?.isApprovedByAll).toBe(false);
  expect((await readFolder(pathOf("north"))).study.features).toHaveLength(3);

  await approveInFolder(pathOf("south"), hash);
  await vi.waitFor(
    () => {
      for (const name of names) {
        const status = statusOf(name);
        expect(status?.studyHash).toBe(hash);
        expect(status?.device.phase).toBe("settled");
        expect(status?.device.centroids).toHaveLength(2);
        expect(status?.device.rows).toBeGreaterThan(0);
      }
    },
    { timeout: 60_000, interval: 100 },
  );
  const [first, ...others] = names.map((name) => JSON.stringify(statusOf(name)?.device.centroids));
  for (const other of others) expect(other).toBe(first);
  const centroids = [...(statusOf("north")?.device.centroids ?? [])].sort((a, b) => a[0] - b[0]);
  expect(Math.abs(centroids[0][0] - 35)).toBeLessThan(5);
  expect(Math.abs(centroids[1][0] - 75)).toBeLessThan(5);
  expect(JSON.stringify(await readAudit(pathOf("south")))).toContain("approved");
}, 120_000);
