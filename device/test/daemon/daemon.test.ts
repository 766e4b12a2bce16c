// The parts around a device: strangers' list, data files, watching, metrics, and who may ask for them.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toRows } from "@fedkm/core";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startDaemon } from "../../src/daemon/daemon.ts";
import { watchedFilesLook, watchFiles } from "../../src/daemon/fileWatch.ts";
import { createFolder } from "../../src/daemon/folder.ts";
import { lastStatus } from "../../src/daemon/lastStatus.ts";
import { resetFolder } from "../../src/daemon/ownerFiles.ts";
import { rowSourceColumns } from "../../src/daemon/rowSource.ts";
import { formatMetrics, serveStatus } from "../../src/daemon/server.ts";
import type { DaemonStatus } from "../../src/daemon/status.ts";
import { strangerList } from "../../src/daemon/strangers.ts";
import { writeLinksFile } from "../../src/disk/linksFile.ts";
import { realClock } from "../../src/environment.ts";
import { manualClock } from "../links/manualClock.ts";
import { studyText } from "../problem.ts";
import { northStatus as status } from "./northStatus.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-daemon-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const host = {
  version: "1",
  pid: 7,
  env: process.env,
  memoryBytes: () => 0,
  cpuMicroseconds: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};
const notice = { link: null, text: "no words", since: "2026-01-01T00:00:00.000Z", until: null } as const;

test("startDaemon lists everything that is wrong with its files and rows, each until it is right again", async () => {
  const [path, rows] = [join(folder, "north"), join(folder, "rows.csv")];
  writeFileSync(rows, "x1,x2\n1,1\n");
  const settings = { name: "north", data: [rows], listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] };
  await createFolder(path, studyText, settings);
  // Where its status is to go.
  mkdirSync(join(path, "status.json", "in the way"), { recursive: true });
  const said: string[] = [];
  const log = {
    info: (_: object, line: string) => said.push(line),
    warn: (_: object, line: string) => said.push(line),
  };
  // So that nobody waits: twenty of its seconds pass in one.
  const clock = {
    now: () => 20 * realClock.now(),
    after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 20, run),
  };
  const daemon = await startDaemon({ folder: path, log, host, clock });
  const open = () => daemon.status().notices.filter(({ until }) => until === null);
  const noticed = (...texts: RegExp[]) =>
    vi.waitFor(() => {
      expect(open().map(({ text }) => text)).toEqual(texts.map((text) => expect.stringMatching(text)));
    }, 600_000);
  try {
    await noticed(/^none of 1 rows counts, 3 are needed/, /^the status cannot be written: EISDIR/);
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n");
    await noticed(/^the status/);
    writeFileSync(rows, "x1,x2\n1,none\n");
    await noticed(/^the status/, /^data stays as before: .*rows\.csv/);
    writeFileSync(join(path, "links.json"), "no links");
    await noticed(/^the status/, /^data stays/, /^links stay as before: /);
    rmSync(join(path, "links.json"));
    await noticed(/^the status/, /^data stays/, /^links stay as before: .*links\.json must be .*: it is missing$/);
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n300,3\n300,4\n");
    await noticed(
      /^the status/,
      /^links stay/,
      /^none of 4 rows counts, 3 are needed .*: 2 are out of the study's bounds/,
    );
    rmSync(join(path, "status.json"), { recursive: true });
    await writeLinksFile(path, []);
    writeFileSync(rows, "x1,x2\n1,1\n2,2\n3,3\n4,4\n");
    await noticed();
    await vi.waitFor(() => expect(daemon.status().device).toMatchObject({ rows: 4, phase: "alone" }), 600_000);
    expect(daemon.status().failedWrites.status).toBeGreaterThan(0);
    for (const { cause, since, until, text } of daemon.status().notices) {
      expect(Date.parse(until ?? "")).toBeGreaterThanOrEqual(Date.parse(since));
      expect(
        said.filter((line) => line === text),
        cause,
      ).toHaveLength(1);
      expect(said).toContain(`over: ${text}`);
    }
  } finally {
    await daemon.stop();
  }
});

test("pendingList keeps one entry a peer, the 20 latest, and asks for one line a minute", () => {
  const pending = strangerList();
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
  const { names, points } = await rowSourceColumns(file, {}, ["a", "b"]);
  expect(names).toEqual(["a", "b"]);
  expect(toRows(points)).toEqual([
    [2, 1],
    [0.5, -300],
  ]);
});

test("readColumns refuses what is no number, by line and column, and never shows it", async () => {
  const file = join(folder, "rows.csv");
  for (const cell of ["", " ", "NaN", "Infinity", "0x10", "1_000", "1e999", "1e16", "1abc", "1 2", "=1"]) {
    writeFileSync(file, `a,b\n1,2\n3,4\n5,${cell}\n`);
    const refusal = await rowSourceColumns(file, {}, ["a", "b"]).catch((error: Error) => error.message);
    expect(refusal, cell).toMatch(/rows\.csv, line 4, column "b" must [a-z]/);
    expect(refusal, cell).not.toContain(", got");
  }
  writeFileSync(file, "a,b\n1,2,3\n");
  await expect(rowSourceColumns(file, {})).rejects.toThrow(/line 2, column "b" must have 2 cells/);
  await expect(rowSourceColumns(file, {}, ["c"])).rejects.toThrow('line 1, column "c" must exist');
  writeFileSync(file, "");
  await expect(rowSourceColumns(file, {}, ["a"])).rejects.toThrow(/rows\.csv/);
});

test("watchFiles calls once for a change that lasts, also of a replaced file, and again for what could not be used", async () => {
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
  let isUsable = true;
  const stop = watchFiles(
    () => watchedFilesLook([file], {}),
    await watchedFilesLook([file], {}),
    clock,
    async () => {
      changes += 1;
      return isUsable;
    },
  );
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
  // What could not be used is tried again, sooner at first and then once a minute, until it can.
  isUsable = false;
  writeFileSync(file, "123");
  const tries: number[] = [];
  for (let second = 1; second <= 240; second++) {
    const before = changes;
    await looks(1);
    if (changes > before) tries.push(second);
  }
  expect(tries.slice(0, 4)).toEqual([3, 4, 5, 7]);
  expect(Math.max(...tries.slice(1).map((second, at) => second - tries[at]))).toBe(60);
  isUsable = true;
  await looks(60);
  const used = changes;
  await looks(120);
  expect(changes).toBe(used);
  stop();
  expect(clock.due()).toEqual([]);
});

test("formatMetrics writes OpenMetrics, quotes names, leaves out what is not known and never a centroid", () => {
  const notices = [
    { ...notice, cause: "data" },
    { ...notice, cause: "away", link: "south" },
    { ...notice, cause: "state", until: notice.since },
  ] as const;
  const text = formatMetrics({ ...status, notices });
  expect(text).toContain(
    "# TYPE fedkm_rounds counter\n# HELP fedkm_rounds Updates of this device.\nfedkm_rounds_total 12\n",
  );
  expect(text).toContain("# UNIT fedkm_link_age_seconds seconds\n");
  expect(text).toContain('fedkm_link_age_seconds{link="so\\"uth"} 1.5\n');
  expect(text).toContain('fedkm_link_refused_frames_total{link="so\\"uth",reason="order"} 2\n');
  expect(text).toContain('fedkm_refused_frames_total{reason="order"} 2\n');
  expect(text).toContain('fedkm_refused_frames_total{reason="bounds"} 0\n');
  expect(text).toContain('fedkm_failed_writes_total{file="log"} 4\n');
  expect(text).toContain('fedkm_notice{cause="data"} 1\nfedkm_notice{cause="away",link="south"} 1\n# ');
  expect(text).toContain("\nfedkm_data_stale 1\n");
  expect(text).toContain("\nfedkm_start_time_seconds 1767225600\n");
  expect(text).toContain(
    '# TYPE fedkm_build info\n# HELP fedkm_build The version of fedkm.\nfedkm_build_info{version="1.2.3"} 1\n',
  );
  expect(text).not.toMatch(/^fedkm_move_ratio/m);
  expect(text).not.toContain("123.456");
  const lines = text.split("\n");
  expect(lines.splice(-2)).toEqual(["# EOF", ""]);
  // Every sample follows the lines about its family, by the name that its type asks for.
  let [family, suffix] = ["", ""];
  for (const line of lines) {
    const [, name, type] = /^# TYPE (fedkm_\w+) (counter|gauge|info)$/.exec(line) ?? [];
    if (name !== undefined) [family, suffix] = [name, { counter: "_total", gauge: "", info: "_info" }[type] ?? "?"];
    else if (line.startsWith("# ")) expect(line).toMatch(new RegExp(`^# (HELP|UNIT) ${family} .+$`));
    else
      expect(line).toMatch(new RegExp(`^${family}${suffix}({\\w+="([^"\\\\]|\\\\.)*"(,\\w+="[^"]*")*})? [\\d.e+-]+$`));
  }
});

test("docs/operations.md names metrics and causes of notices that there are, and every cause", () => {
  const page = readFileSync(new URL("../../../docs/operations.md", import.meta.url), "utf8");
  const text = formatMetrics({ ...status, notices: [{ ...notice, cause: "data" }] });
  const names = new Set(page.match(/\bfedkm_\w+/g));
  expect(names.size).toBeGreaterThan(10);
  for (const name of names) expect(text).toMatch(new RegExp(`^${name}({| )`, "m"));
  const [, table] = /### Notices([\s\S]*?)### /.exec(page) ?? [];
  const documented = Array.from(table.matchAll(/^\| `(\w+)`/gm), ([, cause]) => cause);
  const source = readFileSync(new URL("../../src/daemon/notices.ts", import.meta.url), "utf8");
  const causes = Array.from(source.matchAll(/^type (?:Own|Link)Cause =([^;]*);/gm)).flatMap(([, list]) =>
    list.match(/"\w+"/g),
  );
  expect(causes.map((cause) => cause?.slice(1, -1)).sort()).toEqual([...documented].sort());
});

test("serveStatus answers this machine by its own names only, never with centroids, and only GET", async () => {
  let notices: DaemonStatus["notices"] = [];
  const server = await serveStatus(0, () => ({ ...status, notices }));
  const ask = (path: string, host: string, method = "GET") =>
    new Promise<{ code: number | undefined; type: string | undefined; body: string }>((resolve, reject) => {
      const asked = request({ port: server.port, host: "127.0.0.1", path, method, headers: { host } }, (response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        const type = response.headers["content-type"];
        response.on("end", () => resolve({ code: response.statusCode, type, body }));
      });
      asked.on("error", reject);
      asked.end();
    });
  try {
    for (const host of [`127.0.0.1:${server.port}`, `localhost:${server.port}`]) {
      const type = "application/openmetrics-text; version=1.0.0; charset=utf-8";
      expect(await ask("/metrics", host)).toMatchObject({ code: 200, type });
      const { code, body } = await ask("/status", host);
      expect(code).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ name: "north", device: { round: 12 } });
      expect(body).not.toContain("123.456");
    }
    for (const host of ["evil.example", `evil.example:${server.port}`, `127.0.0.1.evil:${server.port}`, "127.0.0.1"]) {
      expect((await ask("/status", host)).code).toBe(403);
    }
    // A neighbour's fault and what is over are no illness of this device.
    notices = [
      { ...notice, cause: "away", link: "south" },
      { ...notice, cause: "data", until: notice.since },
    ];
    expect(await ask("/healthz", `127.0.0.1:${server.port}`)).toMatchObject({ code: 200, body: "ok\n" });
    notices = [...notices, { ...notice, cause: "state" }];
    expect(await ask("/healthz", `127.0.0.1:${server.port}`)).toMatchObject({ code: 503, body: "no words\n" });
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
  const begin = () => startDaemon({ folder: path, log: { info() {}, warn() {} }, host });
  expect(await resetFolder(path, new Date(0))).toEqual({ setAside: undefined, isRunning: false });
  const daemon = await begin();
  try {
    await vi.waitFor(() => expect(daemon.status().device.phase).toBe("alone"), 600_000);
    const { opening } = daemon.status().device;
    expect(await resetFolder(path, new Date(1))).toMatchObject({ isRunning: true });
    await vi.waitFor(() => expect(daemon.status().device.opening).toBe(opening + 1), 600_000);
    await vi.waitFor(() => expect(existsSync(join(path, "reset"))).toBe(false), 600_000);
  } finally {
    await daemon.stop();
  }
  const setAside = join(path, "set-aside-1970-01-01T00-00-00.002Z");
  expect(lastStatus(path)?.device.centroids).toBeDefined();
  expect(await resetFolder(path, new Date(2))).toEqual({ setAside, isRunning: false });
  expect(lastStatus(path)).toBe(undefined);
  expect(readdirSync(setAside)).toContain("state.a");
  expect(existsSync(join(path, "state.a"))).toBe(false);
});
