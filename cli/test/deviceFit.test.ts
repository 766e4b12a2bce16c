// What fedkm fit says of several devices: the means of rows, how far devices differ, and when numbers mean nothing.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { normalStream, paperData, randomStream, toRows } from "@fedkm/core";
import type { ClusterModel } from "@fedkm/tables";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const normal = normalStream(randomStream(1, "devices"));

type Row = readonly number[];

/** Round clusters of deviation 1, one row after the other. */
function rows(count: number, centres: readonly Row[]): Row[] {
  return Array.from({ length: count }, (_, r) => centres[r % centres.length].map((x) => x + normal()));
}

function write(name: string, own: readonly Row[]): string {
  const header = own[0].map((_, c) => `x${c}`).join(",");
  return folder.file(`${name}.csv`, `${header}\n${own.map((row) => row.join(",")).join("\n")}\n`);
}

interface Summary {
  readonly clusters: ClusterModel[];
  readonly numbersAgree: boolean;
  readonly warnings: string[];
}

const results = join(folder.path, "results");

async function fit(files: readonly string[], ...args: string[]): Promise<Summary> {
  const { code, stdout, stderr } = await outcome("fit", "--as-is", ...files, "--out", results, "--json", ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout);
}

const report = () => readFileSync(join(results, "report.html"), "utf8");
const SAME = "Cluster numbers mean the same on every device";

test("twenty odd rows do not move the means of a thousand, and their device is named", async () => {
  const big = rows(1000, [[10], [30]]);
  const files = [write("big", big), write("small", rows(20, [[14], [34]]))];
  const { clusters, numbersAgree, warnings } = await fit(files, "--k", "2");
  const low = clusters.findIndex(({ mean }) => (mean?.[0] ?? 0) < 20);
  for (const { difference, farthest, farthestDifference } of clusters) {
    expect(farthest).toBe("small");
    expect(farthestDifference).toBeGreaterThan(3);
    expect(difference).toBeLessThan(1);
  }
  expect(numbersAgree).toBe(false);
  expect(warnings).toEqual([expect.stringMatching(/^the table does not describe small: the means of the rows are/)]);
  const all = files.flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n").slice(1).map(Number));
  const lower = all.filter((x) => x < 20);
  expect(clusters[low].mean?.[0]).toBeCloseTo(lower.reduce((sum, x) => sum + x, 0) / lower.length, 9);
  const { stdout } = await outcome("fit", "--as-is", ...files, "--k", "2", "--out", results);
  expect(stdout).toMatch(/cluster {3,}rows {3,}x0 {3,}apart {3,}farthest\n/);
  expect(stdout).toMatch(/ 10\.\d\d {3,}0\.\d\d {3,}small [345]\.\d\d\n/);
});

const corners = [
  [0, 0],
  [12, 0],
  [0, 12],
];
const shifted = (by: number) => corners.map(([x, y]) => [x + by, y + by]);

test.each([
  ["the same everywhere", 0, 0],
  ["half a spread apart", 0.5, 0],
  ["three spreads apart", 3, 4],
])("devices %s are told from devices that one table does not describe", async (_, shift, differing) => {
  const files = [-1, 1, -1, 1].map((sign, i) => write(`p${i}`, rows(300, shifted((sign * shift) / 2))));
  const { warnings, numbersAgree } = await fit(files, "--k", "3");
  const nobody = /^devices differ so much that one table describes nobody: at p0, p1, p2, p3 the means/;
  expect(warnings).toEqual(differing === 0 ? [] : [expect.stringMatching(nobody)]);
  expect(numbersAgree).toBe(differing === 0);
  expect(report().includes(SAME)).toBe(differing === 0);
});

test.each(["0.01", "1", "10"])("devices that lack clusters are described, with alpha %s", async (alpha) => {
  const files = corners.map((_, i) =>
    write(
      `lack${i}`,
      rows(
        200,
        corners.filter((__, c) => c !== i),
      ),
    ),
  );
  const only = write("only", rows(200, [corners[1]]));
  const { warnings, numbersAgree, clusters } = await fit([...files, only], "--k", "3", "--alpha", alpha);
  expect({ warnings, numbersAgree }).toEqual({ warnings: [], numbersAgree: true });
  expect(clusters.map(({ rows: own }) => own).sort()).toEqual([200, 200, 400]);
});

test.each([
  ["--alpha", "0"],
  ["--method", "local"],
  ["--graph", "er:0"],
])("%s %s: nobody says that numbers mean the same everywhere", async (...alone) => {
  const files = ["a", "b"].map((name) => write(name, rows(100, corners)));
  const { warnings, numbersAgree } = await fit(files, "--k", "3", ...alone);
  expect(warnings[0]).toMatch(/^each device stays alone: cluster 0 of one device need not be cluster 0 of another/);
  expect(numbersAgree).toBe(false);
  expect(report()).not.toContain(SAME);
  expect(report()).toContain("each device stays alone");
  const { stdout } = await outcome("fit", "--as-is", ...files, "--k", "3", "--out", results, ...alone);
  expect(stdout).toContain("warning: each device stays alone");
});

test("the terminal says too that devices stay alone", async () => {
  const file = write(
    "sites",
    Array.from({ length: 40 }, (_, r) => [r % 2, (r % 4) * 10 + normal()]),
  );
  const { stdout } = await outcome(
    "fit",
    "--as-is",
    file,
    "--k",
    "2",
    "--alpha",
    "0",
    "--device-column",
    "x0",
    "--out",
    results,
  );
  expect(stdout).toContain("warning: each device stays alone: cluster 0 of one device need not be cluster 0");
});

test("numbers are the same on all devices, whichever comes first and however small it is", async () => {
  const tiny = write("tiny", rows(1, [[12, 0]]));
  const { clusters, numbersAgree } = await fit(
    [tiny, ...["a", "b"].map((n) => write(n, rows(300, corners)))],
    "--k",
    "3",
  );
  expect(numbersAgree).toBe(true);
  const { devices } = JSON.parse(readFileSync(join(results, "model.json"), "utf8"));
  for (const { centroids } of devices as { centroids: number[][] }[]) {
    centroids.forEach((centroid, c) => {
      const distance = Math.hypot(...centroid.map((x, at) => x - (clusters[c].mean?.[at] ?? 0)));
      expect(distance).toBeLessThan(1);
    });
  }
});

test("a cluster of one row is named with the place of the row", async () => {
  const own = rows(60, corners);
  const files = [write("clean", rows(60, corners)), write("odd", [...own.slice(0, 16), [500, 500], ...own.slice(16)])];
  const { warnings, clusters } = await fit(files, "--k", "4");
  expect(clusters[3]).toEqual({ ...clusters[3], rows: 1, spread: null, difference: null, farthest: null });
  expect(warnings).toEqual([
    `cluster 3 has a single row, row 17 of ${files[1]}: an outlier takes a whole cluster; look at it, and if it is a mistake, fit again without it`,
  ]);
});

test("columns that rise and fall together are named, round clusters on a line are not", async () => {
  const lengths = Array.from({ length: 200 }, () => 50 + 10 * normal());
  const same = write(
    "same",
    lengths.map((x) => [x, 2 * x + 0.3 * normal(), x / 2 + 0.3 * normal()]),
  );
  for (const scale of ["none", "standard"]) {
    expect((await fit([same], "--k", "2", "--scale", scale)).warnings).toEqual([
      expect.stringMatching(/^(99|100)\.\d % of the variance lies along one direction, in which "x0", "x1", "x2" rise/),
    ]);
  }
  const apart = write(
    "line",
    rows(200, [
      [0, 0],
      [100, 100],
    ]),
  );
  expect((await fit([apart], "--k", "2")).warnings).toEqual([]);
});

test.each(["iso", "var", "aniso"] as const)("the paper's data %s get no warning", async (kind) => {
  const files = paperData(kind, 4, 150, 3).datasets.map((points, i) => write(`${kind}${i}`, toRows(points)));
  const { warnings } = await fit(files, "--k", "3", "--rounds", "1000");
  expect(warnings).toEqual([]);
});
