// fedkm compare puts all methods on equal terms, in a table, as JSON and as a picture.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods, randomStream } from "@fedkm/core";
import { afterAll, expect, test } from "vitest";
import { datasetNames } from "../src/commands/compare/data.ts";
import { run } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = mkdtempSync(join(tmpdir(), "fedkm-compare-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function compare(args: readonly string[], options: Parameters<typeof fakeConsole>[0] = {}) {
  const console = fakeConsole(options);
  return { code: await run(["compare", ...args], console), ...console.said() };
}

const small = ["--points", "20", "--devices", "6", "--messages", "90"];

test("fedkm compare --json gives every method's quality and cost within the budget", async () => {
  const picture = join(folder, "all.svg");
  const { code, stdout, stderr } = await compare([...small, "--json", "--out", picture]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const summary = JSON.parse(stdout);
  expect(summary).toMatchObject({ data: "var", devices: 6, points: 120, k: 3, alpha: 1, seed: 1, budget: 90, picture });
  const names = [...summary.methods, ...summary.tooDear].map(({ method }: { method: string }) => method);
  expect(names.sort()).toEqual(Object.keys(methods).sort());
  for (const { method, messages, nmi, curve } of summary.methods) {
    expect(messages, method).toBeLessThanOrEqual(90);
    expect(nmi, method).toBeGreaterThan(0);
    expect(curve.length, method).toBeGreaterThan(0);
  }
  expect(xmlFault(readFileSync(picture, "utf8"))).toBeUndefined();
});

test("fedkm compare prints an aligned table, plain when piped, and the best of those that do not pool in bold", async () => {
  const args = [...small, "--methods", "local,fedkm,pooled", "--out", join(folder, "table.svg")];
  const { stdout } = await compare(args);
  const lines = stdout.split("\n");
  const heading = lines.findIndex((line) => line.startsWith("method"));
  const table = lines.slice(heading, heading + 4);
  expect(table.map((line) => line.split(" ")[0])).toEqual(["method", "local", "fedkm", "pooled"]);
  expect(new Set(table.map((line) => line.length)).size).toBe(1);
  expect(stdout).not.toContain("\u001b");
  const styled = await compare(args, { terminal: true });
  const bold = styled.stdout.split("\n").filter((line) => line.includes("\u001b[1m"));
  expect(bold.map((line) => line.split(" ")[0])).toEqual(["fedkm"]);
  expect(styled.stderr).toContain("1 of 3 methods done");
});

test("fedkm compare says where there is no ratio of costs, because pooled costs nothing", async () => {
  const data = [0, 1, 2].map((x) => join(folder, `place-${x}.csv`));
  for (const [x, file] of data.entries()) writeFileSync(file, `x,y\n${`${x},${x}\n`.repeat(4)}`);
  const args = ["--methods", "local,pooled", "--k", "3", "--graph", "complete", "--out", join(folder, "places.svg")];
  const { stdout } = await compare(["--data", ...data, ...args]);
  expect(stdout).toMatch(/^local +\S+ +\S+ +none +0 /m);
  expect(stdout).toMatch(/^pooled +0 +0 +1\.0000 /m);
  expect(stdout).toMatch(/^cost none: pooled costs nothing/m);
});

test("fedkm compare says which methods cannot start, and draws nothing where none can", async () => {
  const picture = join(folder, "none.svg");
  const { code, stdout } = await compare([...small, "--messages", "1", "--methods", "kfed", "--out", picture]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^kfed needs \d+ messages to start: over the budget$/m);
  expect(existsSync(picture)).toBe(false);
});

test.each(datasetNames)("fedkm compare --dataset %s has a k of its own", async (name) => {
  const args = ["--dataset", name, "--points", "20", "--devices", "5", "--messages", "10", "--methods", "distributed"];
  const { code, stdout } = await compare([...args, "--json", "--out", join(folder, `${name}.svg`)]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ data: name, k: name === "digits" ? 10 : 3 });
});

test.each([
  [["--methods", "fedkm,nope"], 'fedkm: --methods must be some of fedkm, .*, got "nope"'],
  [["--alpha", "-1"], 'fedkm: --alpha must be a number of at least 0, got "-1"'],
  [["--graph", "er:1.5"], 'fedkm: --graph er:P must have a probability P from 0 to 1, got "1.5"'],
  [["--devices", "1"], 'fedkm: --devices must be an integer from 2 to 10000, got "1"'],
  [["--dataset", "mnist"], 'fedkm: --dataset must be one of iso, var, aniso, iris, digits, got "mnist"'],
  [["--out", "a.png"], 'fedkm: --out must name a file that ends in .svg, got "a.png"'],
])("fedkm compare %j is refused in one line, with exit code 2", async (args, line) => {
  const { code, stdout, stderr } = await compare(args);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(new RegExp(`^${line}\n$`));
});

test("fedkm compare with more clusters than a device has points fails in one line where no device has enough", async () => {
  const { code, stderr } = await compare([
    ...small,
    "--k",
    "30",
    "--methods",
    "distributed",
    "--out",
    join(folder, "k.svg"),
  ]);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^fedkm: .*k = 30 points.*\n$/);
});

test("fedkm compare --data reads files as fedkm fit does, and judges by a column of classes", async () => {
  const random = randomStream(1, "compare");
  const rows = Array.from({ length: 120 }, (_, r) => [r % 3, 5 * (r % 3) + random(), random()]);
  const [one, other] = ["one.csv", "other.csv"].map((name) => join(folder, name));
  const lines = rows.map(([kind, x, y]) => `type ${kind},${x},${y}`);
  writeFileSync(one, `kind,x,y\n${lines.slice(0, 60).join("\n")}\n`);
  writeFileSync(other, `kind,x,y\n${lines.slice(60).join("\n")}\n`);
  const picture = join(folder, "files.svg");
  const args = ["--methods", "fedkm,pooled", "--graph", "complete", "--json", "--out", picture, "--classes", "kind"];
  const two = await compare(["--data", one, other, ...args]);
  expect(two.stderr).toBe("");
  const summary = JSON.parse(two.stdout);
  expect(summary).toMatchObject({ devices: 2, points: 120, k: 3 });
  for (const { nmi, ari } of summary.methods) expect([nmi, ari]).toEqual([1, 1]);
  const dealt = await compare(["--data", one, "--devices", "4", ...args]);
  expect(JSON.parse(dealt.stdout)).toMatchObject({ devices: 4, points: 60, k: 3 });
  const strange = await compare(["--data", one, "--classes", "sort"]);
  expect(strange.stderr).toMatch(
    /line 1, column "sort" must exist, got the columns .*; name one of them with --classes\n$/,
  );
  const { code, stderr } = await compare(["--data", one, "--exclude", "kind"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: "fedkm: --k must be given with --data, or --classes to count them, got neither\n",
  });
});
