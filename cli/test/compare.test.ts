// fedkm compare puts all methods on equal terms, in a table, as JSON and as a picture.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { consensusVariation, graph, methods, randomStream } from "@fedkm/core";
import { comparedDatasets } from "@fedkm/experiments";
import { parseHTML } from "linkedom";
import { afterAll, expect, test } from "vitest";
import { setupFromAddress } from "../../web/src/engine/setup.ts";
import { playgroundData, story } from "../../web/src/engine/story.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-compare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function compare(args: readonly string[], options: Parameters<typeof fakeConsole>[0] = {}) {
  const console = fakeConsole(options);
  return { code: await runCommandLine(["compare", ...args], console), ...console.said() };
}

const small = ["--typical-rows", "20", "--devices", "6", "--messages", "90", "--runs", "1"];

test("fedkm compare --out a page gives the answer first, then the picture and the table of the terminal", async () => {
  const file = join(folder, "all.html");
  const { code, stdout } = await compare([...small, "--method", "local,fedkm,pooled", "--out", file]);
  expect(code).toBe(0);
  const { document } = parseHTML(readFileSync(file, "utf8"));
  const [, heading, answer] = [...document.querySelectorAll("main, main > *")];
  expect([heading.tagName, answer.className]).toEqual(["H1", "answer"]);
  expect(stdout.replaceAll(/\s+/g, " ")).toContain(answer.textContent);
  expect(document.querySelectorAll("svg").length).toBe(1);
  for (const row of document.querySelectorAll("tbody tr")) {
    const cells = Array.from(row.querySelectorAll("th, td"), (cell) => cell.textContent);
    expect(stdout.split("\n").map((line) => line.trim().split(/\s{2,}/))).toContainEqual(cells);
  }
  const refused = await compare([...small, "--out", join(folder, "all.png")]);
  expect(refused.stderr).toContain("--out must name a file that ends in .svg or .html");
});

test("fedkm compare --json gives every method's quality and cost within the budget", async () => {
  const picture = join(folder, "all.svg");
  const { code, stdout, stderr } = await compare([...small, "--json", "--out", picture]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ data: "var", devices: 6, points: 120, k: 3, alpha: 1, seed: 1, budget: 90, picture });
  const names = [...summary.methods, ...summary.overBudget].map(({ method }: { method: string }) => method);
  expect(names.sort()).toEqual([...Object.keys(methods), "shared"].sort());
  for (const { method, messages, nmi, curve } of summary.methods) {
    expect(messages, method).toBeLessThanOrEqual(90);
    expect(nmi, method).toBeGreaterThan(0);
    expect(curve.length, method).toBeGreaterThan(0);
  }
  expect(xmlFault(readFileSync(picture, "utf8"))).toBeUndefined();
});

test("fedkm compare prints an aligned table, plain when piped, and the best of those that do not pool in bold", async () => {
  const args = [...small, "--method", "local,fedkm,pooled", "--out", join(folder, "table.svg")];
  const { stdout } = await compare(args);
  const lines = stdout.split("\n");
  const heading = lines.findIndex((line) => line.startsWith("method"));
  const table = lines.slice(heading, heading + 4);
  expect(table.map((line) => line.split(" ")[0])).toEqual(["method", "local", "fedkm", "pooled"]);
  expect(stdout.replaceAll("\n", " ")).toContain("(aligned); local, pooled take no start and have their defaults.");
  expect(stdout).not.toContain("\u001b");
  const styled = await compare(args, { terminal: true });
  const bold = styled.stdout.split("\n").filter((line) => line.includes("\u001b[1m"));
  expect(bold.map((line) => line.split(" ")[0])).toEqual(["fedkm"]);
  expect(styled.stderr).toMatch(/#*\.+ {2}local, 0 %/);
  expect(stdout).toMatch(/^By quality fedkm wins: 1\.\d{4} times the cost of pooled\. By bytes fedkm sends/m);
});

test("fedkm compare says where there is no ratio of costs, because pooled costs nothing", async () => {
  const data = [0, 1, 2].map((x) => join(folder, `place-${x}.csv`));
  for (const [x, file] of data.entries()) writeFileSync(file, `x,y\n${`${x},${x}\n`.repeat(4)}`);
  const args = ["--method", "local,pooled", "--k", "3", "--graph", "complete", "--out", join(folder, "places.svg")];
  const { stdout } = await compare([...data, ...args]);
  expect(stdout).toMatch(/^local +none /m);
  expect(stdout).toMatch(/^pooled +1\.0000 ± 0\.0000 +0 /m);
  expect(stdout).toMatch(/^pooled is optimal: no clustering/m);
  expect(stdout).toMatch(/^cost none: pooled costs nothing/m);
});

test("fedkm compare --set and --init reach the methods, and the table and the JSON name them", async () => {
  const args = [...small, "--method", "distributed", "--out", join(folder, "set.svg")];
  const gcd = async (more: readonly string[]) => JSON.parse((await compare([...args, ...more, "--json"])).stdout);
  const plain = await gcd([]);
  const tuned = await gcd(["--set", "distributed.eta=tuned", "--set", "distributed.restarts=3"]);
  expect(plain).toMatchObject({ init: "aligned", settings: {}, reference: { isOptimal: false }, replaced: 0 });
  expect(tuned).toMatchObject({ settings: { distributed: { eta: "tuned", restarts: 3 } } });
  expect(tuned.methods[0].gcd).not.toBe(plain.methods[0].gcd);
  const own = await gcd(["--init", "local"]);
  expect(own.methods[0].gcd).not.toBe(plain.methods[0].gcd);
  const { stdout } = await compare([...args, "--init", "local", "--set", "distributed.eta=3"]);
  expect(stdout).toMatch(/^1 run, at most 90 messages for each method, common start: local$/m);
  expect(stdout).toMatch(/^distributed at its best: init = local, eta = 3$/m);
});

test.each([
  ["by default", [], 3],
  [
    "from a common start on a ring",
    ["--init", "federated", "--graph", "ring", "--dataset", "iso", "--alpha", "0.3"],
    2,
  ],
  [
    "of two devices on a ring",
    ["--init", "local", "--graph", "ring", "--devices", "2", "--dataset", "aniso", "--k", "4"],
    3,
  ],
  ["without what was set", ["--set", "fedkm.preset=paper", "--set", "local.restarts=3"], 1],
])("fedkm compare names states of the playground with the runs of its table to the bit, %s", async (_, more, pairs) => {
  const args = [...small, "--method", "local,fedkm,consensus,distributed", "--out", join(folder, "watched.svg")];
  const { methods: outcomes, watched } = JSON.parse((await compare([...args, ...more, "--json"])).stdout);
  expect(watched.length).toBe(pairs);
  for (const { methods: shown, command } of watched) {
    const { setup } = setupFromAddress(command.match(/^fedkm playground '([^']+)'$/)[1]);
    expect([setup.method, setup.versus]).toEqual(shown);
    for (const method of shown) {
      const outcome = outcomes.find((own: { method: string }) => own.method === method);
      const problem = playgroundData(setup);
      const moment = [...story(problem, setup, method)].find(({ round }) => round === outcome.rounds);
      const network = graph(problem.datasets.length, problem.links);
      expect(consensusVariation(moment?.centroids ?? [], network), method).toBe(outcome.cv);
      expect(moment?.messages, method).toBe(outcome.messages);
    }
  }
  const text = (await compare([...args, ...more])).stdout;
  for (const { command } of watched) expect(text).toContain(`  ${command}\n`);
});

test.each([
  ["data of the command that are no drawn ones", ["--dataset", "iris"]],
  ["an uneven deal", ["--split", "sizes:4"]],
  ["a network that the page has not", ["--graph", "knn:2"]],
  ["more clusters than the page takes", ["--k", "9"]],
  ["methods that it has not", ["--method", "gradient,pooled"]],
])("fedkm compare names no state of the playground for %s", async (_, more) => {
  const args = [...small, "--method", "local,fedkm", "--out", join(folder, "unwatched.svg"), "--json"];
  expect(JSON.parse((await compare([...args, ...more])).stdout).watched).toEqual([]);
});

test("fedkm compare gives bytes by one rule: flooded, and beside it with one collector", async () => {
  const args = [...small, "--method", "fedkm,pooled,coreset", "--out", join(folder, "bytes.svg"), "--json"];
  const { methods: rows } = JSON.parse((await compare(args)).stdout);
  expect(rows[0].collectorBytes).toBe(null);
  for (const { bytes, collectorBytes } of rows.slice(1)) {
    expect(collectorBytes).toBeGreaterThan(0);
    expect(bytes).toBeGreaterThan(collectorBytes);
  }
});

test("fedkm compare gives intervals over runs, the best setting and the common start", async () => {
  const args = [...small, "--runs", "3", "--method", "kfed,distributed", "--out", join(folder, "runs.svg"), "--json"];
  const { runs, standings, sentence } = JSON.parse((await compare(args)).stdout);
  expect(runs).toBe(3);
  const [kfed, distributed] = standings;
  expect(kfed).toMatchObject({ method: "kfed", best: { runs: 3 }, takesStart: false });
  expect(distributed.untuned.settings[0]).toEqual({ init: "local", seeds: "aligned" });
  expect(distributed.best.costRatio).toBeLessThanOrEqual(distributed.untuned.costRatio);
  expect(distributed.best.costInterval).toBeGreaterThan(0);
  expect(sentence).toMatch(/^By quality .* By both it is (kfed|distributed):/);
});

test("fedkm compare --split deals the points otherwise, and says so", async () => {
  const args = [...small, "--method", "local", "--out", join(folder, "split.svg")];
  const even = JSON.parse((await compare([...args, "--json"])).stdout);
  const skewed = JSON.parse((await compare([...args, "--split", "classes:1", "--json"])).stdout);
  expect([even.split, skewed.split]).toEqual(["even", "classes:1"]);
  expect(skewed.points).toBe(even.points);
  expect(skewed.methods[0].costRatio).toBeGreaterThan(2 * even.methods[0].costRatio);
  expect((await compare([...args, "--split", "sizes:5"])).stdout).toMatch(/seed 1, split sizes:5$/m);
});

test("fedkm compare says which methods cannot start, and draws nothing where none can", async () => {
  const picture = join(folder, "none.svg");
  const { code, stdout } = await compare([...small, "--messages", "1", "--method", "kfed", "--out", picture]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^kfed needs \d+ messages to start: over the budget$/m);
  expect(existsSync(picture)).toBe(false);
});

test.each(comparedDatasets)("fedkm compare --dataset %s has a k of its own", async (name) => {
  const args = [
    "--dataset",
    name,
    "--typical-rows",
    "20",
    "--devices",
    "5",
    "--messages",
    "10",
    "--method",
    "distributed",
    "--runs",
    "1",
  ];
  const { code, stdout } = await compare([...args, "--json", "--out", join(folder, `${name}.svg`)]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: name, k: name === "digits" ? 10 : 3 });
});

test.each([
  [["--method", "fedkm,nope"], 'fedkm: --method must be some of fedkm, .*, got "nope"'],
  [["--alpha", "-1"], 'fedkm: --alpha must be a number of at least 0, got "-1"'],
  [["--set", "eta=2"], "fedkm: --set eta=2 must look like METHOD.OPTION=VALUE"],
  [
    ["--set", "gradiant.rho=2"],
    'fedkm: --set gradiant.rho=2 must name a method that is run, got "gradiant" \\(did you mean gradient\\?\\)',
  ],
  [
    ["--set", "gradient.exchange=2"],
    'fedkm: --set gradient.exchange=2 must name one of .*, got "exchange" \\(did you mean exchanges\\?\\)',
  ],
  [["--set", "distributed.eta=fast"], 'fedkm: --set distributed.eta must be a number or tuned, got "fast"'],
  [
    ["--set", "distributed.rounds=5"],
    "fedkm: --set distributed.rounds=5 cannot be set: the budget of messages limits the rounds",
  ],
  [["--set", "backbone.counts=1"], 'fedkm: --set backbone.counts must be true or false, got "1"'],
  [["--split", "odd"], 'fedkm: --split must be even, .*, got "odd"'],
  [["a.csv", "--split", "classes:2"], "fedkm: --split classes:2 needs --classes for your files"],
  [["--init", "given"], "fedkm: .*Allowed choices are local, aligned, federated."],
  [["--graph", "er:1.5"], 'fedkm: --graph er:P must have a probability P from 0 to 1, got "1.5"'],
  [["--devices", "1"], 'fedkm: --devices must be an integer from 2 to 10000, got "1"'],
  [["--dataset", "mnist"], 'fedkm: --dataset must be one of iso, var, aniso, iris, digits, got "mnist"'],
  [["--out", "a.png"], 'fedkm: --out must name a file that ends in .svg or .html, got "a.png"'],
])("fedkm compare %j is refused in one line, with exit code 2", async (args, line) => {
  const { code, stdout, stderr } = await compare(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^${line}\n$`));
});

test("fedkm compare with more clusters than a device has points runs what can begin elsewhere, and refuses the rest in one line", async () => {
  const many = [...small, "--k", "30", "--out", join(folder, "k.svg")];
  expect(await compare([...many, "--method", "distributed"])).toMatchObject({ code: 0 });
  const { code, stderr } = await compare([...many, "--method", "local"]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^fedkm: .*k = 30 points.*\n$/);
});

test("fedkm compare FILES reads them as fedkm fit does, and judges by a column of classes", async () => {
  const random = randomStream(1, "compare");
  const rows = Array.from({ length: 120 }, (_, r) => [r % 3, 5 * (r % 3) + random(), random()]);
  const [one, other] = ["one.csv", "other.csv"].map((name) => join(folder, name));
  const lines = rows.map(([kind, x, y]) => `type ${kind},${x},${y}`);
  writeFileSync(one, `kind,x,y\n${lines.slice(0, 60).join("\n")}\n`);
  writeFileSync(other, `kind,x,y\n${lines.slice(60).join("\n")}\n`);
  const picture = join(folder, "files.svg");
  const args = ["--method", "fedkm,pooled", "--graph", "complete", "--json", "--out", picture, "--classes", "kind"];
  const two = await compare([one, other, ...args]);
  expect(two.stderr).toBe("");
  const summary = JSON.parse(two.stdout);
  expect(summary).toMatchObject({ devices: 2, points: 120, k: 3 });
  for (const { nmi, ari } of summary.methods) expect([nmi, ari]).toEqual([1, 1]);
  const dealt = await compare([one, "--devices", "4", ...args]);
  expect(JSON.parse(dealt.stdout)).toMatchObject({ devices: 4, points: 60, k: 3 });
  const strange = await compare([one, "--classes", "sort"]);
  expect(strange.stderr).toMatch(
    /line 1, column "sort" must exist, got the columns .*; name one of them with --classes\n$/,
  );
  const { code, stderr } = await compare([one, "--exclude", "kind"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "fedkm: your files need --k, or --classes to count them\n",
  });
});
