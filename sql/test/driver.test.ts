// Drivers that users install themselves: the version that we test with is one that the package accepts and asks for.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importDriver } from "../src/driver.ts";

const json = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const { peerDependencies } = json("../package.json");
const lock = json("../../package-lock.json");

const absent = async () => {
  throw Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
};

test("the range of DuckDB's driver accepts the version that we test with, though all its versions are prereleases", () => {
  // A range takes a prerelease only if it begins at one of the same three numbers, as the caret of a version itself does.
  const { version } = lock.packages["node_modules/@duckdb/node-api"];
  expect(peerDependencies["@duckdb/node-api"]).toBe(`^${version}`);
});

test("a missing driver is asked for with the range of the manifest", async () => {
  for (const name of Object.keys(peerDependencies)) {
    const command = `npm install "${name}@${peerDependencies[name]}"`;
    await expect(importDriver(name, absent)).rejects.toThrow(command);
  }
});
