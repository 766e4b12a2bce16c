// fedkm study: a first file that can be used as it is, and checks that say what is wrong.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { privacyWords, whatTrustMeans } from "@fedkm/device";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-study-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

async function study(...args: string[]) {
  const console = fakeConsole();
  return { code: await runCommandLine(["study", ...args], console), ...console.said() };
}

test("fedkm study init writes a file that study check understands", async () => {
  const file = join(folder, "weather.yaml");
  const written = await study(
    "init",
    "--k",
    "4",
    "--feature",
    "temperature:-40:60:°C",
    "humidity:0:100",
    "--out",
    file,
  );
  expect(written).toEqual({
    code: 0,
    stdout: [
      `wrote ${file}: look it over, then give the same file to every device`,
      `privacy is guarded: ${privacyWords({ privacy: "guarded" })}\n`,
    ].join("\n"),
    stderr: "",
  });
  const { code, stdout } = await study("check", file, "--json");
  expect(code).toBe(0);
  const facts = JSON.parse(stdout);
  expect(facts.study).toMatchObject({
    k: 4,
    alpha: 1,
    features: [
      { name: "temperature", unit: "°C", min: -40, max: 60, scale: 1 },
      { name: "humidity", min: 0, max: 100 },
    ],
  });
  expect(facts.hash).toMatch(/^[0-9a-f]{32}$/);
  expect(facts.frameBytes).toBe(60 + 1 + 8 * 4 * 2);
});

test("fedkm study init --data takes columns and round bounds with room from a file, which then fits", async () => {
  const data = join(folder, "rows.csv");
  writeFileSync(data, "id,a,b\n1,0.5,1000\n2,9.5,1400\n3,4,1200\n");
  const file = join(folder, "rows.yaml");
  await study("init", "--data", data, "--columns", "a,b", "--out", file);
  const { stdout } = await study("check", file, "--data", data);
  expect(stdout).toContain("a                 -1     11       4");
  expect(stdout).toContain("b                900   1500     200");
  expect(stdout).toContain(
    `${data}: 3 rows, 0 outside the bounds; fewer than 30 that count: it would send nothing of its own`,
  );
});

test("fedkm study init never overwrites a study, and wants features from one place", async () => {
  const file = join(folder, "kept.yaml");
  writeFileSync(file, "kept");
  const again = await study("init", "--feature", "a:0:1", "--out", file);
  expect(again).toMatchObject({
    code: 1,
    stderr: `fedkm: ${file} must not exist yet: a study that devices use is not overwritten\n`,
  });
  expect(readFileSync(file, "utf8")).toBe("kept");
  const other = join(folder, "other.yaml");
  expect(await study("init", "--out", other)).toMatchObject({
    code: 2,
    stderr: "fedkm: one of --feature, --data and --columns must be given (--columns also beside --data)\n",
  });
  expect(await study("init", "--feature", "a:1:0", "--out", other)).toMatchObject({
    code: 2,
    stderr: 'fedkm: --feature must be name:min:max or name:min:max:unit with min below max, got "a:1:0"\n',
  });
});

test("fedkm study check names file, field and line of what is wrong", async () => {
  const file = join(folder, "wrong.yaml");
  writeFileSync(file, "name: wrong\nk: 0\nalpha: 1\nprivacy: open\nfeatures:\n  - { name: a, min: 0, max: 1 }\n");
  const { code, stderr } = await study("check", file);
  expect(code).toBe(1);
  expect(stderr).toMatch(/^fedkm: k must be an integer from 1 to 65535, got 0, line 2\n$/);
  expect(await study("check", join(folder, "missing.yaml"))).toMatchObject({
    code: 1,
    stderr: `fedkm: cannot read ${join(folder, "missing.yaml")}: no such file or directory\n`,
  });
});

test("fedkm study check --data refuses a cell that is no number, by line and column and without showing it", async () => {
  const file = join(folder, "cells.yaml");
  await study("init", "--feature", "a:0:1", "b:0:1", "--out", file);
  const data = join(folder, "cells.csv");
  writeFileSync(data, "a,b\n0.5,0.5\n0.25,secret\n");
  expect(await study("check", file, "--data", data)).toMatchObject({
    code: 1,
    stderr: `fedkm: ${data}, line 3, column "b" must be a number\n`,
  });
});

test("fedkm study check says what it means that neighbours are trusted", async () => {
  const file = join(folder, "own.yaml");
  await study("init", "--k", "2", "--feature", "x:0:1", "--out", file);
  expect((await study("check", file)).stdout).not.toContain(whatTrustMeans);
  writeFileSync(file, readFileSync(file, "utf8").replace("neighbours: doubted", "neighbours: trusted"));
  expect((await study("check", file)).stdout).toContain(whatTrustMeans);
});
