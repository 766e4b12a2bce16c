// Every limit stands in docs/protocol.md with the same number and the same sentence, and the page names no other.

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as keys from "../../src/keys/limits.ts";
import * as board from "../../src/masked/pace.ts";
import * as pace from "../../src/pace.ts";
import * as limits from "../../src/wire/limits.ts";

const page = read("../../../docs/protocol.md");

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), "utf8");
}

interface Row {
  readonly anchor: string;
  readonly name: string;
  readonly number: string;
  readonly sentence: string;
}

/** The rows of the tables under "## Limits", each with the anchor of the heading above it. */
function rowsOfPage(): Row[] {
  const [, section = ""] = page.split("\n## Limits\n");
  return section.split("\n### ").flatMap((part) => {
    const [heading] = part.split("\n");
    const anchor = heading.toLowerCase().replaceAll(" ", "-");
    return Array.from(part.matchAll(/^\| `(\w+)` +\| (.*?) +\| (.*?) +\|$/gm), ([, name, number, sentence]) => {
      return { anchor, name, number, sentence };
    });
  });
}

/** The constants of a source file with what their comments cite. */
function citations(file: string): Omit<Row, "number">[] {
  const comments = read(file).matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const (\w+) = /g);
  return Array.from(comments, ([, comment, name]) => {
    const text = comment.replace(/\s*\n \*\s*/g, " ").trim();
    const [, anchor = "", sentence = ""] = /^docs\/protocol\.md#([\w-]+): "(.*)"$/.exec(text) ?? [];
    return { anchor, name, sentence };
  });
}

const units = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, KiB: 1_024, MiB: 1_048_576 };

/** `5 min` as milliseconds, `1 MiB` as bytes, `64` as it is. */
function readNumber(number: string): number {
  const [digits, unit] = number.split(" ");
  return Number(digits) * (unit === undefined ? 1 : units[unit as keyof typeof units]);
}

/** The unit that the end of a constant's name asks for in the table. */
function unitsOf(name: string): RegExp {
  if (name.endsWith("_MILLISECONDS")) return /^\d+ (ms|s|min|h)$/;
  return /_BYTES(_|$)/.test(name) ? /^\d+ (KiB|MiB)$/ : /^[\d.e-]+$/;
}

describe.each([
  ["../../src/link/limits.ts", limits],
  ["../../src/pace.ts", pace],
  ["../../src/masked/pace.ts", board],
  ["../../src/keys/limits.ts", keys],
])("every constant of %s", (file, constants) => {
  const rows = rowsOfPage();
  const cited = citations(file);

  it("cites its row of docs/protocol.md word for word", () => {
    expect(cited.map(({ name }) => name).sort()).toEqual(Object.keys(constants).sort());
    for (const { anchor, name, sentence } of cited) {
      expect(rows.find((row) => row.name === name)).toMatchObject({ anchor, sentence });
    }
  });

  it.each(Object.entries(constants))("%s is %d there too", (name, value) => {
    const number = rows.find((row) => row.name === name)?.number ?? "";
    expect(number).toMatch(unitsOf(name));
    expect(readNumber(number)).toBe(value);
  });
});

it("docs/protocol.md#limits names no limit that the code does not have", () => {
  const names = rowsOfPage().map(({ name }) => name);
  expect([...names].sort()).toEqual([limits, pace, board, keys].flatMap((constants) => Object.keys(constants)).sort());
});
