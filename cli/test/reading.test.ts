// Which files are read, as whose rows, and how far the reading is.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expandPatterns } from "@fedkm/files";
import { readInput } from "@fedkm/tables";
import { expect, test } from "vitest";
import { progressWatch } from "../src/progress.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]) => join(folder.path, ...names);
const bin = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));
const read = (patterns: readonly string[], options = {}) => readInput({ files: expandPatterns(patterns), ...options });

test("a set in a quoted pattern names files, and a folder names all that can be read in it", () => {
  mkdirSync(at("parts", "deeper"), { recursive: true });
  for (const name of ["p0.csv", "p1.csv", "p3.csv", "notes.md", "deeper/p2.json"])
    writeFileSync(at("parts", name), "a\n1\n");
  const names = (pattern: string) => expandPatterns([at(pattern)]).map((file) => file.slice(at("parts").length + 1));
  expect(names("parts/p[0-2].csv")).toEqual(["p0.csv", "p1.csv"]);
  expect(names("parts/p[!0].csv")).toEqual(["p1.csv", "p3.csv"]);
  expect(names("parts")).toEqual(["deeper/p2.json", "p0.csv", "p1.csv", "p3.csv"]);
  mkdirSync(at("nothing"));
  expect(() => names("nothing")).toThrow(/nothing must hold files of rows, got none by their endings; name them/);
});

test("files in a folder such as plant=north are one device", async () => {
  for (const [place, part, rows] of [
    ["plant=north", "part-0", "1,2\n3,4\n"],
    ["plant=north", "part-1", "5,6\n"],
    ["plant=far%20south", "part-0", "7,8\n"],
  ]) {
    mkdirSync(at("hive", place), { recursive: true });
    writeFileSync(at("hive", place, `${part}.csv`), `a,b\n${rows}`);
  }
  const { devices } = await read([at("hive")]);
  expect(devices.map(({ name, points }) => [name, Array.from(points.data)])).toEqual([
    ["far south", [7, 8]],
    ["north", [1, 2, 3, 4, 5, 6]],
  ]);
});

test("rows that name no device are refused, and dropped where rows with missing cells are", async () => {
  const file = folder.file("devices.csv", "site,a\nx,1\n,2\ny,3\n");
  await expect(read([file], { deviceColumn: "site" })).rejects.toThrow(
    /line 3, column "site" must name a device, got an empty cell; fill the cell or remove the line, or drop their rows/,
  );
  const { devices, dropped, files } = await read([file], { deviceColumn: "site", missing: "drop" });
  expect(devices.map(({ name, points }) => [name, Array.from(points.data)])).toEqual([
    ["x", [1]],
    ["y", [3]],
  ]);
  expect([dropped, files[0].deviceOf(1)]).toEqual([1, -1]);
});

test("a sample has as many rows as asked for, of all devices, and always the same", async () => {
  const files = ["one", "two"].map((name, f) =>
    folder.file(`${name}.csv`, `a,b\n${Array.from({ length: 500 }, (_, i) => `${f},${i}\n`).join("")}`),
  );
  const first = await read(files, { sample: 100, seed: 3 });
  const again = await read(files, { sample: 100, seed: 3 });
  const rows = first.devices.map(({ points }) => points.rows);
  expect(rows[0] + rows[1]).toBe(100);
  expect(Math.min(...rows)).toBeGreaterThan(25);
  expect(first.devices).toEqual(again.devices);
  expect(first.warnings).toContain("this rests on a sample of 100 rows; the others have no label");
  const labelled = first.files[0];
  expect(Array.from({ length: 500 }, (_, r) => labelled.deviceOf(r)).filter((device) => device === 0)).toHaveLength(
    rows[0],
  );
});

test.each([
  ["a,b\n1,2\n3,4\n", "csv"],
  ['{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n', "jsonl"],
  ["[[1, 2], [3, 4]]", "json"],
])("%j is read from the standard input", (input, ending) => {
  execFileSync(process.execPath, [bin, "fit", "--as-is", "-", "--k", "1", "--out", at(ending)], { input });
  const model = JSON.parse(readFileSync(at(ending, "model.json"), "utf8"));
  expect(model.devices[0]).toMatchObject({ name: "stdin", rows: 2, centroids: [[2, 3]] });
});

test("reading says its share and, after a while, the seconds that are left", () => {
  const files = [folder.file("small.csv", "x".repeat(100)), folder.file("large.csv", "x".repeat(300))];
  const said: string[] = [];
  let time = 0;
  const show = (text: string) => void said.push(text);
  const watch = progressWatch({ show, announce: show, erase: () => {} }, files, () => time);
  watch({ step: "read", name: files[0] });
  watch({ step: "read", name: files[0], bytes: 50 });
  time = 4000;
  watch({ step: "read", name: files[1], bytes: 100 });
  expect(said).toEqual([
    "fedkm  reading small.csv",
    "fedkm  reading small.csv  12 %",
    "fedkm  reading large.csv  50 %, 4 s left",
  ]);
});

test("every kind of file goes to a report with one option", async () => {
  const tables = fileURLToPath(new URL("../../files/test/fixtures/tables", import.meta.url));
  for (const [name, ...options] of [
    ["plain.npy"],
    ["fortran.npy"],
    ["one.npz"],
    ["two.npz", "--sheet", "rows"],
    ["arrays.json"],
    ["objects.json", "--columns", "height_m,ring_mm"],
    ["rows.csv.zip", "--columns", "height_m,ring_mm"],
    ["libreoffice.xlsx", "--columns", "height_m,twice"],
    ["rows.csv", "--exclude", "wood,wet,felled"],
    ["records.npy"],
    ["big-endian.npy"],
  ]) {
    const { code, stderr } = await outcome(
      "fit",
      "--as-is",
      join(tables, name),
      "--k",
      "2",
      ...options,
      "--out",
      at("report"),
    );
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: "" });
    const { devices } = JSON.parse(readFileSync(at("report", "model.json"), "utf8"));
    expect([devices[0].rows, [...devices[0].sizes].sort()]).toEqual([8, [4, 4]]);
    expect(readFileSync(at("report", "report.html"), "utf8")).toContain("</html>");
  }
});
