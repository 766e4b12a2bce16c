// package-lock.json serves every platform and every registry: whole, so that npm ci takes it, and without addresses.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

interface Entry {
  readonly version?: string;
  readonly resolved?: string;
  readonly cpu?: readonly string[];
  readonly dev?: boolean;
  readonly libc?: readonly string[];
  readonly os?: readonly string[];
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const root = fileURLToPath(new URL("..", import.meta.url));
const lock: { readonly packages: Readonly<Record<string, Entry>> } = JSON.parse(
  readFileSync(join(root, "package-lock.json"), "utf8"),
);
const entries = Object.entries(lock.packages);

test("package-lock.json has an entry of every optional package it names", () => {
  const held = entries.map(([path]) => path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length));
  const named = entries.flatMap(([, entry]) => Object.keys(entry.optionalDependencies ?? {}));
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !held.includes(name))).toEqual([]);
});

test("package-lock.json names no host to download from", () => {
  expect(entries.filter(([, { resolved = "" }]) => /[:/]/.test(resolved))).toEqual([]);
});

test("npm run lock says of packages that were left out what a registry says of them", () => {
  const folder = mkdtempSync(join(tmpdir(), "fedkm-lock-"));
  const file = join(folder, "package-lock.json");
  const isOfOnePlatform = ({ optional, cpu }: Entry) => optional === true && cpu !== undefined;
  try {
    const kept = entries.filter(([, entry]) => !isOfOnePlatform(entry));
    expect(kept.length).toBeLessThan(entries.length);
    writeFileSync(file, JSON.stringify({ ...lock, packages: Object.fromEntries(kept) }));
    const { status, stderr } = spawnSync(process.execPath, [join(root, "test/lock.mjs"), file], { encoding: "utf8" });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    // What is not in the name, such as the license, npm asks for when it installs.
    const expected = entries.map(([path, entry]) => {
      const { version, cpu, dev, libc, optional, os } = entry;
      return [path, isOfOnePlatform(entry) ? { version, cpu, dev, libc, optional, os } : entry];
    });
    const packages = Object.fromEntries(expected);
    expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
