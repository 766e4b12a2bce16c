// What a command loads: a plain fit needs nothing of devices.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const bin = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

/** Writes down the address of every module before it is loaded. */
const hooks = `
import { appendFileSync } from "node:fs";
export const load = (url, context, next) => {
  appendFileSync("loaded.txt", url + "\\n");
  return next(url, context);
};`;

test("a plain fit loads no file of device", () => {
  folder.addExamples();
  writeFileSync(join(folder.path, "hooks.mjs"), hooks);
  const register = 'import { register } from "node:module"; register("./hooks.mjs", import.meta.url);';
  writeFileSync(join(folder.path, "register.mjs"), register);
  const args = [
    "--import",
    "./register.mjs",
    bin,
    "fit",
    "--as-is",
    "examples/north.csv",
    "examples/south.csv",
    "--k",
    "3",
  ];
  const { status, stderr } = spawnSync(process.execPath, [...args, "--exclude", "plant"], { cwd: folder.path });
  expect([status, String(stderr)]).toEqual([0, ""]);
  const loaded = readFileSync(join(folder.path, "loaded.txt"), "utf8").split("\n");
  expect(loaded.filter((url) => /\/tables\/dist\//.test(url)).length).toBeGreaterThan(10);
  expect(loaded.filter((url) => /\/device\/dist\//.test(url))).toEqual([]);
});
