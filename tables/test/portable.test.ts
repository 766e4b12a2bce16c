// The main entry runs where there is no Node: none of its modules imports a part of it, nor opens addresses.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const source = fileURLToPath(new URL("../src", import.meta.url));

/** What a module and those behind it import at run time, by name. */
function importsFrom(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const text = readFileSync(file, "utf8").replaceAll(/(import|export) type [^;]*;/g, "");
  const names = Array.from(text.matchAll(/(?:from|import\()\s*"([^"]+)"/g), ([, name]) => name);
  seen.set(file, names);
  for (const name of names) if (name.startsWith(".")) importsFrom(join(dirname(file), name), seen);
  return seen;
}

test("nothing behind the main entry needs Node or a database", () => {
  const all = importsFrom(join(source, "index.ts"));
  const others = new Set([...all.values()].flat().filter((name) => !name.startsWith(".")));
  expect(all.size).toBeGreaterThan(20);
  expect([...others].sort()).toEqual([
    "@fedkm/core",
    "@fedkm/core/defaults",
    "@fedkm/core/sources",
    "@fedkm/files",
    "@fedkm/pictures",
    "@fedkm/pictures/terminal",
    "@fedkm/pictures/ticks",
    "@fedkm/sql/dialects",
  ]);
});
