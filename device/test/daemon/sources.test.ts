// A device on a table of PostgreSQL: its rows stay there, changes are seen by the watermark alone, and a table that
// changes without a word is read again.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kmeans, type Matrix, matrix, paperData } from "@fedkm/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { missingEngines, type PostgresForTests, startPostgres } from "../../../lab/src/engines/index.ts";
import { type Daemon, startDaemon } from "../../src/daemon/daemon.ts";
import { createFolder, readFolder } from "../../src/daemon/folder.ts";
import { resetFolder } from "../../src/daemon/ownerFiles.ts";
import { rowSource, rowSourceStatistics } from "../../src/daemon/rowSource.ts";
import { realClock } from "../../src/environment.ts";
import { type DeviceRows, isRemote, remoteStatistics } from "../../src/study/remoteRows.ts";
import { parseStudy } from "../../src/study/study.ts";
import { studyText } from "../problem.ts";

const host = {
  version: "1",
  pid: 7,
  env: process.env,
  memoryBytes: () => 0,
  cpuMicroseconds: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};
const missing = missingEngines().filter((line) => line.startsWith("PostgreSQL"));
if (missing.length > 0) console.warn(`skipped, not installed: ${missing.join("; ")}`);

const [rows] = paperData("iso", 1, 240, 9).datasets;
const seconds = (count: number) => new Promise((resolve) => setTimeout(resolve, 1000 * count));

describe.skipIf(missing.length > 0)("a device on a table of PostgreSQL", () => {
  let postgres: PostgresForTests;
  let path = "";
  let daemon: Daemon | undefined;
  let from = 0;
  const said: string[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres?.stop());
  beforeEach(async () => {
    path = mkdtempSync(join(tmpdir(), "fedkm-device-"));
    said.length = 0;
    from = postgres.log().length;
    await postgres.run("CREATE TABLE visits (x1 float8, x2 float8, changed_at int)");
    await insert(rows, 1);
    // Out of the study's bounds.
    await postgres.run("INSERT INTO visits VALUES (31, 0, 1), (0, -30.5, 1), (-31, 31, 1)");
  });
  afterEach(async () => {
    await daemon?.stop();
    daemon = undefined;
    await postgres.run("DROP TABLE visits");
    rmSync(path, { recursive: true });
  });

  async function insert({ data, rows: count }: Matrix, changedAt: number): Promise<void> {
    const column = (c: number) => Array.from({ length: count }, (_, r) => data[2 * r + c]);
    const values = [column(0), column(1), changedAt];
    await postgres.run("INSERT INTO visits SELECT *, $3 FROM unnest($1::float8[], $2::float8[])", values);
  }

  /** So that nobody waits: twenty of its seconds pass in one. */
  const clock = {
    now: () => 20 * realClock.now(),
    after: (milliseconds: number, run: () => void) => realClock.after(milliseconds / 20, run),
  };

  async function start(options: string, study = studyText): Promise<void> {
    const data = [`${postgres.address}?table=visits${options}`];
    await createFolder(path, study, { name: "north", data, listen: ["/ip4/127.0.0.1/tcp/0"], announce: [] });
    const note = (_: object, line: string) => said.push(line);
    daemon = await startDaemon({ folder: path, log: { info: note, warn: note }, host, clock });
  }

  const reaches = (state: object) =>
    vi.waitFor(() => expect(daemon?.status().device).toMatchObject(state), { timeout: 600_000, interval: 20 });

  /** What the server was asked since its log had the length `from`, in few words. */
  const asked = () =>
    postgres
      .log()
      .slice(from)
      .split("\n")
      .filter((line) => line.includes("statement: COPY"))
      .map(
        (line) =>
          ["GROUP BY fedkm_label", 'max("changed_at")', "count(*)"].find((part) => line.includes(part)) ?? "rows",
      );

  function expectOwnClusters(of: Matrix): void {
    const sorted = (data: ArrayLike<number>) => Array.from(data).sort((a, b) => a - b);
    const found = sorted(matrix(daemon?.status().device.centroids ?? []).data);
    sorted(kmeans(of, { k: 3 }).centroids.data).forEach((x, i) => {
      expect(found[i]).toBeCloseTo(x, 9);
    });
  }

  it("asks for sums, ends at its own k-means, and then only looks at the watermark, as often as it is told", async () => {
    await start("&watermark=changed_at&every=2");
    await reaches({ phase: "alone", rows: 240, rowsLeftOut: 3 });
    expectOwnClusters(rows);
    expect(asked()).toContain("GROUP BY fedkm_label");
    const { counts } = await rowSourceStatistics(
      await readFolder(path),
      matrix(daemon?.status().device.centroids ?? []),
      process.env,
    );
    expect(counts.reduce((a, b) => a + b)).toBe(240);
    await seconds(1);
    from = postgres.log().length;
    const begun = Date.now();
    // More than two of its heartbeats.
    await seconds(4.2);
    await expect.poll(asked).not.toEqual([]);
    const looks = asked();
    expect(new Set(looks)).toEqual(new Set(['max("changed_at")']));
    expect(looks.length).toBeLessThanOrEqual(Math.ceil((Date.now() - begun) / 2_000));
  });

  it("never looks again where neither a watermark nor a time is given", async () => {
    await start("");
    await reaches({ phase: "alone", rows: 240 });
    await seconds(1);
    from = postgres.log().length;
    await seconds(2);
    expect(asked()).toEqual([]);
  });

  it("takes rows that came with a higher watermark", async () => {
    await start("&watermark=changed_at&every=1");
    await reaches({ phase: "alone", rows: 240 });
    const more = matrix(Array.from({ length: 30 }, (_, i) => [20 + i / 100, -20 - i / 50]));
    await insert(more, 2);
    await reaches({ phase: "alone", rows: 270, rowsLeftOut: 3 });
    expectOwnClusters({ data: Float64Array.of(...rows.data, ...more.data), rows: 270, cols: 2 });
    expect(said).toContain("data changed");
  });

  it("opens a table again that has changed without a word, once it has counted other rows", async () => {
    await start("");
    await reaches({ phase: "alone", rows: 240 });
    await postgres.run("DELETE FROM visits WHERE x1 > -5");
    await resetFolder(path, new Date());
    const { rows: left } = await postgres.run("SELECT count(*) AS n FROM visits WHERE x1 >= -30 AND x2 >= -30");
    await reaches({ phase: "alone", rows: Number(left[0].n) });
    expect(said.join("\n")).toMatch(/the rows do not answer.*: rows have changed since the survey/);
    await vi.waitFor(() => {
      expect(daemon?.status().notices.filter(({ cause, until }) => cause === "data" && until === null)).toEqual([]);
    });
  });

  it("reads the rows of a guarded study into memory, and says so", async () => {
    await start("", studyText.replace("privacy: open\nminimum: 1", "privacy: guarded\nminimum: 10"));
    await reaches({ phase: "alone", rows: 240, rowsLeftOut: 3 });
    expect(said).toContain("the rows of sources are read into memory: a guarded study needs them one by one");
    expect(asked()).not.toContain("GROUP BY fedkm_label");
  });

  it("loads them where the address says so", async () => {
    await start("&read=memory");
    await reaches({ phase: "alone", rows: 240, rowsLeftOut: 3 });
    expect(asked()).not.toContain("GROUP BY fedkm_label");
    expectOwnClusters(rows);
  });
});

it("files in a stream: rows that are opened again do not take the answer from those before", async () => {
  const path = mkdtempSync(join(tmpdir(), "fedkm-desk-"));
  writeFileSync(
    join(path, "rows.csv"),
    `x1,x2\n${Array.from({ length: 50 }, (_, i) => `${i / 2},${31 - i}`).join("\n")}\n`,
  );
  const study = parseStudy(studyText);
  const desk = rowSource([`duckdb:${join(path, "rows.csv")}?read=stream`], process.env, {});
  const centroids = matrix([[0, 0]]);
  const countIn = async (rows: DeviceRows) => isRemote(rows) && (await remoteStatistics(rows, centroids)).counts[0];
  const first = await desk.open(study);
  expect(first.counts).toEqual({ rows: 50, left: 1, outside: [0, 1] });
  const second = await desk.open(study);
  expect([await countIn(first.rows), await countIn(second.rows)]).toEqual([49, 49]);
  await desk.open(study);
  await desk.close();
  rmSync(path, { recursive: true });
});
