// The options of fedkm fit that go to the method: passed on as core takes them, recorded as asked, refused where ignored.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { complete, type MethodOptions, methods } from "@fedkm/core";
import { readTable } from "@fedkm/files";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
folder.addExamples();
const both = ["north.csv", "south.csv"].map((name) => join(folder.path, "examples", name));
const out = (name: string) => join(folder.path, name);
const fit = (name: string, ...args: string[]) =>
  outcome("fit", "--as-is", ...both, "--k", "3", "--exclude", "plant", "--out", out(name), ...args);
const modelOf = (name: string) => JSON.parse(readFileSync(join(out(name), "model.json"), "utf8"));

async function objectiveInCore(method: keyof typeof methods, options: Partial<MethodOptions>): Promise<number> {
  const datasets = await Promise.all(both.map(async (file) => (await readTable(file, { exclude: ["plant"] })).points));
  return methods[method](datasets, complete(2), { k: 3, alpha: 1, seed: 1, weighting: "sample", ...options }).objective;
}

test("every option reaches the method as core takes it, and model.json records what was asked", async () => {
  const paper = { preset: "paper", weighting: "device" } as const;
  const cases: [string, string[], keyof typeof methods, Partial<MethodOptions>, object][] = [
    ["preset", ["--preset", "paper"], "fedkm", paper, paper],
    ["init", ["--init", "classic kmeans++"], "fedkm", { init: "classic kmeans++" }, { init: "classic kmeans++" }],
    ["schedule", ["--schedule", "simultaneous"], "fedkm", { schedule: "simultaneous" }, { schedule: "simultaneous" }],
    ["rounds", ["--rounds", "2"], "fedkm", { rounds: 2 }, { rounds: 2 }],
    ["coupling", ["--coupling", "transport"], "fedkm", { coupling: "transport" }, { coupling: "transport" }],
    ["weighting", ["--weighting", "device"], "fedkm", { weighting: "device" }, { weighting: "device" }],
    ["penalty", ["--penalty", "squared"], "fedkm", { penalty: "squared" }, { penalty: "squared" }],
    ["tol", ["--tol", "0.1"], "fedkm", { tol: 0.1 }, { tol: 0.1 }],
    ["other", ["--method", "distributed", "--rounds", "3"], "distributed", { rounds: 3 }, { rounds: 3 }],
  ];
  for (const [name, args, method, options, recorded] of cases) {
    const { code, stderr } = await fit(name, ...args);
    expect({ name, code, stderr }).toEqual({ name, code: 0, stderr: "" });
    const model = modelOf(name);
    expect({ name, objective: model.objective }).toEqual({ name, objective: await objectiveInCore(method, options) });
    const asked = { k: 3, alpha: 1, method, graph: "complete", seed: 1, weighting: "sample", ...recorded };
    expect(model.options).toEqual(asked);
  }
});

test("a penalty is recorded with the scale that it was given", async () => {
  await fit("truncated", "--penalty", "truncated");
  const { options, objective } = modelOf("truncated");
  expect(options.penalty).toEqual({ name: "truncated", scale: expect.any(Number) });
  expect(objective).toBe(await objectiveInCore("fedkm", { weighting: "sample", penalty: options.penalty }));
});

test("without them every row counts the same, and model.json says so", async () => {
  await fit("plain");
  const { options } = modelOf("plain");
  expect(options).toEqual({ k: 3, alpha: 1, method: "fedkm", graph: "complete", seed: 1, weighting: "sample" });
});

test.each([
  [
    ["--method", "pooled", "--rounds", "5"],
    "--method pooled must be used with some of --coupling, --weighting, got --rounds",
  ],
  [
    ["--method", "fkm", "--init", "local"],
    "--method fkm must be used with some of --rounds, --coupling, --weighting, --tol, --min-rows, got --init",
  ],
  [["--preset", "best"], '--preset must be one of dependable, paper, got "best"'],
  [["--schedule", "all"], '--schedule must be one of cyclic, random, coloured, simultaneous, got "all"'],
  [["--rounds", "1.5"], '--rounds must be an integer from 0 to 1000000, got "1.5"'],
  [["--penalty", "lasso"], '--penalty must be one of squared, norm, truncated, got "lasso"'],
  [
    ["--method", "local", "--penalty", "norm"],
    "--method local must be used with some of --init, --coupling, --weighting, got --penalty",
  ],
  [["--tol", "-1"], '--tol must be a number of at least 0, got "-1"'],
])("%j is refused in one line, before anything is read", async (args, message) => {
  const { code, stderr } = await fit("refused", ...args);
  expect({ code, stderr }).toEqual({ code: 2, stderr: `fedkm: ${message}\n` });
});

test.each(Object.keys(methods).filter((name) => name !== "fedkm"))(
  "--method %s refuses a schedule, which only fedkm has",
  async (name) => {
    const { code, stderr } = await fit("refused", "--method", name, "--schedule", "random");
    expect(code).toBe(2);
    expect(stderr).toContain(`--method ${name} must be used with some of`);
  },
);

test.each([
  [["--rounds", "1"], "in 1 rounds; allow more with --rounds", ["--rounds", "200"]],
  [
    ["--preset", "paper", "--alpha", "100"],
    "in 200 rounds; allow more with --rounds, or settle in fewer with --preset dependable",
    ["--preset", "dependable", "--alpha", "100"],
  ],
  [
    ["--tol", "0", "--alpha", "100"],
    "in 200 rounds; use a --tol of at least 1e-14",
    ["--tol", "1e-14", "--alpha", "100"],
  ],
])("a run that did not settle with %j names what helps, and it does", async (args, message, remedy) => {
  const { stdout } = await fit("unsettled", ...args);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(`fedkm did not settle ${message}`);
  expect((await fit("settled", ...remedy)).stdout).not.toContain("did not settle");
});
