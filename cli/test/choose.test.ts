// fedkm choose: k and alpha for files, as the library finds them.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { choose, complete } from "@fedkm/core";
import { readTable } from "@fedkm/files";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";
import { xmlFault } from "./wellFormed.ts";

const folder = temporaryFolder();
folder.addExamples();
const files = ["north", "south"].map((name) => join(folder.path, "examples", `${name}.csv`));
const picture = join(folder.path, "choice.svg");
const args = ["choose", ...files, "--exclude", "plant", "--largest-k", "4", "--out", picture];

test("choose prints both tables and the arguments for fit, and draws both curves", async () => {
  const { code, stdout, stderr } = await outcome(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(/^k = 3, alpha = [\d.]+: fedkm fit --k 3 --alpha [\d.]+\n/);
  expect(stdout.match(/ chosen$/gm)).toHaveLength(2);
  expect(xmlFault(readFileSync(picture, "utf8"))).toBeUndefined();
});

test("choose --json is what the library finds", async () => {
  const { stdout } = await outcome(...args, "--json");
  const datasets = await Promise.all(files.map(async (file) => (await readTable(file, { exclude: ["plant"] })).points));
  const found = choose(datasets, complete(2), { largestK: 4, seed: 1 });
  expect(JSON.parse(stdout)).toEqual({ ...JSON.parse(JSON.stringify(found)), warnings: [], picture });
});
