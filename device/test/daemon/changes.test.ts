// Daemons over libp2p that change their study one after the other, and the files that such a change leaves behind.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fit, path } from "@fedkm/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, type DeviceFolder, readFolder } from "../../src/daemon/folder.ts";
import { freeMachinePorts } from "../../src/daemon/machineAddresses.ts";
import type { DaemonStatus } from "../../src/daemon/status.ts";
import {
  completeSwitch,
  finishChangeInFolder,
  openNextInFolder,
  readNextInFolder,
  switchStudyInFolder,
  withdrawChangeInFolder,
  writeNextInFolder,
} from "../../src/daemon/studyChange.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { openStore } from "../../src/disk/store.ts";
import { realClock } from "../../src/environment.ts";
import type { SavedState } from "../../src/loop/savedState.ts";
import { contractOf, formatStudy, parseStudy } from "../../src/study/study.ts";
import { pointsAsCsv } from "../../src/study/studyOfPoints.ts";
import { studyId } from "../../src/wire/frames.ts";
import { problem, studyText, studyWith } from "../problem.ts";

let folder = "";
const daemons = new Map<string, Daemon>();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-changes-"));
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
const names = ["north", "middle", "south"];
const pathOf = (name: string) => join(folder, name);
const idOf = async (alpha: number) => studyId(await contractOf(studyWith({ alpha })));
// So that nobody waits: twenty of its seconds pass in one.
const clock = {
  now: () => 20 * realClock.now(),
  after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 20, run),
};

async function start(name: string): Promise<void> {
  daemons.set(name, await startDaemon({ folder: pathOf(name), log, host, clock }));
}

function statusOf(name: string) {
  const daemon = daemons.get(name);
  if (daemon === undefined) throw new Error(`${name} must be started`);
  return daemon.status();
}

/** Three daemons in a row; returns their rows. */
async function startNetwork(text = studyText) {
  const { study, datasets, graph } = await problem("iso", path(3), 1);
  const ports = await freeMachinePorts("127.0.0.1", 3);
  const folders: DeviceFolder[] = [];
  for (const [i, name] of names.entries()) {
    const data = join(folder, `${name}.csv`);
    writeFileSync(data, pointsAsCsv(study, datasets[i]));
    const listen = [`/ip4/127.0.0.1/tcp/${ports[i]}`];
    folders.push(await createFolder(pathOf(name), text, { name, data: [data], listen, announce: [] }));
  }
  for (const [i, name] of names.entries()) {
    const links = Array.from(graph.neighbours[i], (j) => {
      return { name: names[j], peer: folders[j].identity.peer, addresses: folders[j].listen };
    });
    await writeLinksFile(pathOf(name), links);
    await start(name);
  }
  return { datasets, graph };
}

test("three daemons change their study one after the other, with a restart on the way, and leave the old one aside", async () => {
  const { datasets, graph } = await startNetwork();
  const [before, after] = [await idOf(1), await idOf(2)];
  const until = (isSo: () => boolean) =>
    vi.waitFor(() => expect(isSo(), String(isSo)).toBe(true), { timeout: 600_000, interval: 20 });
  await until(() => names.every((name) => statusOf(name).device.phase === "settled"));

  await writeNextInFolder(pathOf("north"), studyWith({ alpha: 2 }));
  await until(() => statusOf("middle").proposals.length === 1);
  const [{ text, studyHash, from }] = statusOf("middle").proposals;
  expect([studyHash, from]).toEqual([after, ["north"]]);
  // On a busy machine a neighbour is also away for a moment, which is no matter of the change.
  const notices = (name: string) =>
    statusOf(name)
      .notices.filter(({ cause }) => cause === "proposal" || cause === "change")
      .map(({ cause, text }) => `${cause}: ${text}`);
  await until(() => notices("middle").length > 0 && notices("north").length > 0);
  const hint = `(to accept it: fedkm device study accept ${after.slice(0, 8)})`;
  expect(notices("middle")).toEqual([`proposal: north proposes another study, alpha: 1 here, 2 there ${hint}`]);
  expect(notices("north")).toEqual(["change: middle has not accepted the study that this device is changing to"]);

  await writeNextInFolder(pathOf("middle"), parseStudy(text));
  // All of north's neighbours have accepted it, so north has ended the old one. The middle one speaks both.
  await until(() => statusOf("north").studyHash === after && statusOf("north").next === null);
  expect(statusOf("middle")).toMatchObject({ studyHash: before, next: { studyHash: after } });
  await until(() => statusOf("middle").links[0].studies.join() === after);
  await daemons.get("middle")?.stop();
  expect(existsSync(join(pathOf("middle"), "next.a"))).toBe(true);
  await start("middle");
  await until(() => statusOf("middle").next?.device.centroids != null && statusOf("middle").device.centroids !== null);

  await until(() => statusOf("south").proposals.length === 1);
  await writeNextInFolder(pathOf("south"), parseStudy(statusOf("south").proposals[0].text));
  await until(() => names.every((name) => statusOf(name).studyHash === after && statusOf(name).next === null));
  const best = fit(datasets, graph, { k: 3, alpha: 2, seed: 1, rounds: 10_000 }).objective;
  const reached = () => names.reduce((sum, name) => sum + (statusOf(name).device.objective ?? Number.NaN), 0);
  await until(() => Math.abs(reached() / best - 1) < 1e-4);
  await until(() => names.every((name) => statusOf(name).notices.every(({ until }) => until !== null)));
  await until(() => names.every((name) => readdirSync(pathOf(name)).every((file) => !file.startsWith("next"))));
  for (const name of names) {
    expect((await readFolder(pathOf(name))).study.alpha).toBe(2);
    const files = readdirSync(pathOf(name));
    const [aside] = files.filter((file) => file.startsWith("set-aside-"));
    expect(parseStudy(readFileSync(join(pathOf(name), aside, "study.yaml"), "utf8")).alpha).toBe(1);
  }
});

test("guarded daemons change their study one after the other, and publish nothing of their rows in two studies at once", async () => {
  const guarded = { privacy: "guarded", minimum: 5 } as const;
  await startNetwork(formatStudy(studyWith(guarded)));
  const next = studyWith({ ...guarded, alpha: 2 });
  const after = studyId(await contractOf(next));
  const until = (isSo: () => boolean) =>
    vi.waitFor(() => expect(isSo(), String(isSo)).toBe(true), { timeout: 600_000, interval: 20 });
  await until(() => names.every((name) => statusOf(name).device.phase === "settled"));
  await writeNextInFolder(pathOf("north"), next);
  await until(() => statusOf("north").next !== null);
  expect(statusOf("north").next?.device.rows).toBe(0);
  expect(statusOf("north").device.rows).toBeGreaterThan(0);
  for (const name of ["middle", "south"]) await writeNextInFolder(pathOf(name), next);
  for (const name of names) {
    const daemon = daemons.get(name);
    await daemon?.restart;
    await daemon?.stop();
    await start(name);
  }
  const isThere = ({ studyHash, device }: DaemonStatus) =>
    studyHash === after && device.phase === "settled" && device.rows > 0 && device.guarded?.isHistoryLost === false;
  await until(() => names.every((name) => isThere(statusOf(name))));
  for (const name of names) expect(statusOf(name).device.guarded?.smallestClass).toBeGreaterThanOrEqual(5);
});

/** A state of a study; its one centroid is where it came from. */
function stateOf(study: string, centroid: number): SavedState {
  const opening = { number: 0, start: 0, sketches: [] };
  return {
    study,
    round: 1,
    opening,
    own: null,
    sketch: null,
    centroids: [[centroid]],
    present: [true],
    neighbours: [],
  };
}

test("a change survives a crash after each of its steps, and keeps the state of the new study", async () => {
  const [before, after] = [await idOf(1), await idOf(2)];
  for (const crashAfter of ["nothing", "switch", "take over"]) {
    const place = join(folder, crashAfter);
    await createFolder(place, studyText, { name: "north", data: [], listen: [], announce: [] });
    await writeNextInFolder(place, studyWith({ alpha: 2 }));
    const store = await openStore(place, () => {});
    const next = await openNextInFolder(place, store, () => {});
    store.keep(() => stateOf(before, 1));
    next.keep(() => stateOf(after, 2));
    if (crashAfter !== "nothing") await switchStudyInFolder(place, new Date(0));
    if (crashAfter === "take over") await next.takeOver();
    await next.close();
    await store.close();

    await completeSwitch(place);
    const again = await openStore(place, () => {});
    const isDone = crashAfter !== "nothing";
    expect(again.saved?.centroids, crashAfter).toEqual([[isDone ? 2 : 1]]);
    expect((await readFolder(place)).study.alpha).toBe(isDone ? 2 : 1);
    expect(await readNextInFolder(place)).toEqual(isDone ? undefined : studyWith({ alpha: 2 }));
    await again.close();
  }
});

test("finishChange and withdrawChange end a change in the folder of a device that does not run", async () => {
  for (const [end, alpha] of [
    [(place: string) => finishChangeInFolder(place, new Date(0)), 2],
    [withdrawChangeInFolder, 1],
  ] as const) {
    const place = join(folder, String(alpha));
    await createFolder(place, studyText, { name: "north", data: [], listen: [], announce: [] });
    await writeNextInFolder(place, studyWith({ alpha: 2 }));
    expect(await end(place)).toBe(false);
    expect((await readFolder(place)).study.alpha).toBe(alpha);
    expect(readdirSync(place).filter((file) => file.startsWith("next"))).toEqual([]);
  }
});
