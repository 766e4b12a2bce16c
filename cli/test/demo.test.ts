// fedkm demo, from the command line to its table, its numbers and its picture's file.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { problemOf } from "../../web/src/engine/problem.ts";
import { readAddress } from "../../web/src/engine/setup.ts";
import { story } from "../../web/src/engine/story.ts";
import { run } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { outcome } from "./folder.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-demo-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

/** With the devices in this process, except where a test says otherwise. */
async function demo(args: readonly string[], options: Parameters<typeof fakeConsole>[0] = {}) {
  const console = fakeConsole(options);
  return { code: await run(["demo", "--in-process", ...args], console), ...console.said() };
}

test("the example of fedkm demo runs ten processes that come to the objective of fit, and leaves none of them", async () => {
  const [, example] = /Example:\n {2}fedkm (.*) --out \S+\n/.exec((await outcome("demo", "--help")).stdout) ?? [];
  const console = fakeConsole();
  const temporary = join(folder, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  expect(await run([...example.split(" "), "--json", "--out", join(folder, "processes.svg")], console)).toBe(0);
  const { processes, methods } = JSON.parse(console.said().stdout);
  expect(processes).toMatchObject({ inProcess: null, isAgreed: true });
  expect(processes.objective).toBeGreaterThan(methods.fedkm.objective * 0.999);
  expect(processes.objective).toBeLessThan(methods.fedkm.objective * 1.001);
  expect(processes.globalCentroidDeviation).toBeLessThan(methods.local.globalCentroidDeviation / 100);
  expect(readdirSync(temporary)).toEqual([]);
  // Linux tells who is whose child.
  const children = `/proc/${process.pid}/task/${process.pid}/children`;
  if (existsSync(children)) expect(readFileSync(children, "utf8").trim()).toBe("");
});

test("fedkm demo --json prints one object with the five methods, and nothing else", async () => {
  const picture = join(folder, "json.svg");
  const { code, stdout, stderr } = await demo(["--json", "--out", picture]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { methods, processes, ...problem } = JSON.parse(stdout);
  expect(problem).toEqual({ seed: 1, devices: 10, links: 33, points: 1000, k: 3, alpha: 1, picture });
  expect(Object.keys(methods)).toEqual(["local", "fedkm", "consensus", "distributed", "pooled"]);
  expect(methods.local).toMatchObject({ messages: 0, bytes: 0 });
  expect(methods.fedkm.globalCentroidDeviation).toBeLessThan(methods.local.globalCentroidDeviation / 100);
  expect(methods.pooled).toMatchObject({ globalCentroidDeviation: 0, consensusVariation: 0, bytes: 16_480 });
  expect(methods.fedkm.milliseconds).toBeGreaterThan(0);
  expect(processes.inProcess).toBe("asked for by --in-process");
  expect(Math.abs(processes.objective / methods.fedkm.objective - 1)).toBeLessThan(1e-3);
});

test("fedkm demo prints an aligned table of at most 80 columns, plain when piped, and names its picture", async () => {
  const picture = join(folder, "table.svg");
  const { code, stdout, stderr } = await demo(["--out", picture]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const lines = stdout.split("\n");
  const heading = lines.findIndex((line) => line.startsWith("method"));
  const table = lines.slice(heading, heading + 7);
  expect(table.map((line) => line.split(" ")[0])).toEqual([
    "method",
    "devices",
    "local",
    "fedkm",
    "consensus",
    "distributed",
    "pooled",
  ]);
  expect(new Set(table.map((line) => line.length)).size).toBe(1);
  expect(lines.slice(0, -2).every((line) => line.length <= 80)).toBe(true);
  expect(stdout).not.toContain("\u001b");
  expect(lines.slice(-2)).toEqual([`picture: ${picture}`, ""]);
});

test("fedkm demo on a terminal has one bold number: the lowest GCD of the methods that do not pool", async () => {
  const args = ["--seed", "9", "--out", join(folder, "bold.svg")];
  const { stdout, stderr } = await demo(args, { terminal: true });
  const bold = stdout.split("\n").filter((line) => line.includes("\u001b[1m"));
  expect(bold.map((line) => line.split(" ")[0])).toEqual(["consensus"]);
  expect(stderr).toMatch(/fedkm {2}round 0\/200 {2}objective \d+\.\d+/);
  expect(stderr.endsWith("\r\u001b[K")).toBe(true);
  const refused = await demo(args, { terminal: true, env: { NO_COLOR: "1" } });
  expect(refused.stdout).not.toContain("\u001b");
});

test("fedkm demo draws the same bytes from the same seed, and others from another", async () => {
  const drawn = async (seed: string, file: string) => {
    await demo(["--seed", seed, "--out", join(folder, file)]);
    return readFileSync(join(folder, file), "utf8");
  };
  const first = await drawn("4", "first.svg");
  expect(await drawn("4", "again.svg")).toBe(first);
  expect(await drawn("5", "other.svg")).not.toBe(first);
});

test("fedkm demo --out in a folder that is not there fails in one line, with exit code 1", async () => {
  const picture = join(folder, "missing", "picture.svg");
  const line = `fedkm: cannot write ${picture}: no such file or directory\n`;
  expect(await demo(["--out", picture])).toEqual({ code: 1, stdout: "", stderr: line });
});

test("fedkm demo --out onto a folder fails in one line and leaves nothing behind", async () => {
  const inside = join(folder, "inside");
  const picture = join(inside, "folder.svg");
  mkdirSync(picture, { recursive: true });
  writeFileSync(join(picture, "kept"), "");
  const { code, stdout, stderr } = await demo(["--out", picture]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
  expect(stderr).toMatch(/^fedkm: cannot write [^\n]*folder\.svg: [^\n]+\n$/);
  expect(readdirSync(inside)).toEqual(["folder.svg"]);
});

test("fedkm demo names a state of the playground with its own run, to the bit", async () => {
  const picture = ["--seed", "5", "--out", join(folder, "watched.svg")];
  const { setup } = readAddress(/fedkm playground '(.+)'/.exec((await demo(picture)).stdout)?.[1] ?? "");
  const { rounds, objective } = JSON.parse((await demo([...picture, "--json"])).stdout).methods.fedkm;
  const moments = [...story(problemOf(setup), setup, setup.method)];
  expect(moments.find(({ round }) => round === rounds)?.objective).toBe(objective);
});
