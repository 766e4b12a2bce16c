// fedkm verify: honest models are verified whatever they were fitted with, and others are not, each with one line.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const both = ["north.csv", "south.csv"].map((name) => join(folder.path, "examples", name));
const modelFile = (name: string) => join(folder.path, name, "model.json");

async function fit(name: string, files: readonly string[], ...args: string[]): Promise<string> {
  const out = join(folder.path, name);
  const { code, stderr } = await outcome("fit", "--as-is", ...files, "--k", "3", "--out", out, ...args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: "" });
  return modelFile(name);
}

const bounds = folder.file(
  "bounds.csv",
  "column,least,most\nheight_cm,0,100\nleaf_mm,0,50\nflowering_day,1,365\nstem_g,0,50\n",
);

test.each([
  [[]],
  [["--preset", "paper"]],
  [["--preset", "paper", "--init", "kmeans++", "--seed", "5"]],
  [["--alpha", "0"]],
  [["--alpha", "100", "--weighting", "device"]],
  [["--coupling", "transport", "--schedule", "coloured"]],
  [["--schedule", "simultaneous", "--rounds", "2000"]],
  [["--schedule", "random"]],
  [["--penalty", "norm", "--scale", "standard"]],
  [["--penalty", "truncated"]],
  [["--tol", "1e-3"]],
  [["--rounds", "2"]],
  [["--scale", "standard"]],
  [["--scale", `bounds:${bounds}`]],
  [["--method", "consensus"]],
  [["--method", "distributed", "--rounds", "5"]],
  [["--method", "gradient", "--rounds", "5"]],
  [["--method", "pooled"]],
  [["--method", "kfed"]],
])("a model of fit %j is verified", async (args) => {
  const model = await fit("honest", both, "--exclude", "plant", ...args);
  const { code, stdout, stderr } = await outcome("verify", model, ...[...both].reverse());
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^.*model\.json is verified\n2 devices, 210 rows, .*\nobjective .*\none more update moves/);
});

test.each(["drop", "mean"])("with a column of devices, missing cells and --missing %s too", async (missing) => {
  const rows = Array.from({ length: 60 }, (_, i) => {
    const site = ["a", "b", "c"][i % 3];
    return `${site},${i % 7 === 0 ? "" : 10 * (i % 2) + i / 60},${1e6 + 5 * (i % 4) + (i % 3)}`;
  });
  const file = folder.file(`sites-${missing}.csv`, `site,x,y\n${rows.join("\n")}\n`);
  const args = ["--device-column", "site", "--missing", missing, "--scale", "standard", "--graph", "path"];
  const model = await fit(`sites-${missing}`, [file], ...args);
  const { code, stdout, stderr } = await outcome("verify", model, file, "--device-column", "site", "--json");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { verified, fault, certificate } = JSON.parse(stdout);
  expect({ verified, fault }).toEqual({ verified: true, fault: null });
  expect(certificate).toEqual(JSON.parse(readFileSync(model, "utf8")).certificate);
});

test("a model without any loss is verified, whatever is left of it after scaling", async () => {
  const rows = Array.from({ length: 12 }, (_, i) => `${0.1 + 0.7 * (i % 3)},${1e7 / (1 + (i % 3))}`);
  const file = folder.file("exact.csv", `x,y\n${rows.join("\n")}\n`);
  for (const scale of ["none", "standard"]) {
    const model = await fit("exact", [file], "--scale", scale);
    expect(await outcome("verify", model, file)).toMatchObject({ code: 0, stderr: "" });
  }
});

// biome-ignore lint/suspicious/noExplicitAny: an edit may do anything to a model
type Edit = (model: any) => void;

test.each<[string, Edit, RegExp]>([
  [
    "a centroid moved by a thousandth",
    (model) => {
      model.devices[1].centroids[0][0] *= 1.001;
    },
    /: (objective must be 121\.79\d+ with these rows, centroids and options, got 121\.78\d+|one more update must move no centroid by more than \S+ \(it settled\), got \S+)\n$/,
  ],
  [
    "a centroid moved by a millionth",
    (model) => {
      model.devices[0].centroids[2][3] *= 1 + 1e-6;
    },
    /: one more update must move no centroid by more than \S+ \(it settled\), got \S+\n$/,
  ],
  [
    "another alpha",
    (model) => Object.assign(model.options, { alpha: 0.9 }),
    /: objective must be 121\.59\d+ .*, got 121\.78/,
  ],
  ["another weighting", (model) => Object.assign(model.options, { weighting: "device" }), /: objective must be /],
  [
    "no weighting, as when every device counted the same",
    (model) => {
      delete model.options.weighting;
    },
    /: objective must be /,
  ],
  [
    "another mean of a cluster",
    (model) => {
      model.clusters[1].mean[0] += 0.001;
    },
    /: clusters\[1\]\.mean must be \[44\.415\S+\], got \[44\.416\S+\]\n$/,
  ],
  [
    "another device that is farthest",
    (model) => {
      model.clusters[0].farthest = "north";
    },
    /: clusters\[0\]\.farthest must be "south", got "north"\n$/,
  ],
  ["another coupling", (model) => Object.assign(model.options, { coupling: "transport" }), /: objective must be /],
  [
    "another graph",
    (model) => Object.assign(model.options, { graph: "er:0" }),
    /: links must be those of graph er:0, got north - south of weight 1\n$/,
  ],
  [
    "a link left out",
    (model) => {
      model.links = [];
    },
    /: links must be those of graph complete, which has north - south of weight 1\n$/,
  ],
  [
    "another scale",
    (model) => {
      model.scaling.scale[1] = 2;
    },
    /: scaling\.scale of column "leaf_mm" must be 1, got 2\n$/,
  ],
  [
    "sizes that are wrong",
    (model) => {
      model.devices[0].sizes = [120, 0, 0];
    },
    /: the clusters of device "north" must have [\d, ]+ rows, got 120, 0, 0\n$/,
  ],
  [
    "a history that rises",
    (model) => {
      model.history[1].objective += 1e4;
    },
    /: the objective must never rise, got a rise of \S+ in history\n$/,
  ],
  [
    "a certificate that is better than it was",
    (model) => {
      model.certificate.ties = 0.5;
    },
    /: certificate\.ties must be 0, got 0\.5\n$/,
  ],
  [
    "an option that is no number",
    (model) => Object.assign(model.options, { alpha: "1" }),
    /must have a number of at least 0 as options\.alpha, got "1"/,
  ],
])("a model with %s is not verified", async (_, edit, message) => {
  const model = JSON.parse(readFileSync(await fit("edited", both, "--exclude", "plant"), "utf8"));
  edit(model);
  const edited = folder.file("edited.json", JSON.stringify(model));
  const { code, stdout, stderr } = await outcome("verify", edited, ...both);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(message);
  expect(stderr.split("\n")).toHaveLength(2);
});

test("a model is not verified by other files", async () => {
  const model = await fit("others", both, "--exclude", "plant");
  const lines = readFileSync(both[0], "utf8").trimEnd().split("\n");
  const short = folder.file("north.csv", `${lines.slice(0, -1).join("\n")}\n`);
  const swapped = folder.file("south.csv", readFileSync(both[1], "utf8").replace(/\d+\.\d+/, "999.5"));
  const said = async (...files: string[]) => (await outcome("verify", model, ...files)).stderr;
  expect(await said(short, both[1])).toMatch(/: device "north" must have 120 rows, got 119 in the files\n$/);
  expect(await said(both[0])).toMatch(/: device "south" must be in the files, got north\n$/);
  expect(await said(both[0], swapped)).toMatch(/: objective must be /);
  const third = folder.file("west.csv", readFileSync(both[1], "utf8"));
  expect(await said(...both, third)).toMatch(/: the files must hold the model's devices alone, got "west"\n$/);
});

test("a model of before there were certificates is verified by its rows", async () => {
  const model = fileURLToPath(new URL("fixtures/model.json", import.meta.url));
  const { code, stderr } = await outcome("verify", model, ...both);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});
