// Addresses: what they name, and what they may not hold.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSource } from "@fedkm/sql";
import { describe, expect, it } from "vitest";
import { isAddress, parseAddress } from "../src/address.ts";
import { isLocalEngine, passwordOf } from "../src/open.ts";

describe("an address", () => {
  it("names files, tables of servers and their schemas", () => {
    expect(parseAddress("duckdb:lake/part-?.parquet")).toMatchObject({
      database: "lake/part-?.parquet",
      table: undefined,
    });
    expect(parseAddress("duckdb:own.duckdb?table=visits")).toMatchObject({ database: "own.duckdb", table: "visits" });
    expect(parseAddress("postgres://me@db:5433/clinic?table=north.visits")).toMatchObject({
      ...{ scheme: "postgres", user: "me", host: "db", port: 5433, database: "clinic" },
      ...{ schema: "north", table: "visits" },
    });
    expect(parseAddress("postgres://db/clinic?schema=a&table=b.c")).toMatchObject({ schema: "a", table: "b.c" });
    expect(parseAddress("clickhouse://db/stats/all_visits")).toMatchObject({ database: "stats", table: "all_visits" });
  });

  it("is refused with a password, and the refusal does not repeat it", async () => {
    for (const text of ["postgres://me:hunter2@db/x?table=t", "clickhouse://me:hunter2@db/x/t"]) {
      const refusal = await openSource(text, { env: {} }).catch(String);
      expect(refusal).toMatch(/password must not stand in an address.*password-file/);
      expect(refusal).not.toContain("hunter2");
    }
    expect(() => parseAddress("postgres://db/x?password=hunter2")).toThrow('got "password"');
  });

  it("finds its password in the environment or in a file that only its owner reads", () => {
    const folder = mkdtempSync(join(tmpdir(), "fedkm-secrets-"));
    const file = join(folder, "password");
    writeFileSync(file, "hunter2\n");
    const address = parseAddress(`postgres://db/x?table=t&password-file=${encodeURIComponent(file)}`);
    chmodSync(file, 0o640);
    expect(() => passwordOf(address, {})).toThrow("chmod 600");
    chmodSync(file, 0o600);
    expect(passwordOf(address, {})).toBe("hunter2");
    expect(passwordOf(parseAddress("clickhouse://db/x/t"), { CLICKHOUSE_PASSWORD: "a" })).toBe("a");
    expect(passwordOf(parseAddress("postgres://db/x?table=t&password-env=OWN"), { OWN: "b" })).toBe("b");
    expect(() => passwordOf(parseAddress("postgres://db/x?password-env=OWN"), {})).toThrow("is not set");
    rmSync(folder, { recursive: true });
  });

  it("of a folder means its Parquet files, or else its CSV files", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fedkm-folder-"));
    mkdirSync(join(folder, "year=2026"));
    writeFileSync(join(folder, "year=2026", "a.csv"), "x,y\n1,2\n3,4\n");
    const source = await openSource(`duckdb:${folder}`, { env: {} });
    expect([source.rows, source.columns]).toEqual([2, ["x", "y", "year"]]);
    await source.close();
    rmSync(folder, { recursive: true });
    mkdirSync(folder);
    await expect(openSource(`duckdb:${folder}`, { env: {} })).rejects.toThrow("parquet");
    rmSync(folder, { recursive: true });
  });

  it("of an engine without a driver is refused with what can be done instead", async () => {
    for (const engine of ["trino", "spark"]) {
      expect(isAddress(`${engine}://host/catalog/schema/visits`)).toBe(true);
      const refusal = openSource(`${engine}://host/catalog/schema/visits`, { env: {} });
      await expect(refusal).rejects.toThrow(
        `${engine}: there is no driver here that asks this engine: read its Parquet files with duckdb:FOLDER, and label its table with the SELECT of fedkm export MODEL --as sql:${engine}`,
      );
    }
  });

  it("has TLS unless its host is this machine", () => {
    expect(["localhost", "127.0.0.1", "::1", ""].every(isLocalEngine)).toBe(true);
    expect(["db.example", "10.0.0.7", "127.evil.example", "localhost.evil.example"].some(isLocalEngine)).toBe(false);
  });
});
