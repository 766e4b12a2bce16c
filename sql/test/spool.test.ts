// Rows of text files: parsed once, then read as doubles from memory or from a file that has no name.

import { mkdtempSync, readdirSync, readlinkSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Matrix } from "@fedkm/core";
import { memorySource, sourceStatistics } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { duckdb } from "../src/dialects.ts";
import { type Spool, spool } from "../src/spool.ts";
import { problem } from "./exact.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-spool-"));
afterAll(() => rmSync(folder, { recursive: true }));

let temporary = "";
beforeEach(() => {
  temporary = mkdtempSync(join(folder, "tmp-"));
  vi.stubEnv("TMPDIR", temporary);
});
afterEach(() => vi.unstubAllEnvs());

const { points, centroids } = problem(8);
const { cols } = points;

function csv(name: string, { data, rows }: Matrix, odd: readonly string[] = []): string {
  const header = Array.from({ length: cols }, (_, c) => `c${c}`).join(",");
  const lines = Array.from({ length: rows }, (_, r) => data.subarray(r * cols, (r + 1) * cols).join(","));
  const path = join(folder, name);
  writeFileSync(path, `${[header, ...lines, ...odd].join("\n")}\n`);
  return path;
}

/** Files of this process in the folder for temporary ones, those without a name included. */
function openFiles(): number {
  const targets = readdirSync("/proc/self/fd").map((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`);
    } catch {
      return "";
    }
  });
  return targets.filter((path) => path.startsWith(temporary)).length;
}

describe("a CSV file as a source", () => {
  it.each(["memory", "stream"] as const)("is parsed once and answers as the kernel, %s", async (read) => {
    const path = csv(`${read}.csv`, points);
    const source = await openSource(`duckdb:${path}`, { env: {}, read });
    // Whoever reads it again will miss it.
    unlinkSync(path);
    const known = memorySource(points);
    const { counts, sums } = await sourceStatistics(source, centroids);
    const expected = await sourceStatistics(known, centroids);
    expect([counts, sums]).toEqual([expected.counts, expected.sums]);
    expect(await source.nearBorders(centroids, 0.1, 1000)).toEqual(await known.nearBorders(centroids, 0.1, 1000));
    const sample = await source.sample(points.rows / 4);
    expect(await source.sample(points.rows / 4)).toEqual(sample);
    expect(sample.rows).toBeGreaterThan(points.rows / 8);
    expect(sample.rows).toBeLessThan(points.rows / 2);
    await source.close();
  });

  it("is scaled and bounded as in a query", async () => {
    const path = csv("bounded.csv", points);
    const text = await openSource(`duckdb:${path}`, { env: {}, read: "stream" });
    const asked = await openSource(`duckdb:${path}`, { env: {}, read: "aggregate" });
    const bounds = Array.from({ length: cols }, (_, c) => ({ min: points.data[c], max: 1e6 }));
    const scaling = { offset: bounds.map((_, c) => c), scale: bounds.map((_, c) => 0.1 + c) };
    const [own, other] = [await text.bounded(bounds, scaling), await asked.bounded(bounds, scaling)];
    expect(own.outside).toEqual(other.outside);
    expect(own.outside.some((count) => count > 0)).toBe(true);
    expect([own.source.rows, own.source.least, own.source.most]).toEqual([
      other.source.rows,
      other.source.least,
      other.source.most,
    ]);
    const answers = await Promise.all([own, other].map(({ source }) => sourceStatistics(source, centroids)));
    expect(answers[0].counts).toEqual(answers[1].counts);
    expect(answers[0].sums.map((x) => x + 0)).toEqual(answers[1].sums.map((x) => x + 0));
    await text.close();
    await asked.close();
  });

  it("with missing numbers and infinity is refused, or its rows are dropped and counted", async () => {
    const holed = csv("holed.csv", points, [",".repeat(cols - 1), Array(cols).fill("nan").join(",")]);
    const open = (path: string, options: object) =>
      openSource(`duckdb:${path}`, { env: {}, read: "stream", ...options });
    await expect(open(holed, {})).rejects.toThrow(`NULL or NaN in 2 of ${points.rows + 2} rows`);
    const source = await open(holed, { missing: "drop" });
    expect([source.rows, source.dropped]).toEqual([points.rows, 2]);
    expect((await sourceStatistics(source, centroids)).sums).toEqual(
      (await sourceStatistics(memorySource(points), centroids)).sums,
    );
    await source.close();
    const endless = csv("endless.csv", points, [Array(cols).fill("inf").join(",")]);
    await expect(open(endless, { missing: "drop" })).rejects.toThrow(
      "must hold finite numbers, got infinity in 1 rows",
    );
    if (process.platform === "linux") expect(openFiles()).toBe(0);
  });

  it("names the folder where its rows cannot be kept", async () => {
    vi.stubEnv("TMPDIR", join(temporary, "nowhere"));
    const opened = openSource(`duckdb:${csv("lost.csv", points)}`, { env: {}, read: "stream" });
    await expect(opened).rejects.toThrow(`need a file in ${join(temporary, "nowhere")}, which failed with ENOENT`);
  });
});

describe("a spool", () => {
  const block = { data: Float64Array.of(1, 2, 3, 4), rows: 2, cols: 2 };
  async function* passing(times: number) {
    for (let t = 0; t < times; t++) yield block;
  }
  const columns = ["a", "b"].map((name) => ({ name, isNullable: true }));
  const selected = { dialect: duckdb, relation: "t", columns, dropsMissing: false };
  const gathered = async (kept: Spool) => {
    const numbers: number[] = [];
    for await (const { data } of kept.blocks(selected)) numbers.push(...data);
    return numbers;
  };

  it("keeps rows in memory up to a number, and all in a file without a name beyond it", async () => {
    for (const [mostInMemory, files] of [
      [20, 0],
      [19, 1],
    ]) {
      const kept = await spool(passing(5), 2, mostInMemory, () => {});
      expect(readdirSync(temporary)).toEqual([]);
      if (process.platform === "linux") expect(openFiles()).toBe(files);
      expect(await gathered(kept)).toEqual(Array(5).fill([1, 2, 3, 4]).flat());
      expect(await gathered(kept)).toHaveLength(20);
      await kept.close();
      await kept.close();
      if (process.platform === "linux") expect(openFiles()).toBe(0);
    }
  });

  it("leaves nothing behind when the rows end in a failure", async () => {
    async function* failing() {
      yield block;
      throw new Error("torn");
    }
    await expect(spool(failing(), 2, 0, () => {})).rejects.toThrow("torn");
    expect(readdirSync(temporary)).toEqual([]);
    if (process.platform === "linux") expect(openFiles()).toBe(0);
  });

  it("stops at an abort", async () => {
    const kept = await spool(passing(5), 2, 0, () => {});
    await expect(kept.summary(selected, AbortSignal.abort())).rejects.toThrow("abort");
    await kept.close();
  });
});
