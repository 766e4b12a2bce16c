// Exports run by the programs that they are for: labels of 100,000 rows with missing cells and categories are those of
// fedkm predict, row by row.

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { normalStream, randomStream } from "@fedkm/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type ClickHouseForTests,
  missingEngines,
  type PostgresForTests,
  startClickHouse,
  startPostgres,
} from "../../lab/src/engines/index.ts";
import { outcome, temporaryFolder } from "./folder.ts";
import { onnxruntime } from "./onnx.ts";

const ROWS = 100_000;
const folder = temporaryFolder();
const random = randomStream(1, "exports");
const normal = normalStream(randomStream(2, "exports"));
const columns = ['si"ze', "y", "colour", "flag"];
const colours = ["red", "o'brien", 'say "hi"', "back\\slash"];

/** Cells as text; an empty one is missing. */
function cells(): string[] {
  const kind = Math.floor(3 * random());
  const own = [
    String(Math.exp(kind + 0.5 * normal())),
    String(10 * kind + 4 * normal()),
    colours[Math.floor(2 * random()) + Math.min(kind, 2)],
    random() < 0.5 ? "true" : "false",
  ];
  return own.map((cell) => (random() < 0.03 ? "" : cell));
}

function write(name: string, rows: readonly (readonly string[])[]): string {
  const quoted = (cell: string) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  return folder.file(name, `${[columns, ...rows].map((row) => row.map(quoted).join(",")).join("\n")}\n`);
}

const rows = Array.from({ length: ROWS }, cells);
const later = write("later.csv", rows);
const devices = [800, 500].map((count, i) => write(`p${i}.csv`, Array.from({ length: count }, cells)));

async function text(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const missing = missingEngines();
for (const line of missing) console.warn(`skipped, not installed: ${line}`);
const has = (engine: string) => !missing.some((line) => line.startsWith(engine));

const ort = onnxruntime();
const hasPython = spawnSync("/usr/bin/python3", ["-c", "import pandas, sklearn"]).status === 0;

let postgres: PostgresForTests | undefined;
let clickhouse: ClickHouseForTests | undefined;

/** The rows as tables of the servers, with columns as people would have them and the number of each row. */
beforeAll(async () => {
  const columnOf = (c: number) => rows.map((row) => (row[c] === "" ? null : row[c]));
  if (has("PostgreSQL")) {
    postgres = await startPostgres();
    await postgres.run(
      `create table "the rows" as select * from
        unnest($1::float8[], $2::float8[], $3::text[], $4::boolean[]) with ordinality as t("si""ze", y, colour, flag, id)`,
      columns.map((_, c) => columnOf(c)),
    );
  }
  if (has("ClickHouse")) {
    clickhouse = await startClickHouse();
    const types = [
      '`si"ze` Nullable(Float64)',
      "y Nullable(Float64)",
      "colour Nullable(String)",
      "flag Nullable(String)",
    ];
    await clickhouse.run(`create table \`the rows\` (${types.join(", ")}, id UInt32) engine = Memory`);
    const cell = (text: string) => (text === "" ? "\\N" : text.replaceAll("\\", "\\\\"));
    const lines = rows.map((row, id) => `${row.map(cell).join("\t")}\t${id}\n`);
    await clickhouse.run(`insert into \`the rows\` format TabSeparated\n${lines.join("")}`);
  }
});
afterAll(async () => {
  await Promise.all([postgres?.stop(), clickhouse?.stop()]);
});

function same(labels: readonly (number | null)[], expected: readonly (number | null)[]): void {
  expect(labels).toHaveLength(expected.length);
  expect(labels.filter((label, row) => label !== expected[row]).length).toBe(0);
}

describe.each([
  ["standard", "drop"],
  ["rank", "mean"],
  ['log:"si""ze"', "mean"],
])("a model of --scale %s and --missing %s", (scale, missing) => {
  const results = join(folder.path, `${scale.slice(0, 3)}-${missing}`);
  const model = join(results, "model.json");
  const asked = ["--k", "4", "--categories", "auto", "--scale", scale, "--missing", missing];
  let labels: (number | null)[] = [];
  beforeAll(async () => {
    await text("fit", "--as-is", ...devices, ...asked, "--names", "a,b,c,it's", "--out", results);
    labels = JSON.parse(await text("predict", "--model", model, "--device", "p1", later, "--json")).labels;
  });
  const exported = (...args: string[]) => text("export", model, "--device", "p1", ...args);

  const inOrder = async (dialect: string) => {
    const sql = await exported("--as", `sql:${dialect}`, "--name", "the rows");
    return `select cluster from (${sql.replace(/;\s*$/, "")}) as labelled order by id`;
  };

  test("labels in DuckDB", async () => {
    const connection = await (await DuckDBInstance.create(":memory:")).connect();
    const read = `read_csv('${later}', all_varchar = true, parallel = false)`;
    await connection.run(`create table "the rows" as select *, row_number() over () as id from ${read}`);
    const answer = await connection.runAndReadAll(await inOrder("duckdb"));
    same(
      answer.getRowObjects().map(({ cluster }) => cluster as number | null),
      labels,
    );
  });

  test.skipIf(!has("PostgreSQL"))("labels in PostgreSQL", async () => {
    const answer = await postgres?.run(await inOrder("postgres"));
    same(answer?.rows.map(({ cluster }) => cluster as number | null) ?? [], labels);
  });

  test.skipIf(!has("ClickHouse"))("labels in ClickHouse", async () => {
    const answer = (await clickhouse?.run(`${await inOrder("clickhouse")} format TabSeparated`)) ?? "";
    same(
      answer
        .trimEnd()
        .split("\n")
        .map((label) => (label === "\\N" ? null : Number(label))),
      labels,
    );
  });

  test.skipIf(ort === undefined)("labels in onnxruntime", async () => {
    const file = join(results, "model.onnx");
    await exported("--as", "onnx", "--out", file);
    const session = await ort.InferenceSession.create(readFileSync(file));
    const shape = [ROWS, 1];
    const numbers = (c: number) => Float64Array.from(rows, (row) => (row[c] === "" ? Number.NaN : Number(row[c])));
    const inputs = Object.fromEntries(
      columns.map((name, c) => [
        name,
        c < 2
          ? new ort.Tensor("float64", numbers(c), shape)
          : new ort.Tensor(
              "string",
              rows.map((row) => row[c]),
              shape,
            ),
      ]),
    );
    const { cluster } = await session.run(inputs);
    same(
      Array.from(cluster.data as BigInt64Array, (label) => (label < 0n ? null : Number(label))),
      labels,
    );
  });

  test.skipIf(!hasPython)("labels in scikit-learn", async () => {
    const file = join(results, "sklearn.json");
    await exported("--as", "sklearn", "--out", file);
    const program = `
import json, sys, numpy as np, pandas as pd
from sklearn.metrics import pairwise_distances_argmin
m = json.load(open(sys.argv[1]))
rows = pd.read_csv(sys.argv[2], dtype={name: str for name in m["categories"]})
known = rows[m["inputs"]].copy()
X = pd.get_dummies(known, columns=m["categories"], prefix_sep="=").reindex(columns=m["columns"]).astype(float)
for name in m["categories"]: X.loc[known[name].isna(), [c for c in m["columns"] if c.startswith(name + "=")]] = np.nan
if m["fill"]: X = X.fillna(m["fill"])
for name in m["log"]: X[name] = np.log(X[name])
for name, (knots, shares) in m["rank"].items(): X[name] = np.interp(X[name], knots, shares)
whole = X.notna().all(axis=1)
labels = pairwise_distances_argmin((X[whole] - m["offset"]) / m["scale"], np.array(m["centroids"]))
found = np.full(len(X), -1); found[whole] = labels
print(json.dumps(found.tolist()))
`;
    const { status, stdout, stderr } = spawnSync("/usr/bin/python3", ["-c", program, file, later], {
      encoding: "utf8",
      maxBuffer: 2 ** 28,
    });
    expect(status, stderr).toBe(0);
    same(
      JSON.parse(stdout).map((label: number) => (label < 0 ? null : label)),
      labels,
    );
  });
});
