// What a command loads: a plain fit needs nothing of devices, and who looks at a device neither libp2p nor the algorithm.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startDaemon } from "@fedkm/device/daemon";
import { expect, test } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const bin = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

/** Writes down the address of every module before it is loaded. */
const hooks = `
import { appendFileSync } from "node:fs";
export const load = (url, context, next) => {
  appendFileSync("loaded.txt", url + "\\n");
  return next(url, context);
};`;

const host = {
  env: {},
  version: "1",
  pid: process.pid,
  memoryBytes: () => 64e6,
  cpuMicroseconds: () => 0,
  logFailure: () => undefined,
  linesLost: () => 0,
};

/** The addresses of all modules that a command line loads. */
function loadedBy(code: number, ...args: string[]): string[] {
  writeFileSync(join(folder.path, "hooks.mjs"), hooks);
  const register = 'import { register } from "node:module"; register("./hooks.mjs", import.meta.url);';
  writeFileSync(join(folder.path, "register.mjs"), register);
  rmSync(join(folder.path, "loaded.txt"), { force: true });
  const { status } = spawnSync(process.execPath, ["--import", "./register.mjs", bin, ...args], { cwd: folder.path });
  expect(status).toBe(code);
  return readFileSync(join(folder.path, "loaded.txt"), "utf8").trimEnd().split("\n");
}

test("a plain fit loads no file of device", () => {
  folder.addExamples();
  const loaded = loadedBy(
    0,
    "fit",
    "--as-is",
    "examples/north.csv",
    "examples/south.csv",
    "--k",
    "3",
    "--exclude",
    "plant",
  );
  expect(loaded.filter((url) => /\/tables\/dist\//.test(url)).length).toBeGreaterThan(10);
  expect(loaded.filter((url) => /\/device\/dist\//.test(url))).toEqual([]);
});

test("device links and status load no libp2p, no algorithm and no YAML, and fewer than 70 modules", async () => {
  folder.addExamples();
  const at = (name: string) => join(folder.path, name);
  const study = ["--feature", "temperature:-40:60", "humidity:0:100"];
  expect(await outcome("study", "init", "--k", "3", ...study, "--out", at("study.yaml"))).toMatchObject({ code: 0 });
  const init = ["--study", at("study.yaml"), "--data", at("examples/stations/north.csv"), "--state", at("north")];
  expect(await outcome("device", "init", ...init)).toMatchObject({ code: 0 });
  const daemon = await startDaemon({ folder: at("north"), log: { info: () => {}, warn: () => {} }, host });
  await eventually(() => expect(existsSync(at("north/status.json"))).toBe(true), folder.path);
  await daemon.stop();
  for (const [command, code] of [
    ["links", 0],
    ["status", 3],
  ] as const) {
    const loaded = loadedBy(code, "device", command, "--state", "north");
    expect(loaded.length).toBeLessThan(70);
    const heavy = /libp2p|\/yaml\/|\/core\/dist\/(?!data\/defaults)|\/multiformats\//;
    expect(loaded.filter((url) => heavy.test(url))).toEqual([]);
  }
});
