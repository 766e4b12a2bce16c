// --plugin: what a user's module adds to compare, reproduce and fit, from a folder outside this repository.

import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const root = fileURLToPath(new URL("../..", import.meta.url));
cpSync(join(root, "examples/plugin.ts"), join(folder.path, "mine.ts"));

test("compare runs a method on a data set and a graph, with a measure, that come from outside", () => {
  const args = ["--dataset", "square", "--graph", "table:5", "--typical-rows", "40", "--method", "fedkm,gossip"];
  const { status, stdout, stderr } = folder.spawn("compare", "--plugin", "./mine.ts", ...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const { links, k, methods } = JSON.parse(stdout);
  // Five rows of two devices have 5 + 8 links.
  expect({ links, k }).toEqual({ links: 13, k: 4 });
  expect(methods.map(({ method }: { method: string }) => method)).toEqual(["fedkm", "gossip"]);
  for (const { measures, nmi } of methods) {
    expect(measures.worst).toBeGreaterThan(1);
    expect(nmi).toBeGreaterThan(0.8);
  }
  const table = folder.spawn("compare", "--plugin", "mine.ts", ...args).stdout;
  expect(table).toMatch(/^method .* NMI +worst +messages/m);
});

test.each(["lsp2p", "epidemic"])("compare runs examples/methods/%s.ts, and --set knows what it takes", (name) => {
  cpSync(join(root, "examples/methods"), join(folder.path, "methods"), { recursive: true });
  const args = ["--plugin", `methods/${name}.ts`, "--typical-rows", "30", "--devices", "4", "--method", name];
  const { status, stdout, stderr } = folder.spawn("compare", ...args, "--json");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout).methods).toMatchObject([{ method: name, converged: true }]);
  expect(folder.spawn("compare", ...args, "--set", `${name}.eta=2`).stderr).toContain(
    `--set ${name}.eta=2 must name one of`,
  );
});

test("JavaScript does as well, and two plug-ins add up", () => {
  folder.file(
    "first.js",
    `import { kmeans, methodOfAnswer } from "@fedkm/core";
export const methods = {
  first: methodOfAnswer((datasets, graph, { k }) => {
    const { centroids } = kmeans(datasets[0], { k });
    return { centroids: datasets.map(() => centroids), traffic: { messages: 1, bytes: 48 } };
  }),
};
`,
  );
  const both = ["--plugin", "first.js", "--plugin", "mine.ts"];
  const args = ["--typical-rows", "30", "--devices", "4", "--method", "first,gossip", "--json"];
  const { status, stdout, stderr } = folder.spawn("compare", ...both, ...args);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(JSON.parse(stdout).methods).toMatchObject([{ method: "first", messages: 1 }, { method: "gossip" }]);
});

test("fit takes a method and a graph of a plug-in, and its model is verified without", () => {
  const files = ["examples/north.csv", "examples/south.csv"];
  const asked = ["--k", "3", "--exclude", "plant", "--graph", "table", "--rounds", "7", "--out", "plugged"];
  const { status, stderr } = folder.spawn(
    "fit",
    "--as-is",
    ...files,
    "--plugin",
    "mine.ts",
    "--method",
    "gossip",
    ...asked,
  );
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const model = JSON.parse(readFileSync(join(folder.path, "plugged/model.json"), "utf8"));
  expect(model).toMatchObject({ rounds: 7, options: { method: "gossip", graph: "table", rounds: 7 } });
  expect(folder.spawn("verify", "plugged/model.json", ...files)).toMatchObject({ status: 0, stderr: "" });
});

test("reproduce runs what was added beside what the study has, and adds the measure as columns and pictures", () => {
  const args = ["--quick", "--runs", "1", "--init", "local", "--out", "again"];
  const { status, stderr } = folder.spawn("reproduce", "figure1", ...args, "--plugin", "mine.ts");
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const [heading, ...lines] = readFileSync(join(folder.path, "again/runs.csv"), "utf8").trimEnd().split("\n");
  expect(heading).toMatch(/,worst$/);
  const [dataset, k, density, method] = ["dataset", "k", "network", "method"].map((name) => {
    const column = heading.split(",").indexOf(name);
    return lines.map((line) => line.split(",")[column]);
  });
  expect(new Set(method)).toEqual(new Set(["fedkm", "local", "distributed", "gossip"]));
  expect(new Set(dataset)).toEqual(new Set(["iso", "aniso", "var", "square"]));
  expect(new Set(density)).toEqual(new Set(["", "er", "table"]));
  dataset.forEach((name, i) => {
    expect(k[i]).toBe(name === "square" ? "4" : "3");
  });
  for (const line of lines) expect(Number(line.split(",").at(-1))).toBeGreaterThan(0);
  const aggregated = readFileSync(join(folder.path, "again/aggregated.csv"), "utf8").split("\n");
  expect(aggregated[0]).toMatch(/,worst_mean,worst_standard_error,.*,worst_upper_quartile$/);
  expect(Number(aggregated[1].split(",").at(-1))).toBeGreaterThan(0);
  const picture = readFileSync(join(folder.path, "again/figure1-worst-local.svg"), "utf8");
  for (const label of ["worst, iso", "worst, square", "gossip"]) expect(picture).toContain(`>${label}</text>`);
  const drawn = readFileSync(join(folder.path, "again/figure1-local.svg"), "utf8");
  for (const label of ["GCD, square", "gossip"]) expect(drawn).toContain(`>${label}</text>`);
  const manifest = JSON.parse(readFileSync(join(folder.path, "again/manifest.json"), "utf8"));
  expect(manifest.plugins).toEqual([{ file: "mine.ts", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
});

test.each([
  ["none.ts", undefined, "must be a file, got none of that name"],
  ["data.csv", "a,b\n", "must end in .js, .mjs, .ts, .mts or .py"],
  [
    "typo.js",
    "export const method = {};",
    "must export some of methods, datasets, graphs, measures and nothing else, got method",
  ],
  ["empty.js", "export {};", "must export some of methods, datasets, graphs, measures and nothing else, got no export"],
  ["list.js", "export const methods = [];", "must export methods as an object of functions by name, got a list"],
  ["number.js", "export const measures = { two: 2 };", "must have a function as measures.two, got number"],
  ["clash.js", "export const methods = { fedkm() {} };", 'must add methods under names that are free, got "fedkm"'],
  ["name.js", 'export const graphs = { "a,b"() {} };', 'must name graphs with letters, digits, _ and -, got "a,b"'],
  [
    "enum.ts",
    "enum A { b }\nexport const methods = {};",
    "cannot be loaded: TypeScript enum is not supported in strip-only mode (line 1)",
  ],
  ["absent.js", 'import "./nowhere.js";', /^cannot be loaded: Cannot find module .*nowhere\.js/],
])("the plug-in %s is refused in one line", (name, text, rule) => {
  if (text !== undefined) folder.file(name, text);
  const { status, stdout, stderr } = folder.spawn("compare", "--plugin", name);
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr.split("\n")).toHaveLength(2);
  const said = stderr.trimEnd().replace(`fedkm: plug-in ${name} `, "");
  if (typeof rule === "string") expect(said).toBe(rule);
  else expect(said).toMatch(rule);
});

test("a name that two plug-ins add is refused", () => {
  const { stderr } = folder.spawn("compare", "--plugin", "mine.ts", "--plugin", "./mine.ts");
  expect(stderr).toBe('fedkm: plug-in ./mine.ts must add methods under names that are free, got "gossip"\n');
});
