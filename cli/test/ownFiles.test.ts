// The command that the playground shows for a reader's files gives the centroids that the playground shows, to the bit.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toRows } from "@fedkm/core";
import { undoScaling } from "@fedkm/files";
import { clustersInModelOrder } from "@fedkm/tables";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defaultSetup, type Setup } from "../../web/src/engine/setup.ts";
import { playgroundData, story } from "../../web/src/engine/story.ts";
import { type OwnData, ownCommand, ownTable, ownTableName, readOwn } from "../../web/src/playground/own.ts";
import { messyFiles } from "../../web/test/messyFiles.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";

let folder: string;
const home = process.cwd();
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "fedkm-own-"));
  process.chdir(folder);
});
afterEach(() => {
  process.chdir(home);
  rmSync(folder, { recursive: true });
});

/** As a shell takes it apart. */
function wordsOf(command: string): string[] {
  return execFileSync("sh", ["-c", `printf '%s\\n' ${command}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

async function expectSame(own: OwnData, setup: Setup) {
  const last = Array.from(story(playgroundData(setup, own.datasets), setup, "fedkm")).at(-1);
  for (const file of own.files) writeFileSync(file.name, new Uint8Array(await file.arrayBuffer()));
  writeFileSync(ownTableName(own), ownTable(own));
  const console = fakeConsole();
  const [, ...words] = wordsOf(ownCommand(own, setup) ?? "");
  expect(await runCommandLine([...words, "--labels-as", "none"], console), console.said().stderr).toBe(0);
  const model = JSON.parse(readFileSync("fedkm-results/model.json", "utf8"));
  expect(model.objective).toBe(last?.objective);
  const ordered = clustersInModelOrder(last?.centroids ?? [], own.datasets);
  const centroids = model.devices.map((device: { centroids: number[][] }) => device.centroids);
  expect(centroids).toEqual(ordered.map((one) => toRows(undoScaling(one, own.scaling))));
}

test.each(messyFiles)("of a file with $what", async ({ files, choice }) => {
  const own = await readOwn(files, 12, 3, choice);
  await expectSame(own, { ...defaultSetup, data: "own", graph: "ring", devices: own.datasets.length });
});

test.each<Partial<Setup>>([
  { graph: "er", density: 0.6, seed: 7 },
  { graph: "complete", alpha: 0.02, k: 4 },
  { graph: "path", preset: "paper", schedule: "coloured" },
  { graph: "star", start: "federated" },
  { graph: "ring", penalty: "norm", start: "auto" },
  { graph: "ring", privacy: "guarded", devices: 2, k: 2 },
])("with %o", async (changes) => {
  const setup: Setup = { ...defaultSetup, data: "own", devices: 4, ...changes };
  await expectSame(await readOwn(messyFiles[1].files, setup.devices, setup.k), setup);
});
