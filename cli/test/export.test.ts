// fedkm export: what every format holds, and what is refused. Engines run the exports in export.long.test.ts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SparkSQL, TrinoSQL } from "dt-sql-parser";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";
import { onnxruntime } from "./onnx.ts";

const ort = onnxruntime();
const folder = temporaryFolder();
folder.addExamples();
const trees = join(folder.path, "examples", "trees.csv");
const results = join(folder.path, "results");
const model = join(results, "model.json");
await outcome(
  "fit",
  "--as-is",
  trees,
  "--k",
  "2",
  "--categories",
  "auto",
  "--scale",
  "standard",
  "--names",
  "tall,short's",
  "--out",
  results,
);

async function exported(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await outcome("export", model, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test("SQL quotes names and texts, and writes every double with all its digits", async () => {
  const { scaling } = JSON.parse(readFileSync(model, "utf8"));
  const sql = await exported("--as", "sql", "--name", 'my "rows"');
  expect(sql).toContain('FROM "my ""rows""" AS fedkm_row');
  expect(sql).toContain(`CAST('${scaling.offset[0].toExponential()}' AS DOUBLE PRECISION)`);
  expect(sql).toContain("THEN 'short''s'");
  expect(await exported("--as", "sql:clickhouse")).toContain("['tall', 'short\\'s']");
});

test.each([
  ["trino", new TrinoSQL(), 'FROM "my ""rows`"'],
  ["spark", new SparkSQL(), 'FROM `my "rows```'],
])("the SELECT for %s is one that its grammar takes", async (dialect, grammar, from) => {
  const sql = await exported("--as", `sql:${dialect}`, "--name", 'my "rows`');
  expect(grammar.validate(sql)).toEqual([]);
  expect(sql).toContain(from);
});

test("JSON for scikit-learn has scaled centroids, and CSV has them in the units of the files", async () => {
  const { columns, devices, scaling } = JSON.parse(readFileSync(model, "utf8"));
  const json = JSON.parse(await exported("--as", "sklearn"));
  expect(json.columns).toEqual(columns);
  expect(json.categories).toEqual(["wood", "soil"]);
  const [[first]] = json.centroids;
  expect(first).toBe((devices[0].centroids[0][0] - scaling.offset[0]) / scaling.scale[0]);
  const [heading, ...lines] = (await exported("--as", "csv")).trimEnd().split("\n");
  expect(heading).toBe(`device,cluster,name,rows,${columns.join(",")}`);
  expect(lines[0]).toBe(["trees", 0, "tall", devices[0].sizes[0], ...devices[0].centroids[0]].join(","));
});

test("an ONNX graph names its inputs after the columns", async () => {
  const file = join(folder.path, "model.onnx");
  expect(await exported("--as", "onnx", "--out", file)).toBe(`wrote ${file}\n`);
  const text = readFileSync(file, "latin1");
  for (const name of ["height_m", "ring_mm", "wood", "soil", "cluster", "distance"]) expect(text).toContain(name);
});

test.skipIf(ort === undefined)(
  "an ONNX graph labels rows as predict does, with the distances of their centroids",
  async () => {
    const file = join(folder.path, "labels.onnx");
    await exported("--as", "onnx", "--out", file);
    const session = await ort.InferenceSession.create(readFileSync(file));
    const [heading, ...lines] = readFileSync(trees, "utf8").trimEnd().split("\n");
    const names = heading.split(",");
    const cells = lines.map((line) => line.split(","));
    const inputs = Object.fromEntries(
      session.inputNames.map((name: string) => {
        const column = cells.map((row) => row[names.indexOf(name)]);
        const isNumber = ["height_m", "ring_mm"].includes(name);
        const tensor = isNumber
          ? new ort.Tensor("float64", Float64Array.from(column, Number), [cells.length, 1])
          : new ort.Tensor("string", column, [cells.length, 1]);
        return [name, tensor];
      }),
    );
    const { cluster, distance } = await session.run(inputs);
    const { stdout } = await outcome("predict", "--model", model, trees, "--json");
    expect(Array.from(cluster.data as BigInt64Array, Number)).toEqual(JSON.parse(stdout).labels);
    expect(new Set(Array.from(cluster.data as BigInt64Array)).size).toBe(2);
    expect(Array.from(distance.data as Float64Array).every((d) => d >= 0)).toBe(true);
  },
);

test.each([
  [["--as", "onnx"], "--as onnx needs --out FILE (it is binary)"],
  [["--as", "csv", "--name", "t"], "--name must be used with --as sql, got --as csv"],
  [["--as", "sql", "--device", "nowhere"], '--device must be common or a device of the model (trees), got "nowhere"'],
  [["--as", "csv", "--device", "common"], '--device must be a device of the model with --as csv, got "common"'],
])("%j is refused in one line", async (args, line) => {
  const { code, stdout, stderr } = await outcome("export", model, ...args);
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: `fedkm: ${line}\n` });
});

test("a column of one value has one rank in SQL", async () => {
  const data = folder.file("flat.csv", "flat,y\n3,1\n3,2\n3,8\n3,9\n");
  const results = join(folder.path, "flat");
  await outcome("fit", "--as-is", data, "--k", "2", "--scale", "rank", "--out", results);
  const { code, stdout } = await outcome("export", join(results, "model.json"), "--as", "sql:duckdb");
  expect(code).toBe(0);
  expect(stdout).toContain("WHEN fedkm_c0 >= 3e+0 THEN 5e-1 ELSE 5e-1 END");
});
