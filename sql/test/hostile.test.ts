// Hostile names and texts: what a name holds never becomes a statement. What the engines say they executed is read back
// from their own logs, with names and texts taken out by rules of our own.

import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Random, randomStream } from "@fedkm/core";
import { openSource } from "@fedkm/sql";
import pg from "pg";
import { describe, expect, it } from "vitest";
import { startClickHouse, startPostgres } from "../../lab/src/engines/index.ts";
import { runs } from "../../test/runs.ts";
import { parseAddress } from "../src/address.ts";
import { clickhouse, duckdb, postgres } from "../src/dialects.ts";
import { has } from "./engines.ts";

const PIECES = [
  ...[
    '"',
    "'",
    "`",
    "\\",
    "\\'",
    '\\"',
    "''",
    '""',
    ";",
    "--",
    "/*",
    "*/",
    "#",
    "$$",
    "$1",
    "%",
    "{x:String}",
    "?",
    "\n",
  ],
  ...["é", "雪", "\u202e", "😀", " ", ")", "(", ",", ".", "=", "E'", "x", "select", "\u00a0", "\u2019", "\uff07"],
  ...["; DROP TABLE canary; --", "'; DROP TABLE canary; --", '"; DROP TABLE canary; --', "`; DROP TABLE canary; --"],
  ...[") AS q; CREATE TABLE pwned AS SELECT 1 --", "\\'; CREATE TABLE pwned AS SELECT 1 --", "' OR 1 = 1 --"],
];

function hostile(random: Random): string {
  const count = 1 + Math.floor(5 * random());
  const text = Array.from({ length: count }, () => PIECES[Math.floor(PIECES.length * random())]).join("");
  // Longer names are cut by PostgreSQL, and nothing else is to be tested here.
  return Buffer.from(text).length > 60 ? text.slice(0, 15) : text;
}

/** Names, texts and comments taken out of a statement. `isEscaping`: a backslash takes the next letter with it. */
function skeleton(statement: string, marks: string, isEscaping: boolean): string {
  let rest = "";
  for (let at = 0; at < statement.length; at++) {
    const mark = statement[at];
    if (!marks.includes(mark)) {
      rest += mark;
      continue;
    }
    const escapes = isEscaping || (mark === "'" && /E$/.test(rest));
    for (at++; at < statement.length; at++) {
      if (escapes && statement[at] === "\\") at++;
      else if (statement[at] === mark && statement[at + 1] === mark) at++;
      else if (statement[at] === mark) break;
    }
    rest += "_";
  }
  return rest;
}

const FOREIGN = /canary|pwned|--|\/\*|;\s*\S|drop|insert/i;

const cases = runs({ short: 20, long: 670 });

describe("hostile names and texts", () => {
  it("DuckDB: its own parser finds one statement, and nothing else happens", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fedkm-hostile-"));
    const file = join(folder, "own.duckdb");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    for (let seed = 0; seed < cases; seed++) {
      const random = randomStream(seed, "duckdb");
      const [table, column, value] = [hostile(random), hostile(random), hostile(random)];
      const names = `${duckdb.quote(table)} (${duckdb.quote(column)} DOUBLE, note VARCHAR)`;
      const text = duckdb.text(value);
      const statements = [
        `CREATE TABLE ${names}`,
        `SELECT count(*) FROM ${duckdb.quote(table)} WHERE note = ${text}`,
        `SELECT * FROM read_parquet(${text})`,
      ];
      for (const statement of statements) {
        expect((await connection.extractStatements(statement)).count, statement).toBe(1);
        expect(skeleton(statement, `'"`, false), statement).not.toMatch(FOREIGN);
      }
      await connection.run(statements[0]);
      const [[found]] = (await connection.runAndReadAll(`SELECT ${text}`)).getRows();
      expect(found).toBe(value);
      const described = await connection.runAndReadAll(`SELECT table_name, column_name FROM duckdb_columns() LIMIT 1`);
      expect(described.getRows()[0]).toEqual([table, column]);
      await connection.run(`DROP TABLE ${duckdb.quote(table)}`);
      // A whole engine each time, so not every time.
      if (seed % 10 === 0) await expect(openSource(`duckdb:${folder}/${value}.parquet`, { env: {} })).rejects.toThrow();
    }
    connection.closeSync();
    instance.closeSync();
    expect(existsSync(file)).toBe(false);
    rmSync(folder, { recursive: true });
  });

  it.skipIf(!has("PostgreSQL"))("PostgreSQL: its log has nothing else", { timeout: 600_000 }, async () => {
    const server = await startPostgres();
    try {
      await server.run("CREATE TABLE canary (a float8)");
      const owner = new pg.Client({ host: "127.0.0.1", port: server.port, user: "owner", database: "postgres" });
      await owner.connect();
      for (let seed = 0; seed < cases; seed++) {
        const random = randomStream(seed, "postgres");
        const [table, column, value] = [`t${hostile(random)}`, `c${hostile(random)}`, hostile(random)];
        // The server quotes the names of the table itself.
        const made = await owner.query(
          "SELECT format('CREATE TABLE %I AS SELECT 1::float8 AS %I, %L::text AS note', $1::text, $2::text, $3::text) AS text",
          [table, column, value],
        );
        await owner.query(String(made.rows[0].text));
        const address = `${server.address}?schema=public&table=${encodeURIComponent(table)}`;
        const where = `note = ${postgres.text(value)}`;
        const source = await openSource(address, { env: {}, columns: [column], where });
        expect([source.rows, source.columns], JSON.stringify([table, column, value])).toEqual([1, [column]]);
        const dropped = await owner.query("SELECT format('DROP TABLE %I', $1::text) AS text", [table]);
        await owner.query(String(dropped.rows[0].text));
      }
      await owner.end();
      const { rows } = await server.run("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
      expect(rows).toEqual([{ tablename: "canary" }]);
      const executed = server.log().split(/^(?=\d{4}-\d\d-\d\d )/m);
      const ours = executed.filter((entry) => /(statement|execute <unnamed>): (COPY|SELECT \* FROM)/.test(entry));
      expect(ours.length).toBeGreaterThanOrEqual(2 * cases);
      for (const entry of ours) {
        const statement = entry.replace(/^.*?(statement|execute <unnamed>): /s, "");
        expect(skeleton(statement, `'"`, false), statement).not.toMatch(FOREIGN);
      }
    } finally {
      await server.stop();
    }
  });

  it.skipIf(!has("ClickHouse"))("ClickHouse: its log has nothing else", { timeout: 600_000 }, async () => {
    const server = await startClickHouse();
    try {
      await server.run("CREATE TABLE canary (a Float64) ENGINE = Memory");
      await server.run("CREATE TABLE rows (a Float64, note String) ENGINE = Memory");
      for (let seed = 0; seed < cases; seed++) {
        const random = randomStream(seed, "clickhouse");
        const [column, value] = [`c${hostile(random)}`, hostile(random)];
        const bytes = (text: string) => `unhex('${Buffer.from(text).toString("hex")}')`;
        // The text arrives as bytes, by a way that has no quotes.
        const query = `SELECT 1.5 AS ${clickhouse.quote(column)}, ${bytes(value)} AS note`;
        const where = `note = ${clickhouse.text(value)}`;
        const source = await openSource(`${server.address}/rows`, { env: {}, columns: [column], query, where });
        expect([source.rows, source.columns], JSON.stringify([column, value])).toEqual([1, [column]]);
      }
      expect(await server.run("SELECT name FROM system.tables WHERE database = 'default' ORDER BY name")).toBe(
        "canary\nrows\n",
      );
      const ours = server
        .log()
        .split("\n")
        .filter((line) => line.includes("executeQuery: (from") && line.includes("SELECT"));
      expect(ours.length).toBeGreaterThanOrEqual(2 * cases);
      for (const line of ours)
        expect(skeleton(line.replace(/^.*?\(from [^)]*\) /, ""), "'`", true), line).not.toMatch(FOREIGN);
    } finally {
      await server.stop();
    }
  });

  it("addresses: a hostile name stays a name, and a hostile host is no host", () => {
    for (let seed = 0; seed < 10 * cases; seed++) {
      const random = randomStream(seed, "address");
      const [table, database] = [hostile(random), `d${hostile(random)}`];
      const text = `postgres://db.example/${encodeURIComponent(database)}?schema=s&table=${encodeURIComponent(table)}`;
      expect(parseAddress(text)).toMatchObject({ host: "db.example", database, schema: "s", table });
      let host: string | undefined;
      try {
        host = parseAddress(`postgres://${table}/x?table=t`).host;
      } catch {
        continue;
      }
      expect(host, table).toMatch(/^[\w.:-]*$/);
    }
  });
});
