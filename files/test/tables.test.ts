// One table as a dozen programs write it: every file gives the same numbers. fixtures/make-tables.py made them.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import * as everywhere from "../src/index.ts";
import {
  encodeTable,
  encodingOf,
  labelFile,
  nameOfLabelled,
  type ReadOptions,
  readLayout,
  readTable,
} from "../src/node.ts";
import { temporaryFiles } from "./files.ts";
import { row, xlsx } from "./zips.ts";

const write = temporaryFiles();
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/tables/${name}`, import.meta.url));
const numbers = [21.5, 3.1, 13.25, 1.6, 22, 2.9, 12.5, 1.75, 20.75, 3.3, 13, 1.5, 21.125, 3, 12, 1.7];
const all: ReadOptions = { categories: "auto", dates: "days" };

test.each([
  ["rows.csv", {}],
  ["rows.csv.zip", {}],
  ["objects.json", {}],
  ["openpyxl.xlsx", { sheet: "Trees" }],
  ["openpyxl.xlsx", { sheet: "2" }],
  ["libreoffice.xlsx", {}],
] as const)("%s has numbers, words, booleans and dates", async (name, options) => {
  const reference = await readTable(fixture("rows.csv"), all);
  const columns = reference.columns;
  const table = await readTable(fixture(name), { ...all, columns, ...options });
  const encoding = encodingOf([table]);
  expect(encoding).toEqual(encodingOf([reference]));
  expect(Array.from(encodeTable(table, encoding).points.data)).toEqual(
    Array.from(encodeTable(reference, encoding).points.data),
  );
  expect(table.points.data[4]).toBe(Date.UTC(2026, 2, 1) / 86_400_000);
});

test.each([
  ["plain.npy", {}],
  ["fortran.npy", {}],
  ["one.npz", {}],
  ["two.npz", { sheet: "rows" }],
  ["arrays.json", {}],
  ["records.npy", {}],
  ["big-endian.npy", {}],
] as const)("%s has the same numbers", async (name, options) => {
  const { points } = await readTable(fixture(name), options);
  const isShort = name === "records.npy" || name === "big-endian.npy";
  points.data.forEach((value, i) => {
    if (isShort) expect(Math.fround(value)).toBe(Math.fround(numbers[i]));
    else expect(value).toBe(numbers[i]);
  });
});

test.each(["libreoffice.xlsx", "rows.csv.zip", "one.npz", "arrays.json"])(
  "%s is read where there is no Node",
  async (name) => {
    const options = name === "one.npz" ? {} : { columns: ["height_m", "ring_mm"] };
    const blob = new File([readFileSync(fixture(name))], name);
    const { points } = await everywhere.readTable(blob, options);
    expect(Array.from(points.data)).toEqual(numbers);
  },
);

test("a German export is read with its decimal commas, points between thousands and letters", async () => {
  const options: ReadOptions = { encoding: "latin1", exclude: ["holz"] };
  const { points, columns } = await readTable(fixture("excel-german.csv"), options);
  expect(columns).toEqual(["höhe", "ring"]);
  expect(Array.from(points.data)).toEqual(numbers.map((value, i) => (i % 2 === 0 ? 1000 * value : value)));
});

test("LibreOffice's calculated values are read, and the formulas of openpyxl are not taken for missing cells", async () => {
  const { points } = await readTable(fixture("libreoffice.xlsx"), { columns: ["twice"] });
  expect(Array.from(points.data)).toEqual(numbers.filter((_, i) => i % 2 === 0).map((value) => 2 * value));
  await expect(readTable(fixture("formulas.xlsx"), { columns: ["twice"] })).rejects.toThrow(/formula without a value/);
});

test("sheets and titles: all sheets are named, a title above the header is none", async () => {
  const layout = await readLayout(fixture("openpyxl.xlsx"), { sheet: "Trees" });
  expect(layout).toMatchObject({ format: "xlsx", sheets: ["Notes", "Trees"] });
  expect(layout.columns.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    "height_m number",
    "ring_mm number",
    "wood text",
    "wet boolean",
    "felled date",
  ]);
});

test("days from 1904, days before March 1900, elapsed times and missing values", async () => {
  const parts = {
    "xl/workbook.xml": '<workbook><workbookPr date1904="1"/><sheets><sheet name="S" r:id="rId1"/></sheets></workbook>',
  };
  const rows = row(1, "d", "t") + row(2, '<c s="1"><v>0</v></c>', '<c s="2"><v>1.5</v></c>');
  const later = await readTable(write("1904.xlsx", xlsx(rows, parts)), { dates: "days" });
  expect(Array.from(later.points.data)).toEqual([Date.UTC(1904, 0, 1) / 86_400_000, 1.5]);
  const early =
    row(1, "d", "n") +
    row(2, '<c s="1"><v>1</v></c>', 1) +
    row(3, '<c s="1"><v>61</v></c>', '<c t="e"><v>#N/A</v></c>');
  const first = await readTable(write("1900.xlsx", xlsx(early)), { dates: "days" });
  expect(first.points.data[0]).toBe(Date.UTC(1900, 0, 1) / 86_400_000);
  expect(first.points.data[2]).toBe(Date.UTC(1900, 2, 1) / 86_400_000);
  expect(first.missing[1]).toEqual({ count: 1, line: 3 });
});

test("labels go into the format of the file, or into CSV where that has no place for them", async () => {
  const labelled = async (name: string, options = {}) => {
    const pieces: Uint8Array[] = [];
    await labelFile(
      fixture(name),
      (r) => r % 2,
      async (piece) => void pieces.push(piece.slice()),
      options,
    );
    return Buffer.concat(pieces).toString();
  };
  expect((await labelled("openpyxl.xlsx", { sheet: "Trees", as: "csv" })).split("\n").slice(0, 2)).toEqual([
    "height_m,ring_mm,wood,wet,felled,cluster",
    "21.5,3.1,oak,true,2026-03-01,0",
  ]);
  expect((await labelled("plain.npy")).split("\n")[2]).toBe("13.25,1.6,1");
  expect((await labelled("rows.csv.zip")).split("\n")[1]).toBe("21.5,3.1,oak,true,2026-03-01,0");
  expect(JSON.parse(await labelled("objects.json"))[1]).toMatchObject({ wood: "pine", cluster: 1 });
  expect(JSON.parse(await labelled("arrays.json")).slice(0, 2)).toEqual([
    ["height_m", "ring_mm", "cluster"],
    [21.5, 3.1, 0],
  ]);
  const names = ["openpyxl.xlsx", "plain.npy", "one.npz", "rows.csv.zip", "objects.json", "rows.csv"];
  expect(await Promise.all(names.map((name) => nameOfLabelled(fixture(name))))).toEqual([
    ...["openpyxl.xlsx", "plain.csv", "one.csv", "rows.csv", "objects.json", "rows.csv"],
  ]);
});

test("codes for missing values, any delimiter, dates with times and epoch milliseconds", async () => {
  const file = write("codes.csv", "a^b^c\n-200^1767225600000^2026-03-01T12:00:00Z\n5^999^2026-03-01 06:00\n");
  const { points, missing } = await readTable(file, { delimiter: "^", na: ["-200", "999"], dates: "days" });
  const day = Date.UTC(2026, 2, 1) / 86_400_000;
  expect(Array.from(points.data)).toEqual([Number.NaN, 1767225600000, day + 0.5, 5, Number.NaN, day + 0.25]);
  expect(missing.map(({ count, line }) => [count, line])).toEqual([
    [1, 2],
    [1, 3],
    [0, 0],
  ]);
  const spaced = write("spaced.txt", "a b\n1 2\n3 4\n");
  expect(Array.from((await readTable(spaced, { delimiter: " " })).points.data)).toEqual([1, 2, 3, 4]);
  const utf16 = write("utf16.csv", Buffer.from("\uFEFFa;b\n1,5;2\n", "utf16le"));
  expect(Array.from((await readTable(utf16, { encoding: "utf16", decimal: "," })).points.data)).toEqual([1.5, 2]);
});

test("decimal commas are read to the last bit, as points are", async () => {
  const texts = [
    "0,1",
    "123456789,123456789",
    "1,7976931348623157",
    "2,2250738585072014e-3",
    "-0,000000000000123456789012345",
  ];
  const file = write("commas.csv", `x;y\n${texts.map((text) => `${text};1`).join("\n")}\n`);
  const { points } = await readTable(file, { decimal: "," });
  texts.forEach((text, r) => {
    expect(points.data[2 * r]).toBe(Number(text.replace(",", ".")));
  });
});

test("a large JSON array on one line is read in pieces", async () => {
  const rows = Array.from({ length: 300_000 }, (_, i) => ({ a: i, b: -i, note: "ä".repeat(i % 7) }));
  const { points } = await readTable(write("large.json", JSON.stringify(rows)), { columns: ["a", "b"] });
  expect(points.rows).toBe(300_000);
  expect(Array.from(points.data.slice(-2))).toEqual([299_999, -299_999]);
  expect(readFileSync(fixture("arrays.json"), "utf8")).toContain("height_m");
});
