// The door of the lab: it lists its sections, and names what was probably meant.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("../dist/lab.js", import.meta.url));

function lab(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { encoding: "utf8" });
  return { status, stdout, stderr };
}

test("without a section the lab lists them, each with its line and its duration", () => {
  const { status, stdout } = lab();
  expect(status).toBe(0);
  const names = Array.from(stdout.matchAll(/^ {2}(\w+) +\S.* \(\d+ (?:s|min|h)\)$/gm), ([, name]) => name);
  expect(names).toEqual(
    "speed lloyd readers analyst differences quality rivals faults integrity audit private shared mutants pictures".split(
      " ",
    ),
  );
  for (const name of names) expect(existsSync(new URL(`../src/${name}/${name}.ts`, import.meta.url))).toBe(true);
});

test.each([
  [["fualts"], 'lab: there is no section "fualts", did you mean faults?\n'],
  [["faults", "gosts"], 'lab: there is no part "gosts", did you mean ghosts?\n'],
  [["quality", "--only", "alhpa"], 'lab: there is no part "alhpa", did you mean alpha?\n'],
  [["quality", "--seed", "x"], "lab: --seed must be an integer, got x\n"],
  [["differences", "--fast"], "lab: Unknown option '--fast'"],
])("lab %j is refused in one line", (args, message) => {
  const { status, stdout, stderr } = lab(...args);
  expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
  expect(stderr.startsWith(message)).toBe(true);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});
