// fedkm demo, from the command line to its table, its numbers and its picture's file.

import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { runCommandLine } from "../src/program.ts";
import "../../test/eventually.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { outcome, temporaryFolder } from "./folder.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = temporaryFolder();

test("the example of fedkm demo runs ten programs that come as near to pooled as fit does, and leaves none of them", async () => {
  const [, example] = /Example:\n {2}fedkm (.*) --out \S+\n/.exec((await outcome("demo", "--help")).stdout) ?? [];
  const temporary = join(folder.path, "temporary");
  mkdirSync(temporary);
  vi.stubEnv("TMPDIR", temporary);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const picture = join(folder.path, "demo.svg");
  const { code, stdout, stderr } = await outcome(...example.split(" "), "--json", "--out", picture);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const { methods, ...problem } = JSON.parse(stdout);
  expect(problem).toMatchObject({ seed: 7, devices: 10, rows: 1000, k: 3, alpha: 1, picture });
  const names = methods.map(({ method }: { method: string }) => method);
  expect(names).toEqual(["devices", "local", "fedkm", "consensus", "distributed", "pooled"]);
  const [devices, local, fedkm] = methods;
  expect(devices.gcd).toBeLessThan(local.gcd / 100);
  expect(devices.gcd).toBeLessThan(10 * fedkm.gcd);
  expect(devices.bytes).toBeGreaterThan(0);
  // The picture shows how the devices came there: on a busy machine it may see no more than where they begin and end.
  expect(devices.curve.length).toBeGreaterThan(1);
  expect(xmlFault(readFileSync(picture, "utf8"))).toBeUndefined();
  expect(readFileSync(picture, "utf8")).toMatch(/^<svg[\s\S]*Ten devices agree[\s\S]*devices<\/text>/);
  expect(readdirSync(temporary)).toEqual([]);
  // Linux tells who is whose child.
  const children = `/proc/${process.pid}/task/${process.pid}/children`;
  if (existsSync(children)) expect(readFileSync(children, "utf8").trim()).toBe("");
});

test("fedkm demo prints a table of at most 80 columns, with the best in bold on a terminal, and names its picture", async () => {
  const picture = join(folder.path, "table.svg");
  const console = fakeConsole({ terminal: true });
  expect(await runCommandLine(["demo", "--out", picture], console)).toBe(0);
  const { stdout, stderr } = console.said();
  const lines = stdout.split("\n");
  expect(lines.filter((line) => line.includes("\u001b[1m"))).toHaveLength(1);
  const plain = stripVTControlCharacters(stdout).split("\n");
  expect(plain.slice(0, -2).every((line) => line.length <= 80)).toBe(true);
  expect(plain.slice(-2)).toEqual([`picture: ${picture}`, ""]);
  expect(stderr).toMatch(/fedkm {2}\d+ of 10 devices agree with their neighbours/);
  expect(stderr.endsWith("\r\u001b[K")).toBe(true);
});
