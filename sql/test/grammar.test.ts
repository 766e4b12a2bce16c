// Trino and Spark SQL, which no test can start: the grammar of each takes every statement, and DuckDB runs what it can be
// told to take for them.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { memorySource, sourceStatistics } from "@fedkm/core/sources";
import { engineSource, type SqlDialect, type SqlEngine, spark, trino } from "@fedkm/sql";
import { SparkSQL, TrinoSQL } from "dt-sql-parser";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDuckDB } from "../src/duckdb.ts";
import { problem } from "./exact.ts";

/** What DuckDB lacks of an engine's functions, and its words for the rest. */
interface Other {
  readonly dialect: SqlDialect;
  readonly grammar: { validate(text: string): unknown[] };
  readonly macros: readonly string[];
  translated(statement: string): string;
}

const others: Other[] = [
  {
    dialect: trino,
    grammar: new TrinoSQL(),
    macros: [
      "nan() AS 'NaN'::DOUBLE",
      "is_nan(x) AS isnan(x)",
      "is_infinite(x) AS isinf(x)",
      "bitwise_and(a, b) AS a & b",
      "from_big_endian_64(x) AS x",
      "to_big_endian_64(x) AS x",
      "to_utf8(x) AS x",
      "xxhash64(x) AS hash(x)",
    ],
    translated: (statement) => statement,
  },
  {
    dialect: spark,
    grammar: new SparkSQL(),
    macros: ["xxhash64(x) AS hash(x)"],
    translated: (statement) =>
      statement
        .replace(/`((?:``|[^`])*)`/g, (_, name: string) => `"${name.replaceAll("``", "`").replaceAll('"', '""')}"`)
        .replaceAll(/(\de[+-]?\d+)D/g, "$1")
        .replaceAll("monotonically_increasing_id()", "row_number() OVER ()"),
  },
];

const folder = mkdtempSync(join(tmpdir(), "fedkm-grammar-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names that end early in one engine or another. */
const hostile = (c: number) => `a${c}"; \`--' ${c}`;

async function engineWith({ dialect, macros, translated, grammar }: Other, seed: number) {
  const { points, centroids } = problem(seed);
  const path = join(folder, `${dialect.name}${seed}.duckdb`);
  const instance = await DuckDBInstance.create(path);
  const connection = await instance.connect();
  for (const macro of macros) await connection.run(`CREATE MACRO ${macro}`);
  const names = Array.from({ length: points.cols }, (_, c) => `"${hostile(c).replaceAll('"', '""')}" DOUBLE`);
  await connection.run(`CREATE TABLE rows (${names.join(", ")})`);
  const appender = await connection.createAppender("rows");
  for (let r = 0; r < points.rows; r++) {
    for (let c = 0; c < points.cols; c++) appender.appendDouble(points.data[r * points.cols + c]);
    appender.endRow();
  }
  appender.closeSync();
  connection.closeSync();
  instance.closeSync();
  const duckdb = await openDuckDB(path, 60);
  const asked: string[] = [];
  const noted = (statement: string) => {
    asked.push(statement);
    expect(grammar.validate(statement), statement.slice(0, 2000)).toEqual([]);
    return translated(statement);
  };
  const engine: SqlEngine = {
    ...duckdb,
    dialect,
    columns: (relation) => duckdb.columns(translated(relation)),
    blocks: (statement, cols) => duckdb.blocks(noted(statement), cols),
    write: async (statements) => statements.forEach(noted),
  };
  return { engine, asked, points, centroids };
}

for (const other of others) {
  const { dialect } = other;
  describe(`${dialect.name}: statements that its grammar takes`, () => {
    let opened: Awaited<ReturnType<typeof engineWith>>;
    beforeAll(async () => {
      opened = await engineWith(other, 3);
    });
    afterAll(() => opened?.engine.close());

    it("gives the kernel's counts and sums, a sample and the rows near borders", async () => {
      const { engine, asked, points, centroids } = opened;
      const relation = dialect.quote("rows");
      const source = await engineSource(engine, { name: "rows", relation }, { read: "aggregate", where: "1 = 1" });
      const expected = await sourceStatistics(memorySource(points), centroids);
      const found = await sourceStatistics(source, centroids);
      expect(found.counts).toEqual(expected.counts);
      expect(found.sums).toEqual(expected.sums);
      expect((await source.sample(Math.ceil(points.rows / 3))).rows).toBeGreaterThan(0);
      expect((await source.nearBorders(centroids, 1e9, 1e9))?.rows).toBe(points.rows);
      const [offset, scale] = [source.columns.map(() => -1e-7), source.columns.map(() => 3)];
      await source.labelInto("labelled", [{ centroids }], { offset, scale });
      expect(asked).toHaveLength(5);
      expect(asked[4]).toContain(dialect.quote("labelled"));
    });

    it("has one cluster where there is one centroid, and leaves rows with NULL out", async () => {
      const { engine, points } = opened;
      const relation = `(SELECT ${dialect.quote(hostile(0))} AS a FROM ${dialect.quote("rows")} UNION ALL SELECT NULL) AS q`;
      const source = await engineSource(engine, { name: "rows", relation }, { read: "aggregate", missing: "drop" });
      const { counts } = await sourceStatistics(source, { data: Float64Array.of(0), rows: 1, cols: 1 });
      expect([source.dropped, counts[0]]).toEqual([1, points.rows]);
    });
  });
}

it("the grammars refuse what is none of theirs", () => {
  for (const { grammar } of others) expect(grammar.validate("SELECT x FROM FROM t")).not.toEqual([]);
});
