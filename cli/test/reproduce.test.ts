// fedkm reproduce leaves tables, pictures and a report; the same seed gives the same bytes, in whatever way it was run.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomStream } from "@fedkm/core";
import { parseCsv } from "@fedkm/experiments";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { setupFromAddress } from "../../web/src/engine/setup.ts";
import { playgroundData, story } from "../../web/src/engine/story.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-reproduce-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function reproduce(args: readonly string[], options: Parameters<typeof fakeConsole>[0] = {}) {
  const console = fakeConsole(options);
  return { code: await runCommandLine(["reproduce", ...args], console), ...console.said() };
}

const at = (...names: string[]) => join(folder, ...names);
const text = (...names: string[]) => readFileSync(at(...names), "utf8");
const quick = ["figure1", "--quick", "--runs", "1", "--seed", "3"];
const both = [...quick, "--init", "auto,local"];

describe("fedkm reproduce figure1 --quick", () => {
  let said: Awaited<ReturnType<typeof reproduce>>;
  beforeAll(async () => {
    said = await reproduce([...both, "--threads", "2", "--out", at("two")]);
  });

  test("writes tables, pictures of both starts, a manifest and the report, and names the report", () => {
    expect({ code: said.code, stderr: said.stderr }).toEqual({ code: 0, stderr: "" });
    expect(readdirSync(at("two")).sort()).toEqual([
      "aggregated.csv",
      "claims.csv",
      ...["auto", "local"].flatMap((start) =>
        ["csv", "pdf", "png", "svg", "tex"].map((kind) => `figure1-${start}.${kind}`),
      ),
      "finished.jsonl",
      "manifest.json",
      "report.html",
      "runs.csv",
    ]);
    expect(said.stdout).toContain(`report: ${at("two", "report.html")}`);
    expect(said.stdout).toMatch(/^GCD falls, alpha 0 to 0.5 +\d\/2 \d\/2/m);
    expect(said.stdout).toMatch(
      /^\d+ runs of Algorithm 1: none raised the objective in any round; one more exact update/m,
    );
    expect(said.stdout).not.toContain("\u001b");
    for (const line of said.stdout.split("\n").slice(0, -2)) expect(line.length, line).toBeLessThanOrEqual(100);
  });

  test("writes the options into the manifest, and the versions of what was run", () => {
    const { commit, ...manifest } = JSON.parse(text("two", "manifest.json"));
    // Without git, or outside a checkout, nobody knows it.
    if (commit !== undefined) expect(commit).toMatch(/^[0-9a-f]{40}( with changes)?$/);
    expect(manifest).toEqual({
      fedkm: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      node: process.version,
      packages: expect.objectContaining({ "@fedkm/core": manifest.fedkm, "@observablehq/plot": "0.6.17" }),
      what: "figure1",
      seed: 3,
      runs: 1,
      quick: true,
      starts: ["local", "auto"],
      cells: 54,
    });
  });

  test("puts its figures and their time into the report", () => {
    const report = text("two", "report.html");
    expect(report).toContain(text("two", "figure1-local.svg").trimEnd());
    expect(report).toMatch(/54 cells in \d+\.\d s with 2 workers/);
  });

  test("names commands that show runs in the playground, with the objectives of runs.csv to the bit", () => {
    const rows = parseCsv(text("two", "runs.csv"));
    const report = text("two", "report.html").replaceAll("&#39;", "'").replaceAll("&#38;", "&");
    const commands = [...report.matchAll(/fedkm playground '([^']+)'/g)].map(([, state]) => state);
    // One for each of three data sets and two starts.
    expect(commands.length).toBe(6);
    expect(said.stdout).toContain(`fedkm playground '${commands[0]}'`);
    for (const state of commands) {
      const { setup } = setupFromAddress(state);
      const { data, alpha, points, density, preset } = setup;
      const start = preset === "paper" ? "local" : "auto";
      const row = rows.find((one) => {
        const isProblem = one.dataset === data && one.points_per_device === points && one.edge_probability === density;
        return isProblem && one.method === "fedkm" && one.alpha === alpha && one.start === start;
      });
      const moments = [...story(playgroundData(setup), setup, setup.method)];
      expect(moments.find(({ round }) => round === row?.rounds)?.objective, state).toBe(row?.objective);
    }
  });

  test("gives the same bytes with one thread", async () => {
    await reproduce([...both, "--threads", "1", "--out", at("one")]);
    for (const file of ["runs.csv", "aggregated.csv", "claims.csv", "manifest.json", "figure1-local.svg"]) {
      expect(text("one", file), file).toBe(text("two", file));
    }
  });

  test("gives the same bytes when it goes on from a run that was killed while it wrote", async () => {
    await reproduce([...both, "--out", at("torn")]);
    const lines = text("torn", "finished.jsonl").split("\n");
    writeFileSync(at("torn", "finished.jsonl"), `${lines.slice(0, 4).join("\n")}\n${lines[4].slice(0, 50)}`);
    rmSync(at("torn", "runs.csv"));
    const { code, stderr } = await reproduce([...both, "--resume", "--out", at("torn")], { terminal: true });
    expect(code).toBe(0);
    expect(text("torn", "runs.csv")).toBe(text("two", "runs.csv"));
    // 6 problems, of which 3 were finished.
    expect(stderr).toContain(" 4/6 problems");
    expect(stderr).not.toContain(" 3/6 problems");
    expect(stderr).toMatch(/#+\.* {2}\d\/6 problems, [\d.<]+ m?s left/);
  });

  test("gives other numbers from another seed", async () => {
    await reproduce(["figure1", "--quick", "--runs", "1", "--seed", "4", "--out", at("four")]);
    expect(text("four", "runs.csv")).not.toBe(text("two", "runs.csv"));
  });

  test("runs what is new when it is resumed with other options", async () => {
    const more = ["figure2", "--quick", "--runs", "1", "--seed", "3", "--init", "auto,local", "--resume"];
    const { code, stderr } = await reproduce([...more, "--out", at("two")], { terminal: true });
    expect(code).toBe(0);
    // Figure 2 has the cells of Figure 1.
    expect(stderr).not.toContain("problems");
  });
});

test.each([
  [[], ["local"]],
  [["--init", "kmeans++"], ["kmeans++"]],
  [
    ["--init", "all"],
    ["local", "kmeans++", "auto"],
  ],
])("fedkm reproduce %j runs the starts %j", async (args, wanted) => {
  const { code, stdout } = await reproduce([...quick, ...args, "--json", "--out", at("starts")]);
  expect(code).toBe(0);
  const { claims, files, starts } = JSON.parse(stdout);
  expect(starts).toEqual(wanted);
  expect(new Set(claims.map(({ start }: { start: string }) => start))).toEqual(new Set(wanted));
  expect(files.includes("figure1-auto.svg")).toBe(wanted.includes("auto"));
});

test("fedkm reproduce heterogeneity says in a table and a sentence where personalisation pays", async () => {
  const { code, stdout } = await reproduce(["heterogeneity", "--quick", "--out", at("heterogeneity")]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^local start, var +even +sizes:20 +dirichlet:1 +dirichlet:0.1 +classes:2$/m);
  expect(stdout).toMatch(/^pooled( +1\.000){5}$/m);
  expect(stdout).toMatch(/^From the local start personalisation pays/m);
  expect(text("heterogeneity", "report.html")).toContain("<h2>Where personalisation pays</h2>");
  expect(text("heterogeneity", "heterogeneity-local.svg")).toContain("relative to pooled k-means");
});

const followUp = [
  "effect-of-alpha",
  "sample-size",
  "connectivity",
  "regimes",
  "comparison",
  "communities",
  "benchmark",
];

test("fedkm reproduce follow-up --quick runs all seven studies, and reports numbers instead of claims", async () => {
  const { code, stdout } = await reproduce(["follow-up", "--quick", "--runs", "1", "--json", "--out", at("follow-up")]);
  expect(code).toBe(0);
  const { claims, agreement, files } = JSON.parse(stdout);
  expect([claims, agreement]).toEqual([[], []]);
  expect(files.filter((file: string) => file.endsWith("-local.png"))).toEqual([
    ...followUp.map((study) => `${study}-local.png`),
  ]);
  const lines = text("follow-up", "aggregated.csv").split("\n");
  expect(new Set(lines.slice(1, -1).map((line) => line.split(",")[0]))).toEqual(new Set(followUp));
  expect(text("follow-up", "report.html")).toContain("<h2>Numbers</h2>");
});

test("fedkm reproduce --summary median --no-titles draws bands, without title and caption", async () => {
  const asked = ["--summary", "median", "--no-titles"];
  const { code, stderr } = await reproduce([...quick, ...asked, "--out", at("bands")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const svg = text("bands", "figure1-local.svg");
  expect(svg).toContain('aria-label="area"');
  expect(svg).not.toMatch(/<text[^>]*>(Figure 1|Median and)/);
  expect(text("bands", "figure1-local.tex")).toMatch(/\[\d/);
});

test("fedkm reproduce stops at Ctrl-C, keeps what is finished, and says how to go on", async () => {
  const stopping = reproduce(["regimes", "--runs", "4", "--threads", "1", "--out", at("stopped")]);
  const listening = () => process.listenerCount("SIGINT") > 0;
  while (!listening()) await new Promise(setImmediate);
  process.emit("SIGINT");
  const { code, stdout, stderr } = await stopping;
  expect({ code, stdout }).toEqual({ code: 130, stdout: "" });
  expect(stderr).toMatch(
    /^fedkm: interrupted: \d+ of 12 problems are finished and kept in .*, --resume goes on from there\n$/,
  );
  expect(existsSync(at("stopped", "runs.csv"))).toBe(false);
});

test.each([
  [["figure9"], /^fedkm: what must be one of .*figure1, .*, got "figure9"\n$/],
  [["--runs", "0"], /^fedkm: --runs must be an integer from 1 to 1000000, got "0"\n$/],
  [["--threads", "x"], /^fedkm: --threads must be an integer from 1 to 256, got "x"\n$/],
  [["--summary", "mode"], /^fedkm: --summary must be one of mean, median, got "mode"\n$/],
  [["--init", "mine"], /^fedkm: --init must be all or some of local, kmeans\+\+, auto, got "mine"\n$/],
])("fedkm reproduce %j is refused in one line, with exit code 2", async (args, line) => {
  const { code, stdout, stderr } = await reproduce(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(line);
});

test("fedkm reproduce --resume where nothing is, and --out onto a file, fail in one line", async () => {
  const nothing = await reproduce([...quick, "--resume", "--out", at("nothing")]);
  expect(nothing).toMatchObject({ code: 1, stdout: "" });
  expect(nothing.stderr).toMatch(/^fedkm: cannot resume from .*finished\.jsonl: no such file or directory\n$/);
  writeFileSync(at("file"), "");
  const file = await reproduce([...quick, "--out", at("file")]);
  expect(file).toMatchObject({ code: 1, stdout: "" });
  expect(file.stderr).toMatch(/^fedkm: cannot write .*: [^\n]+\n$/);
});

test("fedkm reproduce features runs the study of real data on files of the user's", async () => {
  const random = randomStream(1, "features");
  const rows = Array.from({ length: 200 }, (_, r) => {
    const values = Array.from({ length: 60 }, (__, c) => (c === r % 4 ? 8 : 0) + random());
    return `${values.join(",")},kind ${r % 4}`;
  });
  const header = [...Array.from({ length: 60 }, (_, c) => `f${c}`), "class"].join(",");
  writeFileSync(at("features.csv"), `${header}\n${rows.join("\n")}\n`);
  const args = ["features", "--data", at("features.csv"), "--classes", "class", "--devices", "4", "--runs", "1"];
  const { code, stderr } = await reproduce([...args, "--init", "auto", "--out", at("own")]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(text("own", "manifest.json"))).toMatchObject({
    what: "features",
    data: { features: { rows: [200], columns: 50 } },
  });
  const [head, ...lines] = text("own", "runs.csv").trim().split("\n");
  const nmi = head.split(",").indexOf("nmi");
  expect(lines.length).toBe(9);
  const ours = lines.filter((line) => !/,(gradient|distributed(-shared)?),/.test(line));
  expect(ours.length).toBe(4);
  for (const line of ours) expect(Number(line.split(",")[nmi]), line).toBeGreaterThan(0.95);
  const resumed = [...args, "--init", "auto", "--resume", "--out", at("own")];
  expect(await reproduce(resumed)).toMatchObject({ code: 0, stderr: "" });
  writeFileSync(at("features.csv"), `${header}\n${rows.slice(4).join("\n")}\n`);
  const others = await reproduce(resumed);
  expect(others).toMatchObject({ code: 2, stdout: "" });
  expect(others.stderr).toMatch(/^fedkm: --resume needs the same options: the run in .*"rows":\[200\].*\n$/);
  expect(await reproduce(["features", "--out", at("none")])).toMatchObject({
    code: 2,
    stderr: "fedkm: the study features needs --data FILES\n",
  });
});
