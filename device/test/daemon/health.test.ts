// One headline, worst first: every cause is told by its evidence, and calm needs evidence from every device.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { platform, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { eventually } from "../../../test/eventually.ts";
import { evidenceNow, evidenceReader } from "../../src/daemon/evidence.ts";
import { type DeviceEvidence, type Finding, healthOf } from "../../src/daemon/health.ts";
import type { Notice } from "../../src/daemon/notices.ts";
import { pulledNotice, silenceOfLinks } from "../../src/daemon/problems.ts";
import type { DaemonStatus, LinkStatus } from "../../src/daemon/status.ts";
import { type TrendPoint, withTrendPoint } from "../../src/daemon/trend.ts";
import { askLock, LOCK_ANSWER_MILLISECONDS, lockFolder } from "../../src/disk/folderLock.ts";
import { northStatus } from "./northStatus.ts";

const NOW = Date.parse(northStatus.writtenAt) + 5_000;
const names = ["north", "south", "west"];

/** Devices that are all linked with each other, and well. */
function network(changes: Record<string, (device: DeviceEvidence) => Partial<DeviceEvidence>> = {}): DeviceEvidence[] {
  const link = (name: string) => {
    return { ...northStatus.links[0], name, peer: `peer of ${name}`, via: null, relays: [], age: 500 };
  };
  return names.map((name): DeviceEvidence => {
    const status: DaemonStatus = {
      ...northStatus,
      name,
      device: { ...northStatus.device, peer: `peer of ${name}` },
      links: names.filter((other) => other !== name).map(link),
    };
    const well = { id: name, folder: `/${name}`, status, lock: "answers", answeredAt: NOW, freeBytes: 1e9 } as const;
    return { ...well, ...changes[name]?.(well) };
  });
}
const withStatus = (change: (status: DaemonStatus) => object) => (device: DeviceEvidence) => ({
  status: { ...(device.status as DaemonStatus), ...change(device.status as DaemonStatus) },
});
const notice = (cause: Notice["cause"], link: string | null, text: string): Notice => {
  return { cause, link, text, since: northStatus.writtenAt, until: null };
};
const said = (devices: DeviceEvidence[]) => {
  const { headline, isAlarm, isWell, findings } = healthOf(devices, NOW);
  return {
    text: headline.alarm + headline.rest,
    isAlarm,
    isWell,
    causes: findings.map(({ cause, id }) => `${id} ${cause}`),
  };
};
const worst = (devices: DeviceEvidence[]): Finding => healthOf(devices, NOW).findings[0];

test("nothing is wrong only if every device answers, has written lately, and has no notice", () => {
  expect(said(network())).toEqual({
    text: "Nothing is wrong: all 3 devices answer",
    isAlarm: false,
    isWell: true,
    causes: [],
  });
  const unknown = said(network({ west: () => ({ lock: undefined }) }));
  const asked = { text: "1 of 3 devices is being asked how it is: west", isAlarm: false, isWell: false };
  expect(unknown).toMatchObject(asked);
  // It may hang: long before that is certain, nobody says that it is well.
  expect(said(network({ west: () => ({ answeredAt: NOW - 4_001 }) }))).toMatchObject(asked);
  expect(said(network({ west: () => ({ answeredAt: NOW - 2_000 }) }))).toMatchObject({ isWell: true });
  expect(said(network({ west: () => ({ status: undefined }) }))).toMatchObject({ isWell: false });
  expect(healthOf([], NOW)).toMatchObject({ isWell: false });
});

test("a process that is gone, stopped, suspended, hung or restarted is told apart, with what to do", () => {
  expect(said(network({ south: () => ({ lock: "free" }) }))).toMatchObject({
    text: "1 of 3 devices does not answer: south",
    isAlarm: true,
    causes: ["south gone"],
  });
  const gone = worst(network({ south: () => ({ lock: "free", answeredAt: NOW - 42_000 }) }));
  expect(gone).toMatchObject({ action: "fedkm device run --state /south starts it.", since: NOW - 42_000 });
  const stopped = network({
    south: (device) => ({ lock: "free", ...withStatus(() => ({ stoppedAt: northStatus.writtenAt }))(device) }),
  });
  expect(said(stopped).text).toBe("1 of 3 devices is stopped: south");
  expect(worst(network({ south: () => ({ lock: "silent", isSuspended: true }) })).action).toBe(
    "kill -CONT 7 continues it.",
  );
  expect(worst(network({ south: () => ({ lock: "silent" }) }))).toMatchObject({
    cause: "hung",
    why: expect.stringMatching(/hangs/),
  });
  const supervision = "south ended with SIGKILL; it is started again after 1 s.";
  expect(worst(network({ south: () => ({ lock: "free", supervision }) }))).toMatchObject({
    cause: "gone",
    action: supervision,
  });
  expect(worst(network({ south: () => ({ supervision }) }))).toMatchObject({ cause: "restarted", why: supervision });
});

test("a full disk, a status that is not written and a clock that went back are told apart", () => {
  expect(worst(network({ west: () => ({ freeBytes: 100 }) })).cause).toBe("disk");
  expect(worst(network({ west: () => ({ freeFiles: 0 }) }))).toMatchObject({
    cause: "disk",
    why: expect.stringContaining("as many files"),
  });
  expect(worst(network({ west: () => ({ isReadOnly: true }) }))).toMatchObject({
    cause: "unwritten",
    why: expect.stringContaining("only be read"),
  });
  const old = withStatus(() => ({ writtenAt: new Date(NOW - 31_000).toISOString() }));
  expect(worst(network({ west: old })).cause).toBe("unwritten");
  const ahead = withStatus(() => ({ writtenAt: new Date(NOW + 90_000).toISOString() }));
  expect(worst(network({ west: ahead })).cause).toBe("clock");
});

test("many rows out of bounds are a wrong unit, some are outlying rows", () => {
  const rows = (count: number, rowsLeftOut: number) =>
    withStatus(({ device }) => ({
      device: { ...device, rows: count, rowsLeftOut },
      notices: [notice("rows", null, "rows do not count")],
    }));
  expect(said(network({ south: rows(0, 100) })).causes).toEqual(["south unit"]);
  expect(said(network({ south: rows(80, 20) })).causes).toEqual(["south rows"]);
});

test("what follows from another device's trouble is said there, and a link that one side cut on that side", () => {
  const silent = withStatus(() => ({ notices: [notice("silent", "south", "south cannot be reached")] }));
  // Whoever is not known here explains nothing: each of the two has its own neighbour's name, and one cause.
  const two = network({ north: silent, west: silent }).filter(({ id }) => id !== "south");
  expect(healthOf(two, NOW)).toMatchObject({
    headline: { alarm: "2 of 2 devices do not hear a neighbour", rest: ": north, west" },
    summary: ["2 do not hear a neighbour"],
    findings: [{ what: "does not hear south" }, { what: "does not hear south" }],
  });
  const dead = network({ north: silent, west: silent, south: () => ({ lock: "free" }) });
  expect(said(dead).causes).toEqual(["south gone"]);
  expect(worst(dead).why).toContain("north, west wait for it");
  // Seen from one alone, the headline names the neighbour.
  expect(said(dead.slice(0, 1)).text).toBe("north does not hear south");
  // Where both ends run, it is the way between them; or they look for each other, since one of them was away.
  expect(said(network({ north: silent }))).toMatchObject({ text: "1 of 3 devices does not hear a neighbour: north" });
  expect(worst(network({ north: silent })).why).toMatch(
    /^Both north and south run, but nothing comes from south: the net/,
  );
  const { writtenAt } = northStatus;
  const again = network({ north: silent, south: withStatus(() => ({ startedAt: writtenAt })) });
  expect(worst(again).why).toMatch(/^Both north and south run, but have not met since one of them was started/);
  const cut = withStatus(({ links }) => ({ links: links.filter(({ name }) => name !== "north") }));
  const refused = withStatus(() => ({ notices: [notice("refused", "south", "south refuses this device")] }));
  expect(said(network({ north: refused, south: cut }))).toMatchObject({
    text: "1 of 3 devices has cut a link: south",
    causes: ["south cut"],
  });
});

test("who pulls others is named once; who is pulled passes it on, and the odd one is not told that others lie", () => {
  const pulled = (pulledBy: string[]) =>
    withStatus(({ device }) => ({ device: { ...device, pulledBy }, notices: [notice("pulled", null, "pulled")] }));
  const lie = network({ north: pulled(["peer of south"]), south: pulled([]), west: pulled(["peer of north"]) });
  expect(said(lie)).toMatchObject({
    text: "1 of 3 devices pulls its neighbours away from their rows: south",
    causes: ["south lie"],
  });
  expect(worst(lie).why).toBe("It pulls north away from their own rows. All its neighbours agree against its rows.");
  // Seen from its victim alone, which does not know the others.
  const [victim] = lie;
  expect(said([victim])).toMatchObject({ text: "north is pulled away from its rows" });
  const links = victim.status?.links as LinkStatus[];
  expect(pulledNotice(["peer of south"], links)).toMatch(/^south pulls the clusters away/);
  expect(pulledNotice([], links)).toMatch(/check unit, columns and file of its data first$/);
  expect(pulledNotice(null, links)).toBeUndefined();
});

test("what a person has decided is said without an alarm", () => {
  const paused = withStatus(() => ({ notices: [notice("paused", null, "it makes no update")] }));
  expect(said(network({ west: paused }))).toMatchObject({
    text: "1 of 3 devices is paused: west",
    isAlarm: false,
    isWell: false,
  });
});

test("a link is silent when it is down for longer than a restart, or when its heartbeat stays out", () => {
  let now = 0;
  const silenceOf = silenceOfLinks({ now: () => now, after: () => () => {} });
  const link = (isConnected: boolean, age: number | null) => [{ ...northStatus.links[0], name: "s", isConnected, age }];
  expect(silenceOf(link(false, 0)).size).toBe(0);
  // A machine that answers nothing any more is not being started again.
  expect(silenceOf([{ ...link(false, 0)[0], isVanished: true }]).size).toBe(1);
  now = 7_000;
  expect(silenceOf(link(false, 7_000))).toEqual(new Set(["s"]));
  expect(silenceOf(link(true, 7_000)).size).toBe(0);
  now = 60_000;
  expect(silenceOf(link(true, 20_000)).size).toBe(0);
  expect(silenceOf(link(true, 46_000)).size).toBe(1);
  expect(silenceOf(link(true, null)).size).toBe(1);
});

test("the trend of a year has fewer than 250 points, the latest ones closest together", () => {
  let trend: readonly TrendPoint[] = [];
  let now = 0;
  for (let step = 1000; now < 3e10; step *= 1.0005) {
    now += step;
    trend = withTrendPoint(trend, now, { objective: 1 / 3, move: 0 });
  }
  expect(trend.length).toBeLessThan(250);
  expect(trend.at(-1)).toEqual([now, 0.33333, 0]);
  expect(withTrendPoint([[now + 1, 1, 1]], now, { objective: null, move: null })).toEqual([]);
});

test("a lock is free, answers, or is silent while its process is suspended", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-lock-"));
  try {
    expect(await askLock(folder)).toBe("free");
    const unlock = await lockFolder(folder);
    expect(await askLock(folder)).toBe("answers");
    await unlock();
    const script = `require("net").createServer((s) => s.destroy()).listen(${JSON.stringify(join(folder, "lock"))}, () => console.log("up"))`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    expect(await askLock(folder)).toBe("answers");
    child.kill("SIGSTOP");
    expect(await askLock(folder, 500)).toBe("silent");
    // The system says that it is suspended, so nobody waits as long as for one that is busy.
    const begun = performance.now();
    const seen = await evidenceNow(folder, { ...northStatus, pid: child.pid ?? 0 });
    expect(seen).toMatchObject(platform() === "linux" ? { lock: "silent", isSuspended: true } : { lock: "silent" });
    if (platform() === "linux") expect(performance.now() - begun).toBeLessThan(LOCK_ANSWER_MILLISECONDS);
    child.kill("SIGKILL");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("devices are asked on between two looks, so that a page which is late knows how they are", async () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-evidence-"));
  const unlock = await lockFolder(folder);
  const real = performance.now.bind(performance);
  let late = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => real() + late);
  try {
    const look = evidenceReader();
    const lock = () => look("north", folder, northStatus).lock;
    expect(lock()).toBeUndefined();
    await eventually(() => expect(lock()).toBe("answers"));
    late = 20_000;
    // Nobody looks: longer than it takes until it is asked again.
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    expect(lock()).toBe("answers");
  } finally {
    clock.mockRestore();
    await unlock();
    rmSync(folder, { recursive: true });
  }
});
