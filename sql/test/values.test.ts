// What can stand in a column, in every engine: no row is misplaced without a word.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { Matrix } from "@fedkm/core";
import { sourceStatistics } from "@fedkm/core/sources";
import { describeSqlSource, openSource } from "@fedkm/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startClickHouse, startPostgres } from "../../lab/src/engines/index.ts";
import { has } from "./engines.ts";

/** A server that makes a table from a SELECT. */
interface Server {
  make(table: string, select: string): Promise<void>;
  address(table: string): string;
  stop(): Promise<void>;
}

async function duckdbServer(): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-values-"));
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  return {
    async make(table, select) {
      await connection.run(`COPY (${select}) TO '${folder}/${table}.parquet'`);
    },
    address: (table) => `duckdb:${folder}/${table}.parquet`,
    async stop() {
      instance.closeSync();
      rmSync(folder, { recursive: true });
    },
  };
}

async function postgresServer(): Promise<Server> {
  const server = await startPostgres();
  return {
    async make(table, select) {
      await server.run(`CREATE TABLE ${table} AS ${select}`);
    },
    address: (table) => `${server.address}?table=${table}`,
    stop: () => server.stop(),
  };
}

async function clickhouseServer(): Promise<Server> {
  const server = await startClickHouse();
  return {
    async make(table, select) {
      await server.run(`CREATE TABLE ${table} ENGINE = Log AS ${select}`);
    },
    address: (table) => `${server.address}/${table}`,
    stop: () => server.stop(),
  };
}

/** Rows of two columns a and b; the second column is made of these values, in the engine's words. */
const select = (values: readonly string[]) =>
  values.map((value, i) => `SELECT ${i === 0 ? "1" : "2"} AS a, ${value} AS b`).join(" UNION ALL ");

const engines = [
  {
    name: "DuckDB",
    open: duckdbServer,
    words: {
      nan: "'nan'::DOUBLE",
      infinity: "'inf'::DOUBLE",
      nothing: "NULL::DOUBLE",
      double: "2.5::DOUBLE",
      decimal: ["0.1::DECIMAL(18,4)", "12345.6789::DECIMAL(18,4)"],
      integer: ["7::BIGINT", "-9::BIGINT"],
      date: "DATE '2026-01-01'",
      text: "'1.5'",
    },
  },
  {
    name: "PostgreSQL",
    open: postgresServer,
    words: {
      nan: "'NaN'::float8",
      infinity: "'Infinity'::float8",
      nothing: "NULL::float8",
      double: "2.5::float8",
      decimal: ["0.1::numeric(18,4)", "12345.6789::numeric(18,4)"],
      integer: ["7::bigint", "-9::bigint"],
      date: "DATE '2026-01-01'",
      text: "'1.5'::text",
    },
  },
  {
    name: "ClickHouse",
    open: clickhouseServer,
    words: {
      nan: "CAST(nan AS Nullable(Float64))",
      infinity: "CAST(inf AS Nullable(Float64))",
      nothing: "CAST(NULL AS Nullable(Float64))",
      double: "CAST(2.5 AS Nullable(Float64))",
      decimal: ["toDecimal64('0.1', 4)", "toDecimal64('12345.6789', 4)"],
      integer: ["toInt64(7)", "toInt64(-9)"],
      date: "toDate('2026-01-01')",
      text: "'1.5'",
    },
  },
];

const centroids: Matrix = { data: Float64Array.of(1, 2, 2, 3), rows: 2, cols: 2 };

for (const { name, open, words } of engines) {
  describe.skipIf(!has(name))(`${name}: what a column can hold`, () => {
    let server: Server;
    beforeAll(async () => {
      server = await open();
      await server.make("t_null", select([words.double, words.nothing, words.double]));
      await server.make("t_nan", select([words.double, words.nan, words.double]));
      await server.make("t_infinity", select([words.double, words.infinity]));
      await server.make("t_negative", select([words.double.replace("2.5", "-9"), words.nothing]));
      await server.make("t_nothing", select([words.nothing, words.nothing]));
      await server.make("t_decimal", select(words.decimal));
      await server.make("t_integer", select(words.integer));
      await server.make("t_date", select([words.date, words.date]));
      await server.make("t_text", select([words.text, words.text]));
      await server.make("t_named", "SELECT 1 AS x1, 20 AS x0, 300 AS best UNION ALL SELECT 2, 30, 500");
      await server.make("t_own", "SELECT 1 AS fedkm_x0");
    });
    afterAll(() => server?.stop());

    const source = (table: string, options = {}) => openSource(server.address(table), { env: {}, ...options });

    for (const table of ["t_null", "t_nan"]) {
      it(`${table} is refused with its column, or its rows are dropped and counted`, async () => {
        await expect(source(table)).rejects.toThrow(
          'column "b" must not have missing numbers, got NULL or NaN in 1 of 3',
        );
        for (const read of ["memory", "stream", "aggregate"] as const) {
          const found = await source(table, { missing: "drop", read });
          expect([found.rows, found.dropped]).toEqual([2, 1]);
          const { counts, sums } = await sourceStatistics(found, centroids);
          expect([...counts, ...sums]).toEqual([1, 1, 1, 2.5, 2, 2.5]);
          await found.close();
        }
      });
    }

    it("ranges are those of the finite numbers, and there is none where nothing is known", async () => {
      const columns = async (table: string) => {
        const described = await describeSqlSource(server.address(table), { env: {} });
        return described.columns.map(({ seen }) => [seen?.least, seen?.most, seen?.missing, seen?.infinite]);
      };
      for (const table of ["t_null", "t_nan"]) {
        expect(await columns(table)).toEqual([
          [1, 2, 0, 0],
          [2.5, 2.5, 1, 0],
        ]);
      }
      expect((await columns("t_infinity"))[1]).toEqual([2.5, 2.5, 0, 1]);
      expect((await columns("t_negative"))[1]).toEqual([-9, -9, 1, 0]);
      expect((await columns("t_nothing"))[1]).toEqual([Number.NaN, Number.NaN, 2, 0]);
    });

    it("infinity is refused", async () => {
      await expect(source("t_infinity", { missing: "drop" })).rejects.toThrow('column "b" must hold finite numbers');
    });

    it("decimals and integers are doubles", async () => {
      for (const read of ["memory", "stream", "aggregate"] as const) {
        const decimals = await source("t_decimal", { read });
        expect([...decimals.least, ...decimals.most]).toEqual([1, 0.1, 2, 12345.6789]);
        expect(Array.from((await sourceStatistics(decimals, centroids)).sums)).toEqual([1, 0.1, 2, 12345.6789]);
        await decimals.close();
        const integers = await source("t_integer", { read });
        expect([...integers.least, ...integers.most]).toEqual([1, -9, 2, 7]);
        await integers.close();
      }
    });

    it("dates and texts are refused with their type, unless they are left out", async () => {
      await expect(source("t_date")).rejects.toThrow(/column "b" must hold numbers, got the type date/i);
      await expect(source("t_text")).rejects.toThrow(
        /column "b" must hold numbers, got the type (varchar|text|string)/i,
      );
      const rest = await source("t_text", { exclude: ["b"] });
      expect([rest.columns, rest.rows]).toEqual([["a"], 2]);
      await expect(source("t_text", { columns: ["c"] })).rejects.toThrow('column "c" must exist, got "a", "b"');
      await rest.close();
    });

    it("columns that are called as names in queries once were keep their rows", async () => {
      for (const read of ["stream", "aggregate"] as const) {
        const opened = await source("t_named", { where: "x0 > 25", read });
        const scaled = opened.scaled({ offset: [1, 10, 100], scale: [1, 10, 100] });
        const { sums } = await sourceStatistics(scaled, { data: Float64Array.of(0, 0, 0), rows: 1, cols: 3 });
        expect([opened.columns, opened.rows, ...sums]).toEqual([["x1", "x0", "best"], 1, 1, 2, 4]);
        await opened.close();
      }
      await expect(source("t_own")).rejects.toThrow('column "fedkm_x0" must not begin with fedkm_');
    });

    it("a condition chooses rows, and cannot begin another statement", async () => {
      const found = await source("t_integer", { where: "b > 0" });
      expect(found.rows).toBe(1);
      await found.close();
      await expect(source("t_integer", { where: "1 = 1); SELECT (1" })).rejects.toThrow();
      await expect(source("t_integer", { query: "SELECT 1) AS x; SELECT 2 --" })).rejects.toThrow();
    });
  });
}
