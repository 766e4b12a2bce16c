// Delimited text as people and programs write it.

import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { defaultLimits, type ReadOptions, readLayout, readTable } from "../src/node.ts";
import { temporaryFiles } from "./files.ts";

const write = temporaryFiles();

async function read(name: string, text: string | Uint8Array, options: ReadOptions = {}) {
  const { columns, points, devices } = await readTable(write(name, text), options);
  return {
    columns,
    rows: points.rows,
    data: Array.from(points.data),
    ...(devices && { devices: devices.names, of: [...devices.of] }),
  };
}

const two = { columns: ["a", "b"], rows: 2, data: [1, 2.5, -3, 400] };

test.each([
  ["commas", "a,b\n1,2.5\n-3,4e2\n"],
  ["semicolons", "a;b\n1;2.5\n-3;4e2\n"],
  ["tabs", "a\tb\n1\t2.5\n-3\t4e2\n"],
  ["bars", "a|b\n1|2.5\n-3|4e2\n"],
  ["CRLF", "a,b\r\n1,2.5\r\n-3,4e2\r\n"],
  ["no last line end", "a,b\n1,2.5\n-3,4e2"],
  ["a byte order mark", "\uFEFFa,b\n1,2.5\n-3,4e2\n"],
  ["quoted cells", '"a","b"\n"1","2.5"\n"-3","4e2"\n'],
  ["spaces around cells", "a, b\n 1 , 2.5\n-3 ,4e2 \n"],
  ["blank lines", "\na,b\n\n1,2.5\n\n\n-3,4e2\n\n"],
])("readTable reads %s", async (_, text) => {
  expect(await read("two.csv", text)).toEqual(two);
  expect(await read("two.csv.gz", gzipSync(text))).toEqual(two);
});

test("readTable tells a header from rows", async () => {
  expect((await read("h1.csv", "1,2\n3,4\n")).columns).toEqual(["column1", "column2"]);
  expect((await read("h2.csv", "site,2019,2020\n1,2,3\n")).columns).toEqual(["site", "2019", "2020"]);
  expect((await read("h3.csv", "5.1,3.5,setosa\n4.9,3.0,setosa\n", { exclude: ["column3"] })).rows).toBe(2);
  expect((await read("h4.csv", "2019,2020\n1,2\n", { header: true })).columns).toEqual(["2019", "2020"]);
  expect((await read("h5.csv", ",a\n0,1\n")).columns).toEqual(["column1", "a"]);
});

test("readTable chooses columns in the order they are asked for", async () => {
  const text = "id,a,b,name\n7,1,2,x\n8,3,4,y\n";
  expect(await read("c.csv", text, { columns: ["b", "a"] })).toEqual({
    columns: ["b", "a"],
    rows: 2,
    data: [2, 1, 4, 3],
  });
  expect((await read("c.csv", text, { exclude: ["name", "id"] })).columns).toEqual(["a", "b"]);
});

test("readTable takes devices from a column, quoted or not", async () => {
  const text = 'site,a\nnorth,1\nsouth,2\n"north",3\n"a ""b""",4\n"two\nlines",5\nnorth,6\n';
  expect(await read("d.csv", text, { deviceColumn: "site" })).toEqual({
    columns: ["a"],
    rows: 6,
    data: [1, 2, 3, 4, 5, 6],
    devices: ["north", "south", 'a "b"', "two\nlines"],
    of: [0, 1, 0, 2, 3, 0],
  });
});

test("readTable keeps missing cells as NaN and counts them with their first line", async () => {
  const table = await readTable(write("m.csv", "a,b\n1,\n,NA\n3,?\n4,5\n"));
  expect(Array.from(table.points.data)).toEqual([1, Number.NaN, Number.NaN, Number.NaN, 3, Number.NaN, 4, 5]);
  expect(table.missing).toEqual([
    { count: 1, line: 3 },
    { count: 3, line: 2 },
  ]);
});

test("a blank line inside a single column is a missing value, at the end it is nothing", async () => {
  expect((await read("one.csv", "x\n1\n\n3\n\n\n")).data).toEqual([1, Number.NaN, 3]);
});

test("readTable reads across blocks, whatever stands at their ends", async () => {
  const rows = 330_000;
  const line = (r: number) => (r % 1000 === 0 ? `"${r}",${r / 7},"text, ""quoted""\nand more"` : `${r},${r / 7},plain`);
  const text = `a,b,c\n${Array.from({ length: rows }, (_, r) => line(r)).join("\n")}\n`;
  expect(text.length).toBeGreaterThan(2 * 4 * 2 ** 20);
  const { points } = await readTable(write("large.csv", text), { exclude: ["c"] });
  expect(points.rows).toBe(rows);
  for (let r = 0; r < rows; r++) {
    if (points.data[2 * r] !== r || points.data[2 * r + 1] !== Number(String(r / 7))) expect.fail(`row ${r}`);
  }
});

test("readTable grows beyond its estimate of the rows", async () => {
  const long = `1000000.0000000000000000,${"2".repeat(11)}.000000000000\n`.repeat(100_000);
  const short = "1,2\n".repeat(400_000);
  const { points } = await readTable(write("grow.csv", `a,b\n${long}${short}`));
  expect(points.rows).toBe(500_000);
  expect(Array.from(points.data.slice(-2))).toEqual([1, 2]);
});

test("readTable refuses more rows, columns and cells than its limits", async () => {
  const file = write("limits.csv", "a,b\n1,2\n3,4\n5,6\n");
  const limited = (limits: object) => readTable(file, { limits: { ...defaultLimits, ...limits } });
  await expect(limited({ rows: 2 })).rejects.toThrow(
    /line 4, column "a" must be among the first 2 rows .*got one more; split the file/,
  );
  await expect(limited({ cells: 4 })).rejects.toThrow(/line 4, column "a" must be among the first 2 rows/);
  await expect(limited({ columns: 1 })).rejects.toThrow(
    /line 1, column 2 must be among the first 1 columns, got 2 columns/,
  );
  await expect(limited({ fileBytes: 10 })).rejects.toThrow(/must be of at most 10 bytes, got 16/);
  await expect(limited({ lineBytes: 2 })).rejects.toThrow(/line 1, column "b" must end within 2 bytes/);
});

test("readLayout says what a file is like", async () => {
  const file = write("layout.tsv", "name\tx\ty\nann\t1\t\nbob\t2\t\n");
  expect(await readLayout(file)).toEqual({
    format: "csv",
    packed: false,
    dialect: { delimiter: 9, header: true, titles: 0 },
    columns: [
      { name: "name", kind: "text" },
      { name: "x", kind: "number" },
      { name: "y", kind: "empty" },
    ],
  });
});
