// Tables of doubles in real engines: the same rows in DuckDB, PostgreSQL, and over three shards of ClickHouse.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Matrix } from "@fedkm/core";
import {
  type ClickHouseForTests,
  missingEngines,
  type PostgresForTests,
  SHARDS,
  startClickHouse,
  startPostgres,
} from "../../lab/src/engines/index.ts";

/** An engine that takes rows and gives the address of a table with columns c0, c1, ... */
export interface EngineTables {
  readonly name: string;
  put(rows: Matrix): Promise<string>;
  stop(): Promise<void>;
}

const columnNames = (cols: number) => Array.from({ length: cols }, (_, c) => `c${c}`);

let made = 0;

export async function duckdbTables(): Promise<EngineTables> {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-lake-"));
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  return {
    name: "DuckDB",
    async put({ data, rows, cols }) {
      await connection.run(
        `CREATE OR REPLACE TABLE t (${columnNames(cols)
          .map((name) => `${name} DOUBLE`)
          .join(", ")})`,
      );
      const appender = await connection.createAppender("t");
      for (let r = 0; r < rows; r++) {
        for (let c = 0; c < cols; c++) appender.appendDouble(data[r * cols + c]);
        appender.endRow();
      }
      appender.closeSync();
      const file = join(folder, `t${made++}.parquet`);
      await connection.run(`COPY t TO '${file}'`);
      return `duckdb:${file}`;
    },
    async stop() {
      connection.closeSync();
      instance.closeSync();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function postgresTables(server?: PostgresForTests): Promise<EngineTables> {
  const postgres = server ?? (await startPostgres());
  return {
    name: "PostgreSQL",
    async put({ data, rows, cols }) {
      const table = `t${made++}`;
      await postgres.run(
        `CREATE TABLE ${table} (${columnNames(cols)
          .map((name) => `${name} float8 NOT NULL`)
          .join(", ")})`,
      );
      const columns = Array.from({ length: cols }, (_, c) =>
        Array.from({ length: rows }, (__, r) => data[r * cols + c]),
      );
      const values = columns.map((_, c) => `$${c + 1}::float8[]`).join(", ");
      await postgres.run(`INSERT INTO ${table} SELECT * FROM unnest(${values})`, columns);
      return `${postgres.address}?table=${table}`;
    },
    stop: () => postgres.stop(),
  };
}

export async function clickhouseTables(cluster?: ClickHouseForTests): Promise<EngineTables> {
  const clickhouse = cluster ?? (await startClickHouse());
  return {
    name: "ClickHouse, three shards",
    async put({ data, rows, cols }) {
      const table = `t${made++}`;
      const columns = columnNames(cols)
        .map((name) => `${name} Float64`)
        .join(", ");
      for (let shard = 0; shard < SHARDS; shard++) {
        await clickhouse.run(`CREATE TABLE ${table} (${columns}) ENGINE = MergeTree() ORDER BY tuple()`, shard);
        const from = Math.floor((shard * rows) / SHARDS) * cols;
        const to = Math.floor(((shard + 1) * rows) / SHARDS) * cols;
        if (to > from) await clickhouse.insert(table, data.slice(from, to), shard);
      }
      const all = `Distributed(${clickhouse.cluster}, default, ${table}, rand())`;
      await clickhouse.run(`CREATE TABLE all_${table} (${columns}) ENGINE = ${all}`);
      return `${clickhouse.address}/all_${table}`;
    },
    stop: () => clickhouse.stop(),
  };
}

const missing = missingEngines();

/** Whether an engine is installed; says so where it is not. */
export function has(engine: string): boolean {
  const line = missing.find((text) => text.startsWith(engine));
  if (line !== undefined) console.warn(`skipped, not installed: ${line}`);
  return line === undefined;
}
