// Small files that are read as a whole: links and bounds, and records of any text.

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import * as everywhere from "../src/index.ts";
import { csvRecords, DataError, readBounds, readLinks } from "../src/node.ts";
import { temporaryFiles } from "./files.ts";

const write = temporaryFiles();
const names = ["north", "a, b", "west"];

test.each([
  ["links.csv", 'from,to,weight\nnorth,"a, b",2\n\nwest, north\n'],
  ["links.csv.gz", gzipSync('\uFEFFnorth;"a, b";2\r\nwest;north;\r\n')],
  ["links.json", '[["north", "a, b", 2], ["west", "north"]]'],
  ["links.txt", "north|a, b|2\nwest|north|1\n"],
])("readLinks reads %s, from disk and from a Blob", async (name, content) => {
  const path = write(name, content);
  const expected = [
    [0, 1, 2],
    [2, 0, 1],
  ];
  expect(await readLinks(path, names)).toEqual(expected);
  expect(await everywhere.readLinks(new File([Buffer.from(content)], name), names)).toEqual(expected);
});

test("readBounds gives bounds in the order of the columns", async () => {
  const path = write("bounds.tsv", 'column\tleast\tmost\n"a, b"\t0\t1\nheight\t-5\t2.5e1\n');
  expect(await readBounds(path, ["height", "a, b"])).toEqual([
    { least: -5, most: 25 },
    { least: 0, most: 1 },
  ]);
});

test.each([
  ["gone.csv", undefined, /gone\.csv must be a file that can be read, got no such file or directory; check the path$/],
  [
    "bytes.csv",
    Buffer.from("a,0,1\n\xe9,1,2\n", "latin1"),
    /bytes\.csv, line 2 must be UTF-8 text, got byte 0xe9; save/,
  ],
  ["quote.csv", 'a,0,1\nb,"0,1\n', /quote\.csv, line 2, column 2 must close every quote, got one that stays open/],
  ["after.csv", 'a,0,1\n"b"x,0,1\n', /after\.csv, line 2, column 1 must have a delimiter or the line's end after a/],
  ["cut.csv.gz", gzipSync("a,0,1\n").subarray(0, 12), /cut\.csv\.gz, line 1 must come from whole gzip data/],
  ["cells.csv", "a,0\n", /cells\.csv, line 1, column "a" must have a least and a larger most value, got "a,0"; fix/],
  ["order.csv", "a,1,0\n", /order\.csv, line 1, column "a" must have a least and a larger most value, got "a,1,0"/],
])("readBounds refuses %s with its place", async (name, content, refusal) => {
  const path = content === undefined ? name : write(name, content);
  await expect(readBounds(path, ["a"])).rejects.toThrow(refusal);
});

test("csvRecords reads quotes, inner line ends and no last line end", () => {
  expect(csvRecords("a text", 'a,"b ""c"", d"\r\n\r\n"e\nf",g')).toEqual([
    ["a", 'b "c", d'],
    ["e\nf", "g"],
  ]);
  expect(csvRecords("a text", "")).toEqual([]);
});

test("a refusal is data: its position, rule, value and remedies say all that its line does", () => {
  const remedies = [{ kind: "leave-out-columns", columns: ["b"] } as const];
  const error = new DataError({ file: "x.csv", line: 2, column: "b" }, "be a number", '"tall"', remedies);
  const { position, rule, got } = error;
  expect({ position, rule, got, remedies: error.remedies }).toEqual({
    position: { file: "x.csv", line: 2, column: "b" },
    rule: "be a number",
    got: '"tall"',
    remedies,
  });
  expect(error.message).toBe('x.csv, line 2, column "b" must be a number, got "tall"; leave out column "b"');
  expect(error.withoutContents).toBe('x.csv, line 2, column "b" must be a number');
  expect(error.worded(({ kind }, position) => `${kind} ${position}`)).toMatch(/got "tall"; leave-out-columns first$/);
});
