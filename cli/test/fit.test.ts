// fedkm fit and predict: files in, clusters out, and nothing half written.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { complete, matrix, methods, predict } from "@fedkm/core";
import { readTable } from "@fedkm/files";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = temporaryFolder();
folder.addExamples();
const example = (name: string) => join(folder.path, "examples", name);
const out = (name: string) => join(folder.path, name);
const both = [example("north.csv"), example("south.csv")];
const lines = (file: string) => readFileSync(file, "utf8").trim().split("\n");

test("two files become a model, labelled files and a report", async () => {
  const { code, stdout, stderr } = await outcome(
    "fit",
    "--as-is",
    ...both,
    "--k",
    "3",
    "--exclude",
    "plant",
    "--out",
    out("two"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(
    /^2 devices, 1 link, 210 rows, 4 columns\nfedkm, k = 3, alpha = 1, seed 1: settled after \d+ rounds/,
  );
  expect(readdirSync(out("two")).sort()).toEqual(["labels", "model.json", "report.html"]);
  const before = lines(both[0]);
  const after = lines(out("two/labels/north.csv"));
  expect(after).toHaveLength(before.length);
  expect(after[0]).toBe(`${before[0]},cluster`);
  after.slice(1).forEach((line, r) => {
    expect(line).toMatch(/,[012]$/);
    expect(line.slice(0, -2)).toBe(before[r + 1]);
  });
});

test("the model is that of the library on the same rows", async () => {
  await outcome(
    "fit",
    "--as-is",
    ...both,
    "--k",
    "3",
    "--exclude",
    "plant",
    "--seed",
    "4",
    "--alpha",
    "0.5",
    "--out",
    out("same"),
  );
  const model = JSON.parse(readFileSync(out("same/model.json"), "utf8"));
  const datasets = await Promise.all(both.map(async (file) => (await readTable(file, { exclude: ["plant"] })).points));
  const found = methods.fedkm(datasets, complete(2), { k: 3, alpha: 0.5, seed: 4, weighting: "sample" });
  expect(model.objective).toBe(found.objective);
  const sorted = (rows: number[][]) => rows.map((row) => row.join(" ")).sort();
  const rowsOf = (data: Float64Array) => [0, 1, 2].map((c) => Array.from(data.subarray(4 * c, 4 * c + 4)));
  for (const [i, { data }] of found.centroids.entries()) {
    expect(sorted(model.devices[i].centroids)).toEqual(sorted(rowsOf(data)));
  }
  expect(model.devices.map(({ sizes }: { sizes: number[] }) => sizes.reduce((a, b) => a + b))).toEqual([120, 90]);
});

test.each(["log:price", "rank"])("means are those of the rows, with --scale %s", async (scale) => {
  const prices = Array.from({ length: 60 }, (_, i) => Math.round(10 * Math.exp((i % 20) / 3)) + (i % 2) * 3000);
  const file = folder.file("prices.csv", `price,b\n${prices.map((price, i) => `${price},${i % 2}`).join("\n")}\n`);
  const results = out(`means-${scale.slice(0, 3)}`);
  const { stdout } = await outcome("fit", "--as-is", file, "--k", "2", "--scale", scale, "--out", results);
  const model = JSON.parse(readFileSync(join(results, "model.json"), "utf8"));
  const labelled = lines(join(results, "labels/prices.csv")).slice(1);
  const rows = labelled.map((line) => line.split(",").map(Number));
  const mean = (of: number[][]) => of.reduce((sum, [price]) => sum + price, 0) / of.length;
  model.clusters.forEach((own: { mean: number[]; centroid: number[]; rows: number }, c: number) => {
    const members = rows.filter(([, , label]) => label === c);
    expect(Math.abs(own.mean[0] / mean(members) - 1)).toBeLessThan(1e-6);
    expect(stdout).toContain(` ${own.mean[0].toPrecision(4)} `);
    expect(own.centroid[0]).toBeCloseTo(model.devices[0].centroids[c][0], 6);
  });
  const report = readFileSync(join(results, "report.html"), "utf8");
  expect(report).toContain(scale === "rank" ? "value at the mean rank " : "geometric mean ");
  expect(report).toContain(`>${mean(rows).toPrecision(4)}<`);
  expect((await outcome("predict", "--model", join(results, "model.json"), "--device", "common", file)).stdout).toBe(
    (await outcome("predict", "--model", join(results, "model.json"), "--device", "prices", file)).stdout,
  );
});

test.each([["none"], ["standard"]])("predict gives the labels of fit, with scale %s", async (scale) => {
  const results = out(`scale-${scale}`);
  await outcome("fit", "--as-is", ...both, "--k", "4", "--exclude", "plant", "--scale", scale, "--out", results);
  for (const name of ["north", "south"]) {
    const { code, stdout } = await outcome("predict", "--model", join(results, "model.json"), example(`${name}.csv`));
    expect(code).toBe(0);
    expect(stdout).toBe(readFileSync(join(results, "labels", `${name}.csv`), "utf8"));
  }
  const { stdout } = await outcome(
    "predict",
    "--model",
    join(results, "model.json"),
    both[1],
    "--device",
    "north",
    "--json",
  );
  const { devices, scaling } = JSON.parse(readFileSync(join(results, "model.json"), "utf8"));
  const { points } = await readTable(both[1], { exclude: ["plant"] });
  const scaled = (row: readonly number[]) => row.map((value, c) => (value - scaling.offset[c]) / scaling.scale[c]);
  const rows = Array.from({ length: points.rows }, (_, r) => Array.from(points.data.subarray(4 * r, 4 * r + 4)));
  const labels = predict(matrix(devices[0].centroids.map(scaled)), matrix(rows.map(scaled)));
  expect(JSON.parse(stdout).labels).toEqual(Array.from(labels));
});

test("standard scaling is undone: centroids are means in the units of the file", async () => {
  await outcome(
    "fit",
    "--as-is",
    both[0],
    "--k",
    "1",
    "--exclude",
    "plant",
    "--scale",
    "standard",
    "--out",
    out("mean"),
  );
  const { devices } = JSON.parse(readFileSync(out("mean/model.json"), "utf8"));
  const { points } = await readTable(both[0], { exclude: ["plant"] });
  const means = [0, 1, 2, 3].map(
    (c) => points.data.reduce((sum, value, at) => (at % 4 === c ? sum + value : sum), 0) / points.rows,
  );
  expect(devices[0].centroids[0]).toEqual(means.map((mean) => expect.closeTo(mean, 9)));
});

test("one file with a column of devices is the same as one file each", async () => {
  const rows = both.flatMap((file, i) =>
    lines(file)
      .slice(1)
      .map((line) => `${line},${["north", "south"][i]}`),
  );
  // Alternating, so that rows of a device do not follow each other.
  const mixed = rows.map((_, r) => rows[(r * 97) % rows.length]);
  const file = folder.file("mixed.csv", `${lines(both[0])[0]},site\n${mixed.join("\n")}\n`);
  const results = out("mixed");
  const { code } = await outcome(
    "fit",
    "--as-is",
    file,
    "--k",
    "3",
    "--exclude",
    "plant",
    "--device-column",
    "site",
    "--out",
    results,
  );
  expect(code).toBe(0);
  await outcome("fit", "--as-is", ...both, "--k", "3", "--exclude", "plant", "--out", out("apart"));
  const labelOf = new Map(
    ["north", "south"].flatMap((name) =>
      lines(out(`apart/labels/${name}.csv`)).map((line) => [line.split(",")[0], line.split(",")[5]]),
    ),
  );
  const labels = lines(join(results, "labels/mixed.csv"))
    .slice(1)
    .map((line) => line.split(","));
  expect(labels.filter(([plant, , , , , , label]) => labelOf.get(plant) !== label)).toEqual([]);
  const again = await outcome("predict", "--model", join(results, "model.json"), file, "--device-column", "site");
  expect(again.stdout).toBe(readFileSync(join(results, "labels/mixed.csv"), "utf8"));
});

test("missing cells are refused, dropped or filled, and labels follow", async () => {
  const text = `a,b\n${Array.from({ length: 40 }, (_, r) => `${r % 2 === 0 ? r / 100 : 9 + r / 100},${r === 7 ? "" : r % 2}`).join("\n")}\n`;
  const file = folder.file("holes.csv", text);
  const fit = (policy: string) =>
    outcome("fit", "--as-is", file, "--k", "2", "--missing", policy, "--out", out(`holes-${policy}`));
  expect(await fit("refuse")).toEqual({
    code: 1,
    stdout: "",
    stderr: `fedkm: ${file}, line 9, column "b" must have a value, got 1 missing cell; drop their rows with --missing drop, or fill them with --missing mean\n`,
  });
  expect((await fit("drop")).stdout).toContain("warning: 1 row with missing cells was dropped");
  expect(lines(out("holes-drop/labels/holes.csv"))[8]).toMatch(/,,$/);
  const filled = await fit("mean");
  expect([filled.code, filled.stdout.replaceAll("\n", " ")]).toEqual([
    0,
    expect.stringContaining("warning: 1 missing cell was filled with the mean of the column: 1 in "),
  ]);
  expect(lines(out("holes-mean/labels/holes.csv"))[8]).toMatch(/,,[01]$/);
  for (const policy of ["drop", "mean"]) {
    const { stdout } = await outcome("predict", "--model", out(`holes-${policy}/model.json`), file);
    expect(stdout).toBe(readFileSync(out(`holes-${policy}/labels/holes.csv`), "utf8"));
  }
});

test("gzipped text and JSON lines come back in their own form", async () => {
  const packed = folder.file("packed.csv.gz", gzipSync(readFileSync(both[0])));
  const keys = lines(both[1])[0].split(",").slice(1);
  const objects = lines(both[1])
    .slice(1)
    .map((line) =>
      Object.fromEntries(
        line
          .split(",")
          .slice(1)
          .map((cell, c) => [keys[c], Number(cell)]),
      ),
    );
  const json = folder.file("rows.jsonl", objects.map((own) => JSON.stringify(own)).join("\n"));
  const { code, stderr } = await outcome(
    "fit",
    "--as-is",
    packed,
    json,
    "--k",
    "3",
    "--columns",
    keys.join(","),
    "--out",
    out("forms"),
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(
    gunzipSync(readFileSync(out("forms/labels/packed.csv.gz")))
      .toString()
      .split("\n", 1)[0],
  ).toBe(`${lines(both[0])[0]},cluster`);
  expect(JSON.parse(lines(out("forms/labels/rows.jsonl"))[0])).toEqual({ ...objects[0], cluster: expect.any(Number) });
});

test("files of one name in folders of any name have labels of their own", async () => {
  const folders = ["東京", "大阪", "a b", "a-b"];
  const rows = (from: number) => Array.from({ length: 20 }, (_, r) => `${from + r},${r % 2}`).join("\n");
  const files = folders.map((name, i) => {
    mkdirSync(out(name));
    return folder.file(join(name, "data.csv"), `x,y\n${rows(100 * i)}\n`);
  });
  const { code, stdout } = await outcome("fit", "--as-is", ...files, "--k", "2", "--out", out("namesakes"), "--json");
  expect(code).toBe(0);
  const labelled = ["東京-data.csv", "大阪-data.csv", "a-b-data.csv", "a-b-data-2.csv"].map((name) =>
    out(`namesakes/labels/${name}`),
  );
  expect(JSON.parse(stdout).files.slice(2)).toEqual(labelled);
  labelled.forEach((file, i) => {
    expect(lines(file)[1]).toMatch(new RegExp(`^${100 * i},0,[01]$`));
  });
});

test("the same seed gives the same bytes", async () => {
  for (const name of ["once", "twice"])
    await outcome("fit", "--as-is", ...both, "--k", "3", "--exclude", "plant", "--graph", "er:0.9", "--out", out(name));
  for (const file of ["model.json", "report.html", "labels/south.csv"]) {
    expect(readFileSync(out(`once/${file}`), "utf8")).toBe(readFileSync(out(`twice/${file}`), "utf8"));
  }
});

test("the report stands alone, escapes names, and is well-formed where it matters", async () => {
  const file = folder.file(
    "odd.csv",
    `"<i>&",y\n${Array.from({ length: 30 }, (_, r) => `${r},${r % 3}`).join("\n")}\n`,
  );
  await outcome("fit", "--as-is", file, "--k", "2", "--out", out("odd"));
  const page = readFileSync(out("odd/report.html"), "utf8");
  expect(page).toContain("&#60;i&#62;&#38;");
  expect(page).not.toContain("<i>");
  expect(page).not.toMatch(/\ssrc=|https?:\/\/(?!www\.w3\.org)|\son\w+=/);
  for (const [drawing] of page.matchAll(/<svg[\s\S]*?<\/svg>/g)) expect(xmlFault(drawing)).toBeUndefined();
  // How values spread, what lies between the clusters, the rows, and the run.
  expect(page.match(/<svg/g)).toHaveLength(5);
});

test("warnings name columns that decide alone, ids, and values that stand for nothing measured", async () => {
  const rows = Array.from({ length: 60 }, (_, r) => [
    30 + (r % 40),
    20_000 + 900 * ((r * 17) % 60),
    (r * 7) % 60,
    r % 9 === 0 ? -999 : r % 5,
  ]);
  const file = folder.file("people.csv", `age,income,person,marks\n${rows.join("\n")}\n`);
  const warned = async (...further: string[]) => {
    const { stdout } = await outcome("fit", "--as-is", file, "--k", "2", "--out", out("people"), "--json", ...further);
    return JSON.parse(stdout).warnings;
  };
  const strange = [
    'column "person" has another whole number in every row, as an id has; leave it out with --exclude person',
    'column "marks" is -999 in 7 rows, far from all its other values; if that means that nothing was measured, empty these cells and use --missing',
  ];
  expect(await warned()).toEqual([
    ...strange,
    'column "income" varies 1,410 times as much as "age" and counts for that much more; give all columns the same say with --scale standard',
  ]);
  expect(await warned("--scale", "standard")).toEqual(strange);
  const tenths = folder.file("tenths.csv", `x,tenth\n${rows.map((_, r) => `${r % 7},0.1`).join("\n")}\n`);
  const { stdout } = await outcome("fit", "--as-is", tenths, "--k", "2", "--out", out("tenths"), "--json");
  expect(JSON.parse(stdout).warnings).toEqual([
    'column "tenth" is 0.1 in every row and says nothing; leave it out with --exclude tenth',
  ]);
});

test("ids that were dealt to several files are seen once the files are taken together", async () => {
  const files = ["a", "b"].map((name, i) => {
    const rows = Array.from({ length: 40 }, (_, r) => `${1 + ((37 * (2 * r + i)) % 80)},${(r % 2) * 90 + (r % 7)}`);
    return folder.file(`dealt-${name}.csv`, `person,x\n${rows.join("\n")}\n`);
  });
  const { stdout } = await outcome("fit", "--as-is", ...files, "--k", "2", "--out", out("dealt"), "--json");
  expect(JSON.parse(stdout).warnings).toEqual([
    'column "person" has another whole number in every row, as an id has; leave it out with --exclude person',
  ]);
});

test("warnings name columns that say nothing, small devices and a network in parts", async () => {
  const rows = (from: number) => Array.from({ length: 12 }, (_, r) => `${from + r},5,${r * r},${r * r}`).join("\n");
  const files = [0, 100, 200].map((from, i) => folder.file(`w${i}.csv`, `id,five,x,y\n${rows(from)}\n`));
  const links = folder.file("w.links.csv", "w0,w1\n");
  const { stdout } = await outcome(
    "fit",
    "--as-is",
    ...files,
    "--k",
    "2",
    "--graph",
    links,
    "--out",
    out("warned"),
    "--json",
  );
  expect(JSON.parse(stdout).warnings).toEqual([
    'column "id" counts the rows and will be clustered like a measurement; leave it out with --exclude id',
    'column "five" is 5 in every row and says nothing; leave it out with --exclude five',
    'column "y" repeats "x", which then counts twice; leave it out with --exclude y',
    expect.stringMatching(/^devices differ so much that one table describes nobody: at w0, w2 the means/),
    "fewer than 10 rows a cluster: w0 (12), w1 (12), w2 (12)",
    "the network falls into 2 parts that never hear of each other",
  ]);
});

test.each([
  [["fit", both[0], "--graph", "alike"], /--graph alike must be used with --k/],
  [["fit", "x.csv", "--k", "0"], /--k must be an integer from 1 to 1000000, got "0"/],
  [["fit", "x.csv", "--k", "2", "--alpha", "-1"], /--alpha must be a number of at least 0, got "-1"/],
  [["fit", "x.csv", "--k", "2", "--missing", "zero"], /--missing must be one of refuse, drop, mean, got "zero"/],
  [
    ["fit", ...both, "--k", "300", "--exclude", "plant"],
    /--k must be at most 210 \(the rows of all devices\), got 300/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--method", "magic"],
    /--method must be one of fedkm, consensus, .*, got "magic"/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--method", "constructor"],
    /--method must be one of fedkm, consensus, .*, got "constructor"/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--graph", "er:2"],
    /--graph er:P must have a probability P from 0 to 1, got "2"/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--graph", "knn:2"],
    /--graph knn:K must have a whole number K from 1 to 1 \(the other devices\), got "2"/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--graph", "mesh"],
    /--graph must be complete, ring, path, star, er:P, knn:K, alike:RULE or a file of links, got "mesh"/,
  ],
  [
    ["fit", ...both, "--k", "2", "--exclude", "plant", "--scale", "big"],
    /--scale must be none, standard, robust, minmax, rank, log:COLUMNS or bounds:FILE, got "big"/,
  ],
  [["predict", both[0]], /required option '--model <model.json>' not specified/],
])("%j is bad usage", async (args, line) => {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(line);
  expect(stderr.trim().split("\n")).toHaveLength(1);
});

test("k is held against all rows where devices are many", async () => {
  const rows = Array.from({ length: 150_000 }, (_, r) => `d${r},${r % 7}`);
  const file = folder.file("many.csv", `site,x\n${rows.join("\n")}\n`);
  const { code, stderr } = await outcome(
    "fit",
    "--as-is",
    file,
    "--device-column",
    "site",
    "--graph",
    "ring",
    "--k",
    "200000",
  );
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "fedkm: --k must be at most 150000 (the rows of all devices), got 200000\n",
  });
});

test("files with different columns are refused by the column's name", async () => {
  const more = folder.file("more.csv", "height_cm,leaf_mm,flowering_day,stem_g,age\n1,2,3,4,5\n");
  const fewer = folder.file("fewer.csv", "height_cm,leaf_mm\n1,2\n");
  expect((await outcome("fit", "--as-is", both[0], more, "--k", "1", "--exclude", "plant")).stderr).toContain(
    `${more}, line 1, column "age" must be in every file, got none in ${both[0]}; leave it out with --exclude age`,
  );
  expect((await outcome("fit", "--as-is", both[0], fewer, "--k", "1", "--exclude", "plant")).stderr).toContain(
    `${fewer}, line 1, column "flowering_day" must be in every file, got none in ${fewer}; leave it out with --exclude flowering_day`,
  );
});

test("predict refuses a device it does not know and a model that was changed", async () => {
  await outcome("fit", "--as-is", ...both, "--k", "2", "--exclude", "plant", "--out", out("strict"));
  const file = folder.file("east.csv", readFileSync(both[0], "utf8"));
  const model = out("strict/model.json");
  expect((await outcome("predict", "--model", model, file)).stderr).toBe(
    'fedkm: --device (the name of the file if not given) must be a device of the model (north, south), got "east"; label new devices with --device common\n',
  );
  const edited = (change: (own: Record<string, unknown>) => void) => {
    const own = JSON.parse(readFileSync(model, "utf8"));
    change(own);
    return folder.file("edited.json", JSON.stringify(own));
  };
  const refused = async (change: (own: Record<string, unknown>) => void) =>
    (await outcome("predict", "--model", edited(change), "--device", "north", file)).stderr;
  expect(await refused((own) => Object.assign(own, { version: 3 }))).toMatch(
    /must have 1 or 2 \(of this fedkm\) as version, got 3; write it again/,
  );
  expect(await refused((own) => Object.assign(own, { columns: [] }))).toMatch(/must have names as columns/);
  expect(await refused((own) => Object.assign(own, { scaling: { offset: [0], scale: [1] } }))).toMatch(
    /must have 4 numbers as scaling.offset/,
  );
  for (const [missing, rule] of [
    [{}, "one of refuse, drop, mean as missing.policy, got nothing"],
    [{ policy: "zero" }, 'one of refuse, drop, mean as missing.policy, got "zero"'],
    [{ policy: "mean" }, "4 numbers as missing.fill, got nothing"],
    [{ policy: "mean", fill: [1, 2] }, "4 numbers as missing.fill, got [1,2]"],
  ] as const) {
    expect(await refused((own) => Object.assign(own, { missing }))).toBe(
      `fedkm: ${join(folder.path, "edited.json")} must have ${rule}; write it again with fedkm fit\n`,
    );
  }
  expect(
    await refused((own) => Object.assign(own, { devices: [{ name: "north", centroids: [[1, 2, 3, null]] }] })),
  ).toMatch(/must have 2 rows as devices\[0\].centroids/);
});

test("results replace those of an earlier run and leave other files alone", async () => {
  const results = out("again");
  await outcome("fit", "--as-is", ...both, "--k", "2", "--exclude", "plant", "--out", results);
  writeFileSync(join(results, "notes.txt"), "mine");
  await outcome("fit", "--as-is", ...both, "--k", "3", "--exclude", "plant", "--out", results);
  expect(readFileSync(join(results, "notes.txt"), "utf8")).toBe("mine");
  expect(JSON.parse(readFileSync(join(results, "model.json"), "utf8")).options.k).toBe(3);
  expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

test("a folder that cannot be made is refused in a line, not tried for ever", async () => {
  // /proc is the folder of Linux in which nothing can be made, whoever asks.
  for (const place of [join(both[0], "below-a-file"), ...(existsSync("/proc/self") ? ["/proc/fedkm/results"] : [])]) {
    const { code, stderr } = await outcome("fit", "--as-is", ...both, "--k", "2", "--exclude", "plant", "--out", place);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^fedkm: cannot write [^\n]+: [a-z ]+\n$/);
  }
});

test("a folder that cannot be written is refused before the files are read", async () => {
  const place = join(both[0], "below-a-file");
  const { stderr } = await outcome("fit", "--as-is", "not-there.csv", "--k", "2", "--out", place);
  expect(stderr).toBe(`fedkm: cannot write ${place}: not a directory\n`);
});

test("Ctrl-C leaves whole results or none", async () => {
  const rows = Array.from({ length: 60_000 }, (_, r) => `${r % 7},${(r * 31) % 11},${(r * 17) % 5}`).join("\n");
  folder.file("long.csv", `a,b,c\n${rows}\n`);
  const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));
  for (const wait of [0, 300, 600, 900, 1200]) {
    const child = spawn(process.execPath, [program, "fit", "long.csv", "--k", "5", "--out", `cut-${wait}`], {
      cwd: folder.path,
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    const timer = setTimeout(() => child.kill("SIGINT"), wait);
    await ended;
    clearTimeout(timer);
    const made = existsSync(out(`cut-${wait}`)) ? readdirSync(out(`cut-${wait}`)).sort() : [];
    expect([[], ["labels", "model.json", "report.html"]]).toContainEqual(made);
    expect(readdirSync(folder.path).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  }
});

test("fit shows the means of dates as dates, and model.json says which columns they are", async () => {
  const rows = Array.from(
    { length: 40 },
    (_, r) => `${r % 2 === 0 ? "2020-01-0" : "2024-06-1"}${1 + (r % 5)},${r % 7}`,
  );
  const data = folder.file("dated.csv", `day,x\n${rows.join("\n")}\n`);
  const out = join(folder.path, "dated");
  const { code, stdout } = await outcome(
    "fit",
    "--as-is",
    data,
    "--k",
    "2",
    "--dates",
    "days",
    "--scale",
    "standard",
    "--out",
    out,
  );
  expect(code).toBe(0);
  for (const mean of ["2020-01-03", "2024-06-13"]) expect(stdout).toContain(mean);
  expect(JSON.parse(readFileSync(join(out, "model.json"), "utf8"))).toMatchObject({
    columns: ["day", "x"],
    dates: ["day"],
  });
  const report = readFileSync(join(out, "report.html"), "utf8");
  expect(report).toContain("2024-06-13");
  expect(report).toContain("much later</b>");
  expect(report).toMatch(/± [\d.]+ days/);
});
