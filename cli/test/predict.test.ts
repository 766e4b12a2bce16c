// fedkm predict on several files and new devices, and labelled files that come and go with their runs.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readTable } from "@fedkm/files";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const at = (...names: string[]) => join(folder.path, ...names);
const [north, south] = ["north", "south"].map((name) => at("examples", `${name}.csv`));

async function said(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

const fit = (...args: string[]) =>
  said("fit", "--as-is", north, south, "--k", "3", "--exclude", "plant", "--out", at("out"), ...args);
const model = at("out", "model.json");

test("several files are labelled as in the fit, each into the folder", async () => {
  await fit();
  const text = await said("predict", "--model", model, north, south, "--out", at("later"));
  expect(text).toBe(`120 rows labelled: ${at("later", "north.csv")}\n90 rows labelled: ${at("later", "south.csv")}\n`);
  for (const name of ["north.csv", "south.csv"]) {
    expect(readFileSync(at("later", name), "utf8")).toBe(readFileSync(at("out", "labels", name), "utf8"));
  }
  const { stderr } = await outcome("predict", "--model", model, north, south);
  expect(stderr).toBe("fedkm: labels of 2 files need --out FOLDER\n");
});

test("a new device is labelled by the common means, and far rows are listed", async () => {
  const { clusters } = JSON.parse(readFileSync(model, "utf8"));
  const centres = clusters.map(({ mean }: { mean: number[] }) => mean.join(","));
  const rows = [...centres, "900,900,900,900"];
  const file = folder.file("west.csv", `height_cm,leaf_mm,flowering_day,stem_g\n${rows.join("\n")}\n`);
  const refused = await outcome("predict", "--model", model, file);
  expect(refused.stderr).toContain('got "west"; label new devices with --device common\n');
  const { labels, far } = JSON.parse(await said("predict", "--model", model, file, "--device", "common", "--json"));
  expect(labels.slice(0, 3)).toEqual([0, 1, 2]);
  expect(far).toEqual([4]);
  const [header, first] = (await said("predict", "--model", model, file, "--device", "common", "--distances")).split(
    "\n",
  );
  expect(header.endsWith(",cluster,distance,margin,far")).toBe(true);
  expect(first.endsWith(",0,0,1,0")).toBe(true);
});

test("--missing mean needs a model with means, and drop leaves rows without a label", async () => {
  const file = folder.file("gaps.csv", "height_cm,leaf_mm,flowering_day,stem_g\n30,14,,5\n30,14,143,5\n");
  const asked = ["predict", "--model", model, file, "--device", "common"];
  expect((await outcome(...asked, "--missing", "mean")).stderr).toMatch(
    /^fedkm: --missing mean must be used with a model/,
  );
  expect(JSON.parse(await said(...asked, "--missing", "drop", "--json")).labels).toEqual([null, 0]);
});

test("labels of an earlier run go with the next one, and files of others stay", async () => {
  await fit();
  writeFileSync(at("out", "labels", "notes.csv"), "mine\n");
  writeFileSync(at("out", "labels", "south.csv"), "mine too\n");
  await fit("--labels-as", "parquet");
  expect(readdirSync(at("out", "labels")).sort()).toEqual(["north.parquet", "notes.csv", "south.csv", "south.parquet"]);
  const { points } = await readTable(at("out", "labels", "north.parquet"), { columns: ["cluster"] });
  expect(points.rows).toBe(120);
  const printed = await fit("--labels-as", "none");
  expect(printed).not.toContain("labels");
  expect(readdirSync(at("out", "labels")).sort()).toEqual(["notes.csv", "south.csv"]);
  expect(existsSync(model)).toBe(true);
});

test("a file without a column of the model is refused without advice to choose columns, which predict cannot", async () => {
  const file = folder.file("short.csv", "height_cm,leaf_mm,stem_g\n30,14,5\n");
  const { code, stderr } = await outcome("predict", "--model", model, file, "--device", "common");
  expect(code).toBe(1);
  expect(stderr).toContain('column "flowering_day" must exist');
  expect(stderr).toContain("fit a model to columns that the file has");
  expect(stderr).not.toMatch(/--(columns|exclude|categories)/);
});
