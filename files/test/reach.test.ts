// What the entry for browsers reaches, package by package: nothing of Node's. And what no file of this workspace does.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Module names that a file imports when it runs, those of dynamic imports included. */
function imports(file: string): string[] {
  // Comments name types in the form of imports.
  const text = readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\//g, "");
  const statements = text.matchAll(
    /^\s*(?:import|export)\s+(?!type\s)[^;'"]*?from\s+['"]([^'"]+)['"]|^\s*import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  );
  return Array.from(statements, ([, from, bare, dynamic]) => from ?? bare ?? dynamic);
}

type Exports = string | { readonly [condition: string]: Exports };

/** As bundlers for browsers do it: the first condition that they know. */
function targetOf(exports: Exports): string {
  if (typeof exports === "string") return exports;
  const condition = Object.keys(exports).find((own) => ["browser", "import", "module", "default"].includes(own));
  if (condition === undefined) throw new Error(`no target for browsers in ${JSON.stringify(exports)}`);
  return targetOf(exports[condition]);
}

function packageFile(name: string, from: string): string {
  const [, own, inner = ""] = /^((?:@[^/]+\/)?[^/]+)(\/.*)?$/.exec(name) ?? [];
  let folder = dirname(from);
  while (!existsSync(join(folder, "node_modules", own, "package.json"))) {
    if (folder === dirname(folder)) throw new Error(`${from} imports ${name}, which is not installed`);
    folder = dirname(folder);
  }
  const home = join(folder, "node_modules", own);
  const { exports: said, module, main } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  if (said === undefined) return join(home, inner === "" ? (module ?? main) : inner);
  // A package of one entry may leave out its name.
  const isOne = typeof said === "string" || !Object.keys(said).some((key) => key.startsWith("."));
  const exports: Record<string, Exports> = isOne ? { ".": said } : said;
  const entry = exports[`.${inner}`];
  if (entry !== undefined) return join(home, targetOf(entry));
  const pattern = Object.keys(exports).find((key) => key.includes("*") && `.${inner}`.startsWith(key.split("*")[0]));
  if (pattern === undefined) throw new Error(`${name} is not exported`);
  const [before, behind] = pattern.split("*");
  const star = `.${inner}`.slice(before.length, behind === "" ? undefined : -behind.length);
  return join(home, targetOf(exports[pattern]).replace("*", star));
}

/** All files that an entry needs, with what leads to Node. */
function walk(entry: string): { files: Set<string>; platform: string[] } {
  const files = new Set<string>();
  const platform: string[] = [];
  const visit = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    for (const name of imports(file)) {
      if (name.startsWith("node:")) platform.push(`${relative(root, file)} imports ${name}`);
      else visit(name.startsWith(".") ? resolve(dirname(file), name) : packageFile(name, file));
    }
  };
  visit(entry);
  return { files, platform };
}

const source = (name: string) => join(root, "src", name);

test("the entry for browsers is the one that package.json names, and reaches nothing of Node's", () => {
  expect(manifest.exports["."].browser.default).toBe("./dist/index.js");
  const { files, platform } = walk(source("index.ts"));
  expect(platform).toEqual([]);
  for (const name of ["csv/plainRows.ts", "parquet/pages.ts", "formats/links.ts"])
    expect(files).toContain(source(name));
  expect([...files].some((file) => file.includes("node_modules/hyparquet/"))).toBe(true);
  // What Node declares as its own is no import.
  for (const file of files) {
    if (file.startsWith(join(root, "src"))) {
      expect(readFileSync(file, "utf8").match(/\b(Buffer|process|__dirname)\b/)?.[0], file).toBeUndefined();
    }
  }
});

test("the walk finds Node where it is", () => {
  const { platform } = walk(source("node.ts"));
  expect(platform).toContain("src/node/file.ts imports node:fs/promises");
});

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => file.replaceAll("\\", "/"));

test("no reader names an option of a command", () => {
  for (const file of sources) {
    expect(readFileSync(source(file), "utf8").match(/--[a-z][\w-]*/)?.[0], file).toBeUndefined();
  }
});

test("no files import each other in a circle, not even their types", () => {
  const uses = new Map(
    sources.map((file) => {
      const text = readFileSync(source(file), "utf8");
      const names = Array.from(text.matchAll(/(?:from\s+|import\()"(\.[^"]+)"/g), ([, name]) => name);
      return [file, names.map((name) => relative(source(""), resolve(dirname(source(file)), name)))];
    }),
  );
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]) => {
    expect(path, "a circle").not.toContain(file);
    if (done.has(file)) return;
    for (const next of uses.get(file) ?? []) visit(next, [...path, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  expect(done.size).toBe(sources.length);
});
