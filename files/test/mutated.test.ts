// Damaged CSV files: none crashes the reader, and every number that comes back stands in the file.

import { expect, test } from "vitest";
import { runs, testSeed } from "../../test/runs.ts";
import { readTable } from "../src/node.ts";
import { expectRefusal, seeded, temporaryFiles } from "./files.ts";

const FILES = runs({ short: 500, long: 5_000 });
const write = temporaryFiles();

/** A plain reader of its own, character by character: records of cells, or undefined if quotes do not fit. */
function records(text: string): string[][] | undefined {
  const all: string[][] = [];
  let cells: string[] = [];
  let at = 0;
  const content = text.endsWith("\n") || text === "" ? text : `${text}\n`;
  while (at < content.length) {
    const [blank] = cells.length === 0 ? (/^\r?\n/.exec(content.slice(at, at + 2)) ?? [""]) : [""];
    at += blank.length;
    if (blank !== "") continue;
    let cell = "";
    if (content[at] === '"') {
      for (at++; ; ) {
        if (at >= content.length) return undefined;
        if (content[at] !== '"') cell += content[at++];
        else if (content[at + 1] === '"') {
          cell += '"';
          at += 2;
        } else break;
      }
      at++;
      while (content[at] === " ") at++;
    } else while (content[at] !== "," && content[at] !== "\n") cell += content[at++];
    if (content[at] === "\r" && content[at + 1] === "\n") at++;
    cells.push(content[at] === "\n" ? cell.replace(/\r$/, "") : cell);
    if (content[at] === "\n") {
      all.push(cells);
      cells = [];
    } else if (content[at] !== ",") return undefined;
    at++;
  }
  return all;
}

/** Thousands that are apart, brackets and units. */
const AMOUNT = /\d[ .']\d{3}(?!\d)|\(\d|\d ?(?:[%a-zA-Z€$]|-(?:,|\r|\n))/;

/** What a cell says by the documented rules: a number, NaN for missing, undefined for neither. */
function meaning(cell: string): number | undefined {
  const text = cell.trim();
  if (/^(|na|n\/a|#n\/a|nan|null|none|\?)$/i.test(text)) return Number.NaN;
  // With points twice, or more often, they stand between thousands.
  if (/^[+-]?\d{1,3}(\.\d{3}){2,}$/.test(text)) return Number(text.replaceAll(".", ""));
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text) ? Number(text) : undefined;
}

/** Only the columns a and b are read. undefined: the file must be refused. */
function expected(text: string): number[] | undefined {
  const lines = records(text);
  if (lines === undefined || lines.length < 2) return undefined;
  const [header, ...body] = lines;
  // Carriage returns alone are line ends of another age, and refused as such.
  if (header.some((cell) => cell.includes("\r"))) return undefined;
  const places = ["a", "b"].map((name) => header.map((cell) => cell.trim()).indexOf(name));
  if (places.includes(-1) || header.filter((cell) => /^[ab]$/.test(cell.trim())).length !== 2) return undefined;
  const values: number[] = [];
  for (const cells of body) {
    if (cells.length !== header.length) return undefined;
    for (const place of places) {
      const value = meaning(cells[place]);
      if (value === undefined || Math.abs(value) > 2 ** 53) return undefined;
      values.push(value);
    }
  }
  return values;
}

const pieces = [
  ",",
  "\n",
  "\r\n",
  '"',
  '""',
  " ",
  "-",
  ".",
  "e",
  "0x1",
  "NaN",
  "1e400",
  "\t",
  ";",
  "\u0000",
  "é",
  "999999999999999999",
  "null",
  "\uFEFF",
];

function mutate(text: string, random: () => number): string {
  let mutated = text;
  const changes = 1 + Math.floor(3 * random());
  for (let change = 0; change < changes; change++) {
    const at = Math.floor(random() * (mutated.length + 1));
    const length = Math.floor(4 * random());
    const piece = random() < 0.7 ? pieces[Math.floor(random() * pieces.length)] : "";
    mutated = mutated.slice(0, at) + piece + mutated.slice(at + length);
  }
  return random() < 0.05 ? mutated.slice(0, Math.floor(random() * mutated.length)) : mutated;
}

test(`${FILES} mutated files are refused with a reason, or read exactly as a second reader reads them`, async () => {
  console.log(`mutated files: seed ${testSeed}`);
  const random = seeded(testSeed);
  let read = 0;
  for (let t = 0; t < FILES; t++) {
    const end = random() < 0.3 ? "\r\n" : "\n";
    const rows = Array.from({ length: 1 + Math.floor(6 * random()) }, () => {
      const x = (200 * (random() - 0.5)).toFixed(Math.floor(8 * random()));
      return `${x},${random() < 0.3 ? `"word, ${t}"` : `w${t}`},${random() < 0.2 ? `"${random()}"` : random()}`;
    });
    const text = mutate(["a,name,b", ...rows, ""].join(end), random);
    const file = write("mutated.csv", text);
    const options = { columns: ["a", "b"], delimiter: ",", header: true };
    const outcome = await readTable(file, options).catch((error: unknown) => error);
    // The reader's own guess of delimiter and header must not crash either.
    const guessed = await readTable(file).catch((error: unknown) => error);
    for (const error of [outcome, guessed].filter((own) => own instanceof Error)) {
      expectRefusal(error, file);
    }
    const marked = text.startsWith("\uFEFF") ? text.slice(1) : text;
    // Zero bytes are refused wherever they stand.
    const exact = text.includes("\u0000") ? undefined : expected(marked);
    // Amounts as people write them have tests of their own (tables/test/proposal.test.ts).
    if (exact === undefined && !(outcome instanceof Error) && AMOUNT.test(text)) continue;
    if (outcome instanceof Error) {
      if (exact !== undefined) expect.fail(`refused: ${outcome.message}\n${JSON.stringify(text)}`);
      continue;
    }
    read++;
    const { points } = outcome as Awaited<ReturnType<typeof readTable>>;
    expect(Array.from(points.data), JSON.stringify(text)).toEqual(exact);
  }
  // Neither all are refused nor none.
  expect(read / FILES).toBeGreaterThan(0.16);
  expect(read / FILES).toBeLessThan(0.9);
});
