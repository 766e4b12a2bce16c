// The report of fedkm fit: what clusters are, where devices differ, how sure it is, and that it stays small.

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { parseHTML } from "linkedom";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const normal = normalStream(randomStream(1, "report"));
const random = randomStream(2, "report");
const results = join(folder.path, "results");

function write(name: string, columns: readonly string[], rows: readonly (readonly (number | string)[])[]): string {
  return folder.file(name, `${[columns, ...rows].map((row) => row.join(",")).join("\n")}\n`);
}

async function report(files: readonly string[], ...args: string[]): Promise<Document> {
  const { code, stderr } = await outcome("fit", "--as-is", ...files, "--out", results, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return parseHTML(readFileSync(join(results, "report.html"), "utf8")).document;
}

/** The file behind a link. */
function downloaded(page: Document, name: string): string[][] {
  const address = page.querySelector(`a[download="${name}"]`)?.getAttribute("href") ?? "";
  const text = decodeURIComponent(address.slice(address.indexOf(",") + 1));
  return text
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));
}

const textOf = (page: Document, selector: string) => page.querySelector(selector)?.textContent ?? "";

/** Two clusters that differ much in `far`, a little in `near` and not at all in `same`. */
function twoKinds(count: number): number[][] {
  return Array.from({ length: count }, (_, r) => [
    100 + normal(),
    (r % 2) * 3 + normal(),
    (r % 2) * 40 + normal(),
    1e9 + r,
  ]);
}

test("profiles are the means and deviations of the rows, and the most telling column comes first", async () => {
  const rows = twoKinds(200);
  const file = write("kinds.csv", ["same", "near", "far", "id"], rows);
  const page = await report([file], "--k", "2", "--exclude", "id");
  const [, ...lines] = downloaded(page, "profiles.csv");
  expect([...new Set(lines.map(([column]) => column))]).toEqual(["far", "near", "same"]);
  const high = rows.filter(([, , far]) => far > 20).map(([, near]) => near);
  const mean = high.reduce((sum, x) => sum + x, 0) / high.length;
  const deviation = Math.sqrt(high.reduce((sum, x) => sum + (x - mean) ** 2, 0) / high.length);
  const found = lines.filter(([column, , cluster]) => column === "near" && cluster !== "all rows");
  const own = found.map((line) => line.slice(4).map(Number)).find(([near]) => near > 1.5) ?? [];
  expect(own[0]).toBeCloseTo(mean, 9);
  expect(own[1]).toBeCloseTo(mean - deviation, 9);
  expect(own[2]).toBeCloseTo(mean + deviation, 9);
  expect(textOf(page, ".answer")).toMatch(/^You asked for 2 clusters of 200 rows by 3 columns\. /);
  expect(textOf(page, ".answer")).toContain("differ most in far and near.");
  expect(Array.from(page.querySelectorAll(".card"), (card) => card.textContent).join()).toMatch(/much higher far/);
});

test("a column that is one value in a cluster has no deviation there, whatever rounding leaves", async () => {
  const rows = Array.from({ length: 210 }, (_, r) => [r % 3 === 0 ? -1 : 2.7 + 0.1 * normal(), normal() + 5 * (r % 3)]);
  const page = await report([write("codes.csv", ["rating", "x"], rows)], "--k", "3", "--scale", "standard");
  const figures = Array.from(page.querySelectorAll("td"), (cell) => cell.textContent ?? "").filter((text) =>
    /±/.test(text),
  );
  expect(figures.filter((text) => /± \S*e-\d|± 0$/.test(text))).toEqual([expect.stringMatching(/± 0$/)]);
});

test("numbers of many digits are written with all of them before the point", async () => {
  const page = await report([write("ids.csv", ["same", "near", "far", "id"], twoKinds(60))], "--k", "2");
  expect(textOf(page, ".heat")).toMatch(/1,000,000,0\d\d/);
});

test("clusters that are there are found again, and slices of one heap are not all", async () => {
  const there = await report(
    [write("there.csv", ["same", "near", "far", "id"], twoKinds(200))],
    "--k",
    "2",
    "--exclude",
    "id",
  );
  expect(textOf(there, ".answer")).toContain("They are clearly apart");
  expect(textOf(there, ".answer")).toContain("find all of them again");
  const own = normalStream(randomStream(20261119, "heap"));
  const heap = Array.from({ length: 400 }, () => [own(), own(), own()]);
  const slices = await report([write("heap.csv", ["x", "y", "z"], heap)], "--k", "6");
  const jaccards = downloaded(slices, "how-sure.csv")
    .slice(1)
    .map((line) => Number(line[3]));
  expect(Math.min(...jaccards)).toBeLessThan(0.85);
  expect(textOf(slices, ".answer")).toMatch(/They are not shown to be apart: .*(not found again|only in part)/);
});

test("one cluster is told apart from nothing", async () => {
  const page = await report([write("one.csv", ["same", "near", "far", "id"], twoKinds(60))], "--k", "1");
  expect(textOf(page, ".card")).toContain("It is all rows.");
  expect(page.body.textContent).not.toMatch(/telling|hardly apart|lower than in all rows|Explained is/);
});

test.each([2, 3, 4, 5])("evenly spread rows of three devices are not said to be %i clusters", async (k) => {
  const random = randomStream(20261118, k);
  const files = ["a", "b", "c"].map((name) =>
    write(
      `even-${name}.csv`,
      ["x", "y"],
      Array.from({ length: 400 }, () => [random(), random()]),
    ),
  );
  const page = await report(files, "--k", String(k));
  expect(textOf(page, ".answer")).toContain("They are not shown to be apart");
});

test("the place whose cluster lies elsewhere is named with the column and both means", async () => {
  const files = ["a", "b", "c"].map((name, i) =>
    write(
      `${name}.csv`,
      ["x", "y"],
      Array.from({ length: 150 }, (_, r) => [(r % 2) * 20 + normal(), (r % 2) * (i === 2 ? 5 : 0) + normal()]),
    ),
  );
  const page = await report(files, "--k", "2");
  const devices = Array.from(page.querySelectorAll("#devices ~ .wide tbody tr"), (row) => row.textContent ?? "");
  expect(devices[2]).toMatch(/^c150.*y [45]\.\d+ \(common /);
  expect(textOf(page, "#sure ~ p")).toContain("without each of 3 devices");
});

test("a report of very many devices stays small and says how many it leaves out", async () => {
  const rows = Array.from({ length: 3000 }, (_, r) => [
    `p${r % 1000}`,
    20 * Math.floor(3 * random()) + normal(),
    normal(),
  ]);
  const file = write("many.csv", ["place", "x", "y"], rows);
  const page = await report([file], "--k", "3", "--device-column", "place", "--graph", "ring", "--method", "pooled");
  expect(page.body.textContent).toContain("The other 940 are in model.json.");
  expect(statSync(join(results, "report.html")).size).toBeLessThan(1_000_000);
});

test("--names names clusters in the model, the report and the terminal; a wrong number of names is refused", async () => {
  const file = write("named.csv", ["same", "near", "far", "id"], twoKinds(60));
  const page = await report([file], "--k", "2", "--exclude", "id", "--names", "low,<high>");
  expect(Array.from(page.querySelectorAll(".card h2"), (own) => own.textContent)).toEqual(["0 low", "1 <high>"]);
  const { clusters } = JSON.parse(readFileSync(join(results, "model.json"), "utf8"));
  expect(clusters.map(({ name }: { name: string }) => name)).toEqual(["low", "<high>"]);
  const refused = await outcome("fit", "--as-is", file, "--k", "2", "--names", "low");
  expect(refused.stderr).toBe("fedkm: --names must have one name for each of the 2 clusters, got 1\n");
});

test("a cluster of almost all rows, beside a few that are far from all others, says what little sets it apart", async () => {
  const rows = Array.from({ length: 200 }, (_, r) => [1000 + 100 * normal() + (r < 6 ? 40_000 : 0), normal()]);
  const page = await report([write("tails.csv", ["spent", "other"], rows)], "--k", "2", "--scale", "standard");
  const [most, few] = Array.from(page.querySelectorAll(".card"), (card) => card.textContent?.replace(/\s+/g, " "));
  expect(most).toMatch(/194 rows, 97 % of all a little lower spent \d+\.?\d* against 2,?\d+ in all rows/);
  expect(few).toMatch(/6 rows, 3 % of all much higher spent 4\d,\d{3} against/);
});

test("every place has a picture of its rows, and all have the same axes", async () => {
  const files = ["first", "second", "third"].map((name) => write(`${name}.csv`, ["a", "b", "c", "d"], twoKinds(30)));
  const page = await report(files, "--k", "2", "--exclude", "d");
  const panels = Array.from(page.querySelectorAll("figure.multiples svg"));
  expect(panels.map((panel) => panel.getAttribute("aria-label")?.split(" as ")[0])).toEqual(
    ["first", "second", "third"].map((name) => `Rows of ${name}, 30 rows`),
  );
  const ticks = panels.map((panel) => panel.querySelector("[aria-label='y-axis tick label']")?.textContent);
  expect(new Set(ticks).size).toBe(1);
});

test.each([
  ["ring", 6],
  ["complete", 3],
])("shared clusters on a %s of %d devices are written although no device can be left out", async (graph, devices) => {
  const files = Array.from({ length: devices }, (_, i) =>
    folder.file(
      `shared${i}.csv`,
      `x,y\n${Array.from({ length: 40 }, (__, r) => `${8 * (r % 3) + normal()},${5 * (r % 2) + normal()}\n`).join("")}`,
    ),
  );
  const out = join(folder.path, `shared-${graph}`);
  const { code, stderr } = await outcome(
    "fit",
    "--as-is",
    ...files,
    "--k",
    "3",
    "--method",
    "shared",
    "--graph",
    graph,
    "--out",
    out,
  );
  expect([code, stderr]).toEqual([0, ""]);
  const report = readFileSync(join(out, "report.html"), "utf8");
  expect(report).toContain("Fewer devices were not examined, because graph must give every device 2 links");
});
