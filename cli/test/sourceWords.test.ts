// Devices, categories and gaps in databases: the same table as a file and in four engines gives the same labels, row by row,
// whether its rows are loaded, streamed or aggregated; and so does the exported SELECT.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import sqlite from "node-sqlite3-wasm";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingEngines, startClickHouse, startPostgres } from "../../lab/src/engines/index.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]) => join(folder.path, ...names);

type Cell = number | string | null;

/** Columns id, site, wood, height and ring, with gaps in the last three. */
const rows: Cell[][] = Array.from({ length: 240 }, (_, r) => {
  const noise = (n: number) => ((Math.imul(r + 11 * n, 2654435761) >>> 0) / 2 ** 32 - 0.5) * 2;
  const group = (r * 7) % 3;
  return [
    r,
    ["north", "o'hare", "south"][r % 3],
    r % 41 === 5 ? null : [["ash", "oak", "fir"][group], "oak"][r % 9 === 0 ? 1 : 0],
    r % 37 === 9 ? null : Number((10 + 8 * group + noise(1) * 4).toFixed(2)),
    r % 29 === 3 ? null : Number((2 - 0.5 * group + noise(2) * 0.4).toFixed(3)),
  ];
});
const csv = at("trees.csv");
const text = (cell: Cell) =>
  cell === null ? "NULL" : typeof cell === "number" ? `${cell}` : `'${cell.replaceAll("'", "''")}'`;
const values = rows.map((cells) => `(${cells.map(text).join(", ")})`).join(", ");

interface Engine {
  readonly name: string;
  address: string;
  query(statement: string): Promise<unknown[][]>;
  stop(): Promise<void>;
}

async function duckdb(): Promise<Engine> {
  const file = at("trees.duckdb");
  const query = async (statement: string) => {
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    const found = (await connection.runAndReadAll(statement)).getRows();
    connection.closeSync();
    instance.closeSync();
    return found as unknown[][];
  };
  await query(
    `CREATE TABLE trees (id INTEGER, site VARCHAR, wood VARCHAR, height DOUBLE, ring DOUBLE); INSERT INTO trees VALUES ${values}`,
  );
  return { name: "duckdb", address: `duckdb:${file}?table=trees`, query, stop: async () => {} };
}

async function sqliteFile(): Promise<Engine> {
  const file = at("trees.sqlite");
  const query = async (statement: string) => {
    const database = new sqlite.Database(file);
    try {
      return database.all(statement).map((row) => Object.values(row));
    } finally {
      database.close();
    }
  };
  await query("CREATE TABLE trees (id INTEGER, site TEXT, wood TEXT, height REAL, ring REAL)");
  await query(`INSERT INTO trees VALUES ${values}`);
  return { name: "sqlite", address: `sqlite:${file}?table=trees`, query, stop: async () => {} };
}

async function postgres(): Promise<Engine> {
  const server = await startPostgres();
  await server.run("CREATE TABLE trees (id integer, site text, wood text, height float8, ring float8)");
  await server.run(`INSERT INTO trees VALUES ${values}`);
  const { default: pg } = await import("pg");
  const { pathname, hostname, port, username } = new URL(server.address.replace(/^postgres/, "http"));
  const query = async (statement: string) => {
    const client = new pg.Client({ host: hostname, port: Number(port), user: username, database: pathname.slice(1) });
    await client.connect();
    const { rows: found } = await client.query({ text: statement, rowMode: "array" });
    await client.end();
    return found as unknown[][];
  };
  return { name: "postgres", address: `${server.address}?table=trees`, query, stop: () => server.stop() };
}

async function clickhouse(): Promise<Engine> {
  const server = await startClickHouse();
  const types = "id Int32, site String, wood Nullable(String), height Nullable(Float64), ring Nullable(Float64)";
  await server.run(`CREATE TABLE trees (${types}) ENGINE = MergeTree() ORDER BY id`);
  const escaped = rows
    .map((cells) => `(${cells.map((cell) => text(cell).replaceAll("''", "\\'")).join(", ")})`)
    .join(", ");
  await server.run(`INSERT INTO trees VALUES ${escaped}`);
  const query = async (statement: string) => {
    const found = await server.run(`${statement.replace(/;\s*$/, "")} FORMAT TSV`);
    return found
      .trimEnd()
      .split("\n")
      .map((line) => line.split("\t").map((cell) => (cell === "\\N" ? null : cell)));
  };
  return { name: "clickhouse", address: `${server.address}/trees`, query, stop: () => server.stop() };
}

const starters = { duckdb, sqlite: sqliteFile, postgres, clickhouse };
const engines: Engine[] = [];
const isComplete = missingEngines().length === 0;

beforeAll(async () => {
  const lines = rows.map((cells) => cells.map((cell) => cell ?? "").join(","));
  writeFileSync(csv, `id,site,wood,height,ring\n${lines.join("\n")}\n`);
  for (const [name, start] of Object.entries(starters)) {
    if (isComplete || name === "duckdb" || name === "sqlite") engines.push(await start());
  }
}, 120_000);
afterAll(async () => {
  for (const { stop } of engines) await stop();
});

async function said(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return stdout;
}

const asked = (missing: string) =>
  `--as-is --k 3 --device-column site --categories wood --exclude id --scale standard --missing ${missing}`.split(" ");

/** By the ids of rows. */
function labelsOfFile(): (number | null)[] {
  const [, ...lines] = readFileSync(at("file", "labels", "trees.csv"), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => (line.endsWith(",") ? null : Number(line.slice(line.lastIndexOf(",") + 1))));
}

const byId = (found: readonly (readonly unknown[])[]) => {
  const labels: (number | null)[] = rows.map(() => null);
  for (const [id, label] of found) labels[Number(id)] = label === null ? null : Number(label);
  return labels;
};

describe.each(["drop", "mean"])("with --missing %s", (missing) => {
  test.each(Object.keys(starters))(
    "%s has the labels of the file, by three ways to read, and by its own SELECT",
    async (name) => {
      const engine = engines.find((own) => own.name === name);
      if (engine === undefined) return expect(isComplete).toBe(false);
      await said("fit", csv, ...asked(missing), "--out", at("file"));
      const labels = labelsOfFile();
      const gaps = rows.filter((cells) => cells.includes(null)).length;
      expect(labels.filter((label) => label === null).length).toBe(missing === "drop" ? gaps : 0);
      for (const read of ["memory", "stream", "aggregate"]) {
        const out = at(`${name}-${read}`);
        await said("fit", engine.address, ...asked(missing), "--read", read, "--out", out);
        const table = `labelled_${missing}_${read}`;
        await said("predict", engine.address, "--model", join(out, "model.json"), "--out", table);
        expect({ read, labels: byId(await engine.query(`SELECT id, cluster FROM ${table}`)) }).toEqual({
          read,
          labels,
        });
      }
      const select = await said(
        "export",
        at("file", "model.json"),
        "--as",
        `sql:${name}`,
        "--name",
        "trees",
        "--device",
        "north",
      );
      const found = await engine.query(
        `SELECT id, cluster FROM (${select.replace(/^--.*\n/gm, "").replace(/;\s*$/, "")}) AS q WHERE site = 'north'`,
      );
      const wanted = labels.map((label, r) => (rows[r][1] === "north" ? label : null));
      expect(byId(found)).toEqual(wanted);
    },
  );
});
