// PMML by an evaluator that follows its specification: the labels of 10,000 rows are those of fedkm predict.

import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";
import { pmmlClusters } from "./pmmlEvaluator.ts";

const ROWS = 10_000;
const folder = temporaryFolder();
const random = randomStream(1, "pmml");
const normal = normalStream(randomStream(2, "pmml"));
/** A name that derived fields may want, too, and one with what XML must escape. */
const columns = ["fedkm_0", "a<b & 'c'", "colour", "flat"];
const colours = ["red", "o'brien", "<b>", "blue"];

/** An empty cell is missing. Of rows that come later, some have a value that no model knows, or that has no logarithm. */
function cells(isLater: boolean): string[] {
  const kind = Math.floor(3 * random());
  const own = [
    String(Math.exp(kind + 0.5 * normal())),
    String(10 * kind + 4 * normal()),
    colours[Math.floor(2 * random()) + Math.min(kind, 2)],
    "3",
  ];
  if (isLater && random() < 0.02) own[0] = String(-random());
  if (isLater && random() < 0.02) own[2] = "green";
  return own.map((cell) => (random() < 0.03 ? "" : cell));
}

function write(name: string, rows: readonly (readonly string[])[]): string {
  return folder.file(name, `${[columns, ...rows].map((row) => row.join(",")).join("\n")}\n`);
}

const places = [800, 500].map((count, i) =>
  write(
    `p${i}.csv`,
    Array.from({ length: count }, () => cells(false)),
  ),
);
const rows = Array.from({ length: ROWS }, () => cells(true));
const later = write("later.csv", rows);

async function text(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

test.each([
  ["standard", "drop"],
  ["standard", "mean"],
  ["rank", "drop"],
  ["rank", "mean"],
  ["log:fedkm_0", "drop"],
  ["log:fedkm_0", "mean"],
])("a model of --scale %s --missing %s labels rows by its PMML as fedkm predict does", async (scale, missing) => {
  const out = join(folder.path, `${scale.slice(0, 3)}-${missing}`);
  const asked = ["--k", "4", "--categories", "auto", "--scale", scale, "--missing", missing, "--no-labels"];
  await text("fit", ...places, ...asked, "--out", out);
  const model = join(out, "model.json");
  const clusterOf = pmmlClusters(await text("export", model, "--as", "pmml", "--place", "p0"));
  const { labels } = JSON.parse(await text("predict", later, "--model", model, "--place", "p0", "--json"));
  const found = rows.map((row) => clusterOf(Object.fromEntries(columns.map((name, c) => [name, row[c]]))));
  const wanted = labels.map((label: number | null) => (label === null ? undefined : String(label)));
  expect(rows.filter((_, r) => found[r] !== wanted[r])).toEqual([]);
  const without = labels.filter((label: number | null) => label === null).length;
  expect(without > 0).toBe(missing === "drop");
  expect(new Set(found).size).toBe(missing === "drop" ? 5 : 4);
});
