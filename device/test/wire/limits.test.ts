// The lists of docs/protocol.md#limits are made of wire/limits.ts. After a change `npx vitest run -u` writes them again.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import * as limits from "../../src/wire/limits.ts";

const pagePath = fileURLToPath(new URL("../../../docs/protocol.md", import.meta.url));
const source = readFileSync(new URL("../../src/wire/limits.ts", import.meta.url), "utf8");

interface Row {
  readonly name: string;
  readonly number: string;
  readonly sentence: string;
}

/** The largest unit in which a number is whole. */
function inUnits(value: number, units: readonly (readonly [string, number])[]): string {
  const [unit, size] = units.find(([, one]) => value % one === 0) ?? ["", 1];
  return `${value / size} ${unit}`;
}

function numberOf(name: string): string {
  const value = Object.entries(limits).find(([one]) => one === name)?.[1] ?? Number.NaN;
  if (name.endsWith("_MILLISECONDS")) {
    return inUnits(value, [
      ["h", 3_600_000],
      ["min", 60_000],
      ["s", 1_000],
      ["ms", 1],
    ]);
  }
  if (/_BYTES(_|$)/.test(name)) {
    return inUnits(value, [
      ["MiB", 1_048_576],
      ["KiB", 1_024],
    ]);
  }
  return String(value);
}

/** The titles of the source file, each with the constants below it. */
function lists(): { readonly title: string; readonly rows: readonly Row[] }[] {
  const [, ...parts] = source.split(/^\/\/ (?=[A-Z][a-z ]+\n\n)/m);
  return parts.map((part) => {
    const constants = part.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\nexport const (\w+) = /g);
    const rows = Array.from(constants, ([, comment, name]) => {
      return { name, number: numberOf(name), sentence: comment.replace(/\s*\n \*\s*/g, " ").trim() };
    });
    return { title: part.slice(0, part.indexOf("\n")), rows };
  });
}

function markdown({ title, rows }: ReturnType<typeof lists>[number]): string {
  return `### ${title}\n\n${inLines(rows.map(({ name, number }) => `\`${name}\` ${number}`).join(", "))}\n`;
}

/** As wide as the page. */
function inLines(item: string): string {
  const lines = [""];
  for (const word of item.split(" ")) {
    if (`${lines[0]}${word}`.length >= 120) lines.unshift("");
    lines[0] += `${word} `;
  }
  return lines
    .reverse()
    .map((line) => line.trimEnd())
    .join("\n");
}

it("every constant of wire/limits.ts stands under a title with a sentence", () => {
  const rows = lists().flatMap((list) => list.rows);
  expect(rows.map(({ name }) => name).sort()).toEqual(Object.keys(limits).sort());
  for (const { name, sentence } of rows) expect(sentence, name).toMatch(/^[A-Z`].*\.$/);
});

it("docs/protocol.md#limits shows every limit as the code has it", async () => {
  const page = readFileSync(pagePath, "utf8");
  const block = lists().map(markdown).join("\n");
  const written = page.replace(/(<!-- limits [^\n]*-->\n)[\s\S]*(<!-- end of limits -->)/, (_, begin, end) => {
    return `${begin}\n${block}\n${end}`;
  });
  expect(page).toContain("<!-- end of limits -->");
  await expect(written).toMatchFileSnapshot(pagePath);
});
