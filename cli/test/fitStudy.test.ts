// fedkm fit --study: where devices end, on the rows that devices use.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Matrix, paperData, randomStream, ring } from "@fedkm/core";
import { contractOf, parseStudy, pointsAsCsv, simulate, unscale } from "@fedkm/device";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const HOUR = 3_600_000;

const text = `name: planes
k: 3
features:
  - { name: x1, unit: m, min: -12, max: 9, scale: 4 }
  - { name: x2, unit: m, min: -30, max: 30, scale: 0.5 }
alpha: 0.7
weighting: sample
typicalRows: 60
privacy: open
minimum: 10
`;
const study = parseStudy(text);
const studyFile = folder.file("study.yaml", text);

/** Five devices, the fifth with fewer rows than three times ten. */
const datasets = paperData("var", 5, 120, 3).datasets.map(({ data, cols }, i): Matrix => {
  const rows = i === 4 ? 20 : 120 - 15 * i;
  return { data: data.slice(0, rows * cols), rows, cols };
});
const files = datasets.map((points, i) => folder.file(`place${i}.csv`, pointsAsCsv(study, points)));
const within = datasets.map(({ data, rows }) =>
  Array.from({ length: rows }, (_, r) => data[2 * r] >= -12 && data[2 * r] <= 9 && Math.abs(data[2 * r + 1]) <= 30),
);
const used = within.map((is, i) => is.map((one) => one && i < 4));

test("a study's devices end where fit --study says, with its numbers, whatever their chance and their delays", async () => {
  const out = join(folder.path, "results");
  const args = ["fit", ...files, "--study", studyFile, "--graph", "ring", "--out", out];
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/\ndevices of study "planes", k = 3, alpha = 0\.7, seed 1: settled after \d+ rounds/);
  const model = JSON.parse(readFileSync(join(out, "model.json"), "utf8"));
  const weather = { delayMilliseconds: [1, 60] } as const;
  const network = simulate({ study, contract: await contractOf(study), datasets, graph: ring(5), seed: 8, weather });
  expect(network.settle(HOUR)).toBe(true);
  expect(model.objective / network.objective() - 1).toBeCloseTo(0, 8);
  for (const [i, centroids] of network.centroids().entries()) {
    expect(model.devices[i].centroids.flat()).toHaveLength(6);
    const own = unscale(study, centroids).data;
    model.devices[i].centroids.flat().forEach((value: number, at: number) => {
      expect(Math.abs(value - own[at]) / (at % 2 === 0 ? 21 : 60)).toBeLessThan(2e-6);
    });
  }
});

test("rows that devices leave out get no label, and the model is verified", async () => {
  const out = join(folder.path, "labels");
  const { stdout } = await outcome("fit", ...files, "--study", studyFile, "--graph", "ring", "--out", out, "--json");
  const { warnings, devices } = JSON.parse(stdout);
  used.forEach((is, i) => {
    const labels = readFileSync(join(out, `labels/place${i}.csv`), "utf8")
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(",")[2]);
    expect(labels.map((label) => label !== "")).toEqual(is);
    expect(devices[i].rows).toBe(is.filter((one) => one).length);
  });
  expect(used[0]).toContain(false);
  expect(warnings[0]).toBe(
    `${used[0].filter((is) => !is).length} of 120 rows of place0 are out of the study's bounds and get no label`,
  );
  expect(warnings).toContainEqual(expect.stringMatching(/^place4 has fewer than 30 rows within the study's bounds/));
  const { code } = await outcome("verify", join(out, "model.json"), ...files);
  expect(code).toBe(0);
});

test.each([
  [["--k", "4"], "--k must be 3, as STUDY says, got 4"],
  [["--alpha", "1"], "--alpha must be 0.7, as STUDY says, got 1"],
  [["--weighting", "device"], "--weighting must be sample, as STUDY says, got device"],
  [["--columns", "x1"], "--columns must be x1,x2, as STUDY says, got x1"],
  [["--exclude", "x1"], "--exclude cannot be used with --study: the columns are x1,x2, as STUDY says"],
  [["--scale", "none"], "--scale cannot be used with --study: the scales are x1 4, x2 0.5, as STUDY says"],
  [["--missing", "drop"], "--missing must be refuse with --study, as devices do, got drop"],
  [["--init", "local"], "--init cannot be used with --study: devices run in one way, see docs/protocol.md"],
])("%j contradicts the study and is refused in one line", async (args, line) => {
  const { code, stderr } = await outcome("fit", files[0], "--study", studyFile, ...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: `fedkm: ${line.replace("STUDY", studyFile)}\n` });
});

test("what repeats the study is taken, and what devices cannot do is refused by name", async () => {
  const out = join(folder.path, "none");
  const again = await outcome("fit", files[0], "--study", studyFile, "--k", "3", "--columns", "x1,x2", "--out", out);
  expect(again.code).toBe(0);
  const alone = await outcome("fit", files[4], "--study", studyFile, "--out", join(folder.path, "alone"));
  expect(alone.code).toBe(1);
  expect(alone.stderr).toMatch(
    /^fedkm: place4 must have 30 rows within the study's bounds \(k 3 x minimum 10\), or links/,
  );
  const links = folder.file("links.csv", "from,to,weight\nplace0,place1,2\n");
  const weighted = await outcome("fit", files[0], files[1], "--study", studyFile, "--graph", links, "--out", out);
  expect(weighted.stderr).toBe("fedkm: links must have weight 1 with --study, got 2 between place0 and place1\n");
});

const shared = `name: one
k: 3
features:
  - { name: x1, unit: m, min: -40, max: 40, scale: 1 }
  - { name: x2, unit: m, min: -40, max: 40, scale: 1 }
clusters: shared
privacy: guarded
minimum: 10
`;

test("devices with shared clusters are not called alone, and generations are counted instead of rounds", async () => {
  const out = join(folder.path, "shared");
  const file = folder.file("shared.yaml", shared);
  const { code, stdout } = await outcome("fit", ...files, "--study", file, "--graph", "ring", "--out", out);
  expect(code).toBe(0);
  expect(stdout).toMatch(/\ndevices of study "one", k = 3, shared clusters, seed 1: settled after \d+ generations/);
  // The fifth place has too few rows, of which a warning tells.
  expect(stdout).toMatch(/\nguarded: \d+ rows? held back, 0 left out, smallest class \d\d rows \(minimum 10\)\n/);
  expect(stdout).not.toContain("stays alone");
  expect(readFileSync(join(out, "report.html"), "utf8")).not.toContain("stays alone");
});

test("devices that never begin say what they wait for", async () => {
  const file = folder.file("few.yaml", `${shared.replace("guarded", "private")}typicalRows: 100\ndevices: 9\n`);
  const out = join(folder.path, "few");
  const { code, stderr } = await outcome("fit", ...files, "--study", file, "--graph", "complete", "--out", out);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr:
      "fedkm: every device must hear of k clusters, got a simulated hour without; place0 waits until 9 devices are there " +
      "for a release; now there are 5\n",
  });
});

/** Files with gaps, words and a constant column: five devices, one of them of three rows. */
function openFiles(name: string, factor = 1): string[] {
  const random = randomStream(7, "open", name);
  return [80, 50, 40, 30, 3].map((rows, i) => {
    const lines = Array.from({ length: rows }, (_, r) => {
      const isLarge = random() < (i + 1) / 6;
      const mass = (i === 1 ? factor : 1) * ((isLarge ? 5000 : 3500) + 400 * random());
      const bill = r % 9 === 4 && rows > 3 ? "" : String((isLarge ? 47 : 39) + 3 * random());
      return [bill, mass, r % 11 === 5 ? "" : random() < 0.5 ? "m" : "f", random() < 0.02 ? "rare one" : "usual", 7];
    });
    const text = ["bill,mass,sex,kind,year", ...lines.map((line) => line.join(",")), ""].join("\n");
    return folder.file(`${name}${i}.csv`, text);
  });
}

const modelIn = (out: string) => JSON.parse(readFileSync(join(out, "model.json"), "utf8"));

test("an open study ends as the same fit on pooled files: scales and fills to 1e-12, levels, sizes and centroids alike", async () => {
  const parts = openFiles("open");
  const [drafted, out, pooled] = ["open.yaml", "open", "pooled"].map((name) => join(folder.path, name));
  const columns = "bill,mass,sex:category,kind:category,year";
  const shared = ["--clusters", "shared", "--privacy", "open", "--k", "2"];
  const init = await outcome("study", "init", "--columns", columns, ...shared, "--out", drafted);
  expect(init.code).toBe(0);
  writeFileSync(drafted, readFileSync(drafted, "utf8").replace("minimum: 10", "minimum: 1"));
  const found = await outcome("fit", ...parts, "--study", drafted, "--out", out);
  expect(found.code).toBe(0);
  expect(found.stderr).toMatch(/found out about 203 rows of 5 devices in 3 generations/);
  expect(found.stderr).toMatch(/column "year" is left out: it has one value only/);
  const flags = ["--k", "2", "--method", "shared", "--scale", "standard", "--missing", "mean", "--exclude", "year"];
  const { code } = await outcome("fit", ...parts, ...flags, "--categories", "sex,kind", "--out", pooled);
  expect(code).toBe(0);
  const [own, reference] = [modelIn(out), modelIn(pooled)];
  expect(own.encoding).toEqual(reference.encoding);
  own.scaling.scale.forEach((scale: number, i: number) => {
    expect(Math.abs(scale / reference.scaling.scale[i] - 1)).toBeLessThan(1e-12);
  });
  own.missing.fill.forEach((fill: number, i: number) => {
    expect(Math.abs(fill / reference.missing.fill[i] - 1)).toBeLessThan(1e-12);
  });
  own.devices.forEach(({ sizes, centroids }: { sizes: number[]; centroids: number[][] }, i: number) => {
    expect(sizes).toEqual(reference.devices[i].sizes);
    const other = reference.devices[i].centroids.flat();
    centroids.flat().forEach((value, at) => {
      expect(Math.abs(value - other[at])).toBeLessThan(1e-9 * (1 + Math.abs(value)));
    });
  });
  expect(own.study.answers).toMatch(/^[0-9a-f]{32}$/);
});

test("a device with a wrong unit is named before anything is scaled", async () => {
  const parts = openFiles("wrong", 1000);
  const drafted = join(folder.path, "wrong.yaml");
  await outcome("study", "init", "--columns", "bill,mass", "--clusters", "shared", "--out", drafted);
  const { stderr } = await outcome("fit", ...parts, "--study", drafted, "--out", join(folder.path, "wrong"));
  expect(stderr).toMatch(/wrong1\.csv: column "mass" looks 1000 times too large/);
  expect(stderr.match(/looks/g)).toHaveLength(1);
});
