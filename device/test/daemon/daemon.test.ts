// The parts around a device: strangers' list, data files, watching, metrics, and who may ask for them.

import { existsSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toRows } from "@fedkm/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder } from "../../src/daemon/folder.ts";
import { formatMetrics } from "../../src/daemon/metrics.ts";
import { pendingList } from "../../src/daemon/pending.ts";
import { readColumns } from "../../src/daemon/points.ts";
import { resetFolder } from "../../src/daemon/reset.ts";
import { serveStatus } from "../../src/daemon/server.ts";
import type { DaemonStatus } from "../../src/daemon/status.ts";
import { lookOf, watchFiles } from "../../src/daemon/watch.ts";
import { writeLinks } from "../../src/linksFile.ts";
import { manualClock } from "../link/manualClock.ts";
import { studyText } from "../problem.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-daemon-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const status: DaemonStatus = {
  version: 1,
  isRunning: true,
  pid: 7,
  name: "north",
  studyHash: "00",
  startedAt: "2026-01-01T00:00:00.000Z",
  writtenAt: "2026-01-01T00:00:01.000Z",
  addresses: [],
  memoryBytes: 64e6,
  delayMilliseconds: 2,
  device: {
    peer: "me",
    study: "demo",
    phase: "settled",
    rows: 100,
    rowsLeftOut: 2,
    epoch: 1,
    opening: 3,
    round: 12,
    move: null,
    threshold: 1e-7,
    objective: 1.5,
    framesSent: 40,
    centroids: [[123.456]],
  },
  links: [
    {
      name: 'so"uth',
      peer: "you",
      addresses: [],
      isConnected: true,
      isAway: false,
      age: 1500,
      framesHeard: 3,
      framesRefused: { order: 2 },
      refusal: null,
      sent: { frames: 4, bytes: 376 },
      received: { frames: 3, bytes: 279 },
      replaced: 1,
      failure: null,
    },
  ],
  pending: [],
  notice: null,
};

test("startDaemon says in its status what is wrong with a changed file, until that file is mended", async () => {
  const [path, rows] = [join(folder, "north"), join(folder, "rows.csv")];
  writeFileSync(rows, "x1,x2\n1,1\n2,2\n");
  const settings = { name: "north", data: [rows], listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] };
  await createFolder(path, studyText, settings);
  const log = { info() {}, warn() {} };
  const daemon = await startDaemon({ folder: path, log, surroundings: { pid: 7, memoryBytes: () => 0 } });
  const noticed = (notice: unknown) => vi.waitFor(() => expect(daemon.status().notice).toEqual(notice), 20_000);
  try {
    writeFileSync(rows, "x1,x2\n1,none\n");
    await noticed(expect.stringMatching(/^data stays as before: .*rows\.csv/));
    writeFileSync(join(path, "links.json"), "no links");
    await noticed(expect.stringMatching(/^links stay as before: /));
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n");
    await vi.waitFor(() => expect(daemon.status().device.rows).toBe(3), 20_000);
    expect(daemon.status().notice).toMatch(/^links stay/);
    await writeLinks(path, []);
    await noticed(null);
  } finally {
    await daemon.stop();
  }
});

test("pendingList keeps one entry a peer, the 20 latest, and asks for one line a minute", () => {
  const pending = pendingList();
  const date = new Date(0);
  expect(pending.note("a", "/ip4/1", date, 0)).toBe(true);
  expect(pending.note("a", "/ip4/2", date, 90_000)).toBe(false);
  expect(pending.list()).toMatchObject([{ peer: "a", address: "/ip4/2", attempts: 2 }]);
  for (let n = 0; n < 1000; n++) expect(pending.note(`b${n}`, "", date, 59_000)).toBe(false);
  expect(pending.list()).toHaveLength(20);
  expect(pending.list()[19].peer).toBe("b999");
  expect(pending.note("c", "", date, 60_000)).toBe(true);
  pending.remove("c");
  expect(pending.list().some(({ peer }) => peer === "c")).toBe(false);
});

test("readColumns takes named columns in the order asked for, with any line ends", async () => {
  const file = join(folder, "rows.csv");
  writeFileSync(file, '\uFEFF"b", a ,c\r\n1,2,x\r\n-3e2,.5,y\r\n');
  const { names, points } = await readColumns(file, ["a", "b"]);
  expect(names).toEqual(["a", "b"]);
  expect(toRows(points)).toEqual([
    [2, 1],
    [0.5, -300],
  ]);
});

test("readColumns refuses what is no number, by line and column, and never shows it", async () => {
  const file = join(folder, "rows.csv");
  for (const cell of ["", " ", "NaN", "Infinity", "0x10", "1_000", "1e999", "1e13", "1abc", "1 2", "=1"]) {
    writeFileSync(file, `a,b\n1,2\n3,4\n5,${cell}\n`);
    const refusal = await readColumns(file, ["a", "b"]).catch((error: Error) => error.message);
    expect(refusal, cell).toMatch(/rows\.csv, line 4, column "b" must [a-z]/);
    expect(refusal, cell).not.toContain(", got");
  }
  writeFileSync(file, "a,b\n1,2,3\n");
  await expect(readColumns(file)).rejects.toThrow(/line 2, column "b" must have 2 cells/);
  await expect(readColumns(file, ["c"])).rejects.toThrow('line 1, column "c" must exist');
  writeFileSync(file, "");
  await expect(readColumns(file, ["a"])).rejects.toThrow(/rows\.csv/);
});

test("watchFiles calls once for a change, after the file looked the same twice, also when it was replaced", async () => {
  const file = join(folder, "rows.csv");
  writeFileSync(file, "1");
  const clock = manualClock();
  let changes = 0;
  /** Lets so many looks happen. */
  const looks = async (times: number) => {
    for (let n = 0; n < times; n++) {
      const before = clock.due();
      expect(before).toHaveLength(1);
      clock.advance(1000);
      // The next look is scheduled when this one is over.
      while (clock.due().length === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  const stop = watchFiles([file], await lookOf([file]), clock, async () => {
    changes += 1;
  });
  await looks(3);
  expect(changes).toBe(0);
  writeFileSync(file, "12");
  await looks(1);
  expect(changes).toBe(0);
  await looks(3);
  expect(changes).toBe(1);
  writeFileSync(join(folder, "other"), "12");
  renameSync(join(folder, "other"), file);
  await looks(3);
  expect(changes).toBe(2);
  stop();
  expect(clock.due()).toEqual([]);
});

test("formatMetrics writes one family a number, quotes names, leaves out what is not known and never a centroid", () => {
  const text = formatMetrics(status);
  expect(text).toContain("# TYPE fedkm_rounds_total counter\nfedkm_rounds_total 12\n");
  expect(text).toContain('fedkm_link_age_seconds{link="so\\"uth"} 1.5\n');
  expect(text).toContain('fedkm_link_refused_frames_total{link="so\\"uth",reason="order"} 2\n');
  expect(text).toContain("# TYPE fedkm_move gauge\n# HELP");
  expect(text).not.toContain("123.456");
  for (const line of text.trimEnd().split("\n")) {
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+(\{\w+="([^"\\]|\\.)*"(,\w+="[^"]*")*\})? [\d.e+-]+)$/);
  }
});

test("serveStatus answers this machine by its own names only, never with centroids, and only GET", async () => {
  const server = await serveStatus(0, () => status);
  const ask = (path: string, host: string, method = "GET") =>
    new Promise<{ code: number | undefined; body: string }>((resolve, reject) => {
      const asked = request({ port: server.port, host: "127.0.0.1", path, method, headers: { host } }, (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        response.on("end", () => resolve({ code: response.statusCode, body }));
      });
      asked.on("error", reject);
      asked.end();
    });
  try {
    for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      expect((await ask("/metrics", host)).code).toBe(200);
      const { code, body } = await ask("/status", host);
      expect(code).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ name: "north", device: { round: 12 } });
      expect(body).not.toContain("123.456");
    }
    for (const host of ["evil.example", `evil.example:${server.port}`, `127.0.0.1.evil:${server.port}`, "127.0.0.1"]) {
      expect((await ask("/status", host)).code).toBe(403);
    }
    expect((await ask("/status", `127.0.0.1:${server.port}`, "POST")).code).toBe(405);
    expect((await ask("/", `127.0.0.1:${server.port}`)).code).toBe(404);
  } finally {
    server.close();
  }
});

test("resetFolder sets the state aside, and the device begins again, whether it runs or not", async () => {
  const [path, rows] = [join(folder, "north"), join(folder, "rows.csv")];
  writeFileSync(rows, "x1,x2\n1,1\n2,2\n20,20\n");
  await createFolder(path, studyText, { name: "north", data: [rows], listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] });
  const begin = () =>
    startDaemon({ folder: path, log: { info() {}, warn() {} }, surroundings: { pid: 7, memoryBytes: () => 0 } });
  expect(await resetFolder(path, new Date(0))).toEqual({ setAside: undefined, isRunning: false });
  const daemon = await begin();
  try {
    await vi.waitFor(() => expect(daemon.status().device.phase).toBe("settled"), 20_000);
    const { opening } = daemon.status().device;
    expect(await resetFolder(path, new Date(1))).toMatchObject({ isRunning: true });
    await vi.waitFor(() => expect(daemon.status().device.opening).toBe(opening + 1), 20_000);
    await vi.waitFor(() => expect(existsSync(join(path, "reset"))).toBe(false), 20_000);
  } finally {
    await daemon.stop();
  }
  const setAside = join(path, "set-aside-1970-01-01T00-00-00.002Z");
  expect(await resetFolder(path, new Date(2))).toEqual({ setAside, isRunning: false });
  expect(readdirSync(setAside)).toContain("state.a");
  expect(existsSync(join(path, "state.a"))).toBe(false);
});
