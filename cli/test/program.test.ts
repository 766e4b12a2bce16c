// The command line answers in one line and with an exit code.

import { expect, test } from "vitest";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

async function outcome(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(args, console), ...console.said() };
}

test("fedkm --version prints the version of the package", async () => {
  const { code, stdout, stderr } = await outcome("--version");
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([[[]], [["--help"]]])("fedkm %j lists the commands", async (args) => {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^ {2}demo /m);
});

test("fedkm demo --help has an example", async () => {
  const { code, stdout } = await outcome("demo", "--help");
  expect(code).toBe(0);
  expect(stdout).toMatch(/Example:\n {2}fedkm demo --seed \d+ --out \w+\.svg\n/);
});

test.each([
  [["demo", "--sed", "2"], "fedkm: unknown option '--sed' (Did you mean --seed?)\n"],
  [["demo", "--seed"], "fedkm: option '--seed <integer>' argument missing\n"],
  [["demo", "--seed", "1.5"], 'fedkm: --seed must be an integer from -(2^53 - 1) to 2^53 - 1, got "1.5"\n'],
  [["demo", "--seed", ""], 'fedkm: --seed must be an integer from -(2^53 - 1) to 2^53 - 1, got ""\n'],
  [["demo", "--seed", "1e3"], 'fedkm: --seed must be an integer from -(2^53 - 1) to 2^53 - 1, got "1e3"\n'],
  [["demo", "--out", "a.png"], 'fedkm: --out must name a file that ends in .svg, got "a.png"\n'],
  [["demo", "two"], "fedkm: too many arguments for 'demo'. Expected 0 arguments but got 1.\n"],
  [["dmeo"], "fedkm: unknown command 'dmeo' (Did you mean demo?)\n"],
])("fedkm %j is refused in one line, with exit code 2", async (args, line) => {
  expect(await outcome(...args)).toEqual({ code: 2, stdout: "", stderr: line });
});

test("fedkm --debug adds where the failure came from", async () => {
  const { code, stderr } = await outcome("demo", "--seed", "x", "--debug");
  expect(code).toBe(2);
  expect(stderr).toMatch(/^fedkm: --seed must be .*\nUsageError: .*\n {4}at /);
});
