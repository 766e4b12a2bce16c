// fedkm up: a network of real processes that is looked at, stopped whole, taken up again, and never outlives its parent.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { paperData } from "@fedkm/core";
import { lockFolder } from "@fedkm/device/daemon";
import { afterEach, beforeEach, expect, test } from "vitest";
import { eventually } from "../../test/eventually.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

const program = fileURLToPath(new URL("../bin/fedkm.js", import.meta.url));

let folder = "";
let child: ChildProcess | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-up-"));
});
afterEach(() => {
  child?.kill("SIGKILL");
  child = undefined;
  rmSync(folder, { recursive: true });
});

async function up(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(["up", "--state", join(folder, "net"), ...args], console), ...console.said() };
}

/** Every file below a folder, by its path. */
const contents = (below: string) =>
  Object.fromEntries(
    readdirSync(below, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), "utf8")]),
  );

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

test("devices with shared clusters settle without an objective, and their status counts generations and no rounds", async () => {
  const study = join(folder, "shared.yaml");
  const features = ["--feature", "x1:-40:40", "x2:-40:40"];
  expect(
    await runCommandLine(["study", "init", "--clusters", "shared", ...features, "--out", study], fakeConsole()),
  ).toBe(0);
  const files = paperData("iso", 3, 60, 1).datasets.map(({ data, rows }, i) => {
    const lines = Array.from({ length: rows }, (_, r) => `${data[2 * r]},${data[2 * r + 1]}`);
    writeFileSync(join(folder, `${i}.csv`), `x1,x2\n${lines.join("\n")}\n`);
    return join(folder, `${i}.csv`);
  });
  const { code, stdout } = await up("--data", ...files, "--graph", "ring", "--study", study, "--until-settled");
  expect(code).toBe(0);
  expect(stdout).toMatch(/\n3 of 3 settled\n/);
  const console = fakeConsole();
  await runCommandLine(["device", "status", "--state", join(folder, "net", "device-1")], console);
  const said = console.said().stdout;
  expect(said).toMatch(/\nshared clusters: generation \d+ \(rest\), last sums over 3 devices/);
  expect(said).not.toMatch(/\nround|12D3|is away/);
});

test("fedkm up --until-settled --json runs a ring to rest, stops it, and takes it up again with its keys and epochs", async () => {
  const args = ["--devices", "3", "--graph", "ring", "--until-settled", "--json"];
  const first = await up(...args);
  expect(first).toMatchObject({ code: 0, stderr: "" });
  const { devices, links, statuses } = JSON.parse(first.stdout);
  expect({ devices, links }).toEqual({ devices: 3, links: 3 });
  for (const status of statuses) {
    expect(status).toMatchObject({ stoppedAt: expect.any(String), device: { phase: "settled" } });
    expect(status.links).toHaveLength(2);
    expect(isAlive(status.pid)).toBe(false);
  }
  expect(readdirSync(join(folder, "net"))).toEqual(["data", "device-1", "device-2", "device-3"]);
  const again = JSON.parse((await up(...args)).stdout).statuses;
  for (const [index, { device }] of again.entries()) {
    const before = statuses[index].device;
    expect(device.peer).toBe(before.peer);
    expect(device.epoch).toBeGreaterThan(before.epoch);
    expect(device.round).toBeGreaterThanOrEqual(before.round);
  }
});

test("fedkm up paints its table and stops all devices on SIGINT; killed outright, its devices end as well", async () => {
  for (const signal of ["SIGINT", "SIGKILL"] as const) {
    const state = join(folder, signal);
    child = spawn(process.execPath, [program, "up", "--devices", "2", "--graph", "complete", "--state", state], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    child.stdout?.on("data", (chunk) => {
      said += chunk;
    });
    const pids = await eventually(
      () =>
        [1, 2].map((n) => {
          const { pid, stoppedAt } = JSON.parse(readFileSync(join(state, `device-${n}`, "status.json"), "utf8"));
          expect(stoppedAt).toBeNull();
          return pid;
        }),
      folder,
    );
    expect(pids.map(isAlive)).toEqual([true, true]);
    const exited = once(child, "exit");
    child.kill(signal);
    expect(await exited).toEqual(signal === "SIGINT" ? [0, null] : [null, signal]);
    await eventually(() => expect(pids.map(isAlive)).toEqual([false, false]), folder);
    if (signal === "SIGINT") {
      expect(said).toMatch(/^device +state +peers +round +move +objective +oldest +sent +bytes$/m);
      expect(said.trimEnd().split("\n").at(-1)).toBe(`stopped; the state stays in ${state}`);
    }
  }
});

test("fedkm up ends with a device's own words when that device cannot start", async () => {
  const args = ["--devices", "2", "--until-settled"];
  expect(await up(...args)).toMatchObject({ code: 0 });
  for (const copy of ["a", "b"]) writeFileSync(join(folder, "net", "device-2", `epoch.${copy}`), "damaged");
  const { code, stderr } = await up(...args);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^fedkm: .*device-2 ended with exit code 1: fedkm: .*epoch/);
});

test("fedkm up writes nothing where a device runs or another study is", async () => {
  const net = join(folder, "net");
  expect(await up("--devices", "2", "--until-settled")).toMatchObject({ code: 0 });
  const before = contents(net);
  const unlock = await lockFolder(join(net, "device-2"));
  expect(await up("--devices", "2")).toEqual({
    code: 1,
    stdout: "",
    stderr: `fedkm: ${join(net, "device-2")} must be free, got one in which a device runs\n`,
  });
  await unlock();
  expect(contents(net)).toEqual(before);
  const other = await up("--devices", "2", "--seed", "2");
  expect(other.stderr).toMatch(/^fedkm: .*device-1 must be of the same study \(or use another --state\): features/);
  expect(contents(net)).toEqual(before);
});

test("fedkm up leaves no device behind when one cannot be started, and ends", async () => {
  const log = join(folder, "net", "device-2", "device.log");
  expect(await up("--devices", "2", "--until-settled")).toMatchObject({ code: 0 });
  rmSync(log);
  mkdirSync(log);
  child = spawn(process.execPath, [program, "up", "--devices", "2", "--state", join(folder, "net")], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr?.on("data", (chunk) => {
    said += chunk;
  });
  expect(await once(child, "close")).toEqual([1, null]);
  expect(said).toContain(log);
});

test("fedkm up takes one file for each device, and says what does not fit together", async () => {
  const data = ["a.csv", "b.csv"].map((name) => join(folder, name));
  for (const file of data) writeFileSync(file, "x\n1\n2\n");
  const study = join(folder, "study.yaml");
  await runCommandLine(["study", "init", "--feature", "x:0:10", "--out", study], fakeConsole());
  const refused: [string[], string][] = [
    [["--data", ...data], "--data needs --study (fedkm study init --data writes a first one)"],
    [["--study", study], "--study needs --data: the paper's points have a study of their own"],
    [["--data", ...data, "--study", study, "--devices", "3"], "--devices must be 2 (the files of --data), got 3"],
    [
      ["--graph", "torus"],
      '--graph must be complete, ring, path, star, er:P, knn:K, alike:RULE or a file of links, got "torus"',
    ],
    [["--graph", "er:1.5"], '--graph er:P must have a probability P from 0 to 1, got "1.5"'],
    [["--devices", "0"], '--devices must be an integer from 1 to 200, got "0"'],
  ];
  for (const [args, line] of refused) {
    expect(await up(...args)).toEqual({ code: 2, stdout: "", stderr: `fedkm: ${line}\n` });
  }
});
