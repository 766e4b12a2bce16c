// Rows on an edge: at the bounds of a study, between two centroids to the last bit, and too far from all for a distance.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type Matrix, matrix, normalStream, randomStream } from "@fedkm/core";
import { memorySource, sourceStatistics } from "@fedkm/core/sources";
import { engineSource, openSource, type SqlEngine } from "@fedkm/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { duckdb } from "../src/dialects.ts";
import { openDuckDB } from "../src/duckdb.ts";
import { duckdbTables, type EngineTables } from "./engines.ts";

let tables: EngineTables;
beforeAll(async () => {
  tables = await duckdbTables();
});
afterAll(() => tables.stop());

const unscaled = (cols: number) => ({ offset: Array(cols).fill(0), scale: Array(cols).fill(1) });

describe("rows at the bounds of a study", () => {
  const values = [-2, -1 - 2 ** -52, -1, -1 + 2 ** -53, 0, 3 - 2 ** -51, 3, 3 + 2 ** -51, 4];
  it.each(["stream", "aggregate"] as const)("count at both bounds and not a bit beyond, %s", async (read) => {
    const opened = await openSource(await tables.put(matrix(values.map((x) => [x, 0]))), { env: {}, read });
    const bounds = [
      { min: -1, max: 3 },
      { min: 0, max: 0 },
    ];
    const { source, outside } = await opened.bounded(bounds, unscaled(2));
    expect([source.rows, outside]).toEqual([5, [4, 0]]);
    const { counts, sums } = await sourceStatistics(source, matrix([[0, 0]]));
    const inside = values.filter((x) => x >= -1 && x <= 3);
    expect([counts[0], sums[0]]).toEqual([5, inside.reduce((sum, x) => sum + x, 0)]);
    await opened.close();
  });
});

describe("rows between two centroids", () => {
  /** Middles of pairs of centroids, moved by the last bits of a number: engines add squares in other orders. */
  function between(cols: number, k: number): { points: Matrix; centroids: Matrix } {
    const random = randomStream(5, "between");
    const normal = normalStream(random);
    const centroids = { data: Float64Array.from({ length: k * cols }, normal), rows: k, cols };
    const rows = 4000;
    const data = Float64Array.from({ length: rows * cols }, (_, i) => {
      const [a, b] = [0, 1].map((turn) => (Math.floor(i / cols) + turn) % k);
      const middle = (centroids.data[a * cols + (i % cols)] + centroids.data[b * cols + (i % cols)]) / 2;
      return middle * (1 + 2 ** -52 * Math.round(4 * normal()));
    });
    return { points: { data, rows, cols }, centroids };
  }

  /** DuckDB as if its vectors began at their ends: squares are added in another order, as engines may. */
  async function backwards(): Promise<SqlEngine> {
    const engine = await openDuckDB(undefined, 3600);
    const measure = (centroids: Matrix) => {
      const found = duckdb.measure?.(centroids);
      if (found === undefined) throw new Error("too few numbers for vectors");
      const turned = (as: string) => as.replaceAll(/list_distance\((\w+), (\[[^\]]*\])\)/g, TURNED);
      return { ...found, steps: found.steps.map((named) => named.map(({ name, as }) => ({ name, as: turned(as) }))) };
    };
    return { ...engine, dialect: { ...duckdb, measure } };
  }
  const TURNED = "list_distance(list_reverse($1), list_reverse($2))";

  it.each(["forwards", "backwards"])("have the kernel's labels where an engine adds squares %s", async (order) => {
    const { points, centroids } = between(12, 4);
    const expected = await sourceStatistics(memorySource(points), centroids);
    const address = await tables.put(points);
    const engine = order === "forwards" ? await openDuckDB(undefined, 3600) : await backwards();
    const relation = `(SELECT * FROM '${address.slice("duckdb:".length)}') AS t`;
    const source = await engineSource(engine, { name: "t", relation }, { read: "aggregate" });
    const found = await sourceStatistics(source, centroids);
    expect([found.counts, found.sums]).toEqual([expected.counts, expected.sums]);
    await source.close();
  });
});

describe("rows too far from all centroids for a distance", () => {
  it("have no label in a table, as rows with a missing number have none", async () => {
    const folder = mkdtempSync(join(tmpdir(), "fedkm-edges-"));
    const file = join(folder, "own.duckdb");
    const ask = async (statement: string) => {
      const instance = await DuckDBInstance.create(file);
      const connection = await instance.connect();
      const answer = await connection.runAndReadAll(statement);
      connection.closeSync();
      instance.closeSync();
      return answer.getRowObjects();
    };
    await ask(
      "CREATE TABLE t AS FROM (VALUES (0, 1e0, 1e0), (1, 9e0, 9e0), (2, NULL, 1e0), (3, 1e200, 1e0)) AS v(id, x, y)",
    );
    const source = await openSource(`duckdb:${file}?table=t`, {
      env: {},
      columns: ["x", "y"],
      missing: "drop",
      read: "aggregate",
    });
    const centroids = matrix([
      [0, 0],
      [10, 10],
    ]);
    await source.labelInto("labelled", [{ centroids }], unscaled(2));
    await source.close();
    expect(await ask("SELECT id, cluster FROM labelled ORDER BY id")).toEqual([
      { id: 0, cluster: 0 },
      { id: 1, cluster: 1 },
      { id: 2, cluster: null },
      { id: 3, cluster: null },
    ]);
    rmSync(folder, { recursive: true });
  });
});
