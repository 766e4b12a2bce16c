// No long count is forgotten: npm run test:long runs every file that has one.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { propertyParameters, runs, testSeed } from "./runs.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

function testFiles(ending = ".test.ts"): string[] {
  const { workspaces }: { workspaces: string[] } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const folders = workspaces.map((workspace) => join(root, workspace, "test"));
  return folders.filter(existsSync).flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(ending))
      .map((file) => join(folder, file)),
  );
}

test("every test file with a long count has a .long.test.ts that imports it", () => {
  const counting = testFiles().filter((file) => /\b(?:runs|propertyParameters)\(\{/.test(readFileSync(file, "utf8")));
  expect(counting.length).toBeGreaterThan(0);
  for (const file of counting) {
    const long = join(dirname(file), basename(file).replace(".test.ts", ".long.test.ts"));
    expect(readFileSync(long, "utf8")).toContain(`import "./${basename(file)}";`);
  }
});

test("runs gives the short count outside of a .long.test.ts", () => {
  expect(runs({ short: 3, long: 5 })).toBe(3);
});

test("properties are drawn from the seed of the run", () => {
  expect(propertyParameters({ short: 3, long: 5 })).toEqual({ numRuns: 3, seed: testSeed });
  expect(testSeed).toBe(Number(process.env.FEDKM_TEST_SEED ?? 20261115));
});

test("the seed of the run comes from runs.ts, and no other test reads it", () => {
  const readers = testFiles(".ts").filter((file) => readFileSync(file, "utf8").includes("FEDKM_TEST_SEED"));
  expect(readers).toEqual([]);
});

test("every fc.assert is given a seed", () => {
  const unseeded = testFiles().filter((file) => {
    const text = readFileSync(file, "utf8");
    return text.includes("fc.assert(") && !/\bseed\b|\btestSeed\b|propertyParameters/.test(text);
  });
  expect(unseeded).toEqual([]);
});
