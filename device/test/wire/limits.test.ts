// Every limit of a device stands in wire/limits.ts, under a title and with a sentence that says what it means.

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import * as limits from "../../src/wire/limits.ts";

const source = readFileSync(new URL("../../src/wire/limits.ts", import.meta.url), "utf8");

it("every constant of wire/limits.ts stands under a title with a sentence", () => {
  const [, ...parts] = source.split(/^\/\/ (?=[A-Z][a-z ]+\n\n)/m);
  const found = parts.flatMap((part) =>
    Array.from(part.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const (\w+) = /g), ([, comment, name]) => {
      expect(comment.replace(/\s*\n \*\s*/g, " ").trim(), name).toMatch(/^[A-Z`].*\.$/);
      return name;
    }),
  );
  expect(found.sort()).toEqual(Object.keys(limits).sort());
});
