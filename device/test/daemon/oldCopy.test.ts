// State folders that are copied while their devices are stopped, and restored later: with real files, keys and connections.

import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { paperData, toRows } from "@fedkm/core";
import { afterEach, expect, it, vi } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, readFolder } from "../../src/daemon/folder.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import { consentInFolder } from "../../src/daemon/ownerFiles.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { studyText } from "../problem.ts";

const base = mkdtempSync(join(tmpdir(), "fedkm-copies-"));
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
  rmSync(base, { recursive: true });
});

const host = {
  ...{ version: "1", pid: 7, env: process.env, memoryBytes: () => 0, cpuMicroseconds: () => 0 },
  ...{ logFailure: () => undefined, linesLost: () => 0 },
};

it("a guarded folder that is restored sends nothing of its rows, both ends say why, and consent is the way on", async () => {
  const study = studyText.replace("privacy: open\nminimum: 1", "privacy: guarded\nminimum: 10");
  const { datasets } = paperData("iso", 2, 200, 1);
  const ports = await freeMachinePorts("127.0.0.1", 2);
  const paths = ["north", "south"].map((name) => join(base, name));
  for (const [i, name] of ["north", "south"].entries()) {
    writeFileSync(join(base, `${name}.csv`), `x1,x2\n${toRows(datasets[i]).join("\n")}\n`);
    const listen = [`/ip4/127.0.0.1/tcp/${ports[i]}`];
    await createFolder(paths[i], study, { name, data: [join(base, `${name}.csv`)], listen, announce: [] });
  }
  const folders = await Promise.all(paths.map((path) => readFolder(path)));
  for (const [i, name] of ["south", "north"].entries()) {
    const { identity, listen } = folders[1 - i];
    await writeLinksFile(paths[i], [{ name, peer: identity.peer, addresses: listen }]);
  }
  const copy = join(base, "copy");
  cpSync(paths[0], copy, { recursive: true });
  const start = async (i: number) => {
    const daemon = await startDaemon({ folder: paths[i], log: { info() {}, warn() {} }, host });
    closers.push(() => daemon.stop());
    return daemon;
  };
  const wait = (look: () => void) => vi.waitFor(look, 60_000);
  const [first, south] = [await start(0), await start(1)];
  await wait(() => expect(south.status().links[0].framesHeard).toBeGreaterThan(3));
  await first.stop();
  rmSync(paths[0], { recursive: true });
  cpSync(copy, paths[0], { recursive: true });
  const restored = await start(0);
  await wait(() => expect(restored.status().device.guarded?.isHistoryLost).toBe(true));
  expect(restored.status().device.framesSent).toBe(0);
  expect(restored.status().device.rows).toBe(0);
  const texts = () => restored.status().notices.map(({ text }) => text);
  await wait(() => expect(texts().join("\n")).toContain("south has seen more of this device than its folder knows"));
  await wait(() => expect(south.status().links[0].fault).toContain("old copy of its folder"));
  await consentInFolder(paths[0], new Date());
  await wait(() => expect(restored.status().device.guarded?.isHistoryLost).toBe(false));
  await wait(() => expect(south.status().links[0].fault).toContain("as its owner consented"));
}, 120_000);
