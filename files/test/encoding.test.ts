// Categories and transforms, against definitions on pooled rows.

import { fileURLToPath } from "node:url";
import { matrix } from "@fedkm/core";
import { expect, test } from "vitest";
import {
  applyScaling,
  checkUnseenCategories,
  encodedColumns,
  encodedMeans,
  encodeTable,
  encodingOf,
  rankTransform,
  readTable,
  undoScaling,
} from "../src/node.ts";
import { expectRefusal, seeded, temporaryFiles } from "./files.ts";

const write = temporaryFiles();
const asJsonLines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");

const csv = write("trees.csv", 'wood,height,wet\noak,1,true\n"ash",2,false\n,3,true\noak,4,NA\n');
const json = write(
  "trees.jsonl",
  asJsonLines([
    { wood: "oak", height: 1, wet: true },
    { wood: "ash", height: 2, wet: false },
    { wood: null, height: 3, wet: true },
    { wood: "oak", height: 4 },
  ]),
);

test.each([csv, json])("categories of %s become columns of 0 and 1, missing ones stay missing", async (file) => {
  const table = await readTable(file, { categories: "auto" });
  const encoding = encodingOf([table]);
  expect(encodedColumns(encoding)).toEqual(["wood=ash", "wood=oak", "height", "wet=false", "wet=true"]);
  const { points, missing, columns } = encodeTable(table, encoding);
  const nothing = Number.NaN;
  expect(columns).toEqual(encodedColumns(encoding));
  expect(Array.from(points.data)).toEqual([
    ...[0, 1, 1, 0, 1],
    ...[1, 0, 2, 1, 0],
    ...[nothing, nothing, 3, 0, 1],
    ...[0, 1, 4, nothing, nothing],
  ]);
  expect(missing.map(({ count }) => count)).toEqual([1, 1, 0, 1, 1]);
});

test("values of all devices are in the encoding, whoever comes first", async () => {
  const other = await readTable(write("more.csv", "wood,height,wet\nyew,1,true\n"), { categories: "auto" });
  const own = await readTable(csv, { categories: "auto" });
  expect(encodingOf([own, other])).toEqual(encodingOf([other, own]));
  expect(encodingOf([own, other])[0].values).toEqual(["ash", "oak", "yew"]);
});

test("none is a value among words, and missing among numbers or where --na names it", async () => {
  const file = write("none.csv", "garage,area\nNone,1\ndouble,None\nNA,3\nNone,4\n");
  const table = await readTable(file, { categories: "auto" });
  expect(table.categories?.[0]?.words).toEqual(["None", "double"]);
  expect(Array.from(table.points.data)).toEqual([0, 1, 1, Number.NaN, Number.NaN, 3, 0, 4]);
  const other = await readTable(file, { categories: "auto", na: ["none"] });
  expect(other.categories?.[0]?.words).toEqual(["double"]);
});

test("numbers that are named are categories too, and nothing else is", async () => {
  const table = await readTable(write("codes.csv", "zip,a\n10115,1\n20095,2\n10115,3\n"), { categories: ["zip"] });
  expect(table.categories).toEqual([{ words: ["10115", "20095"], lines: [2, 3] }, undefined]);
  expect(Array.from(table.points.data)).toEqual([0, 1, 1, 2, 0, 3]);
});

test("categories of a Parquet file are its texts, booleans and named numbers", async () => {
  const file = fileURLToPath(new URL("fixtures/snappy.parquet", import.meta.url));
  const table = await readTable(file, { columns: ["site", "flag", "few"], categories: ["site", "flag", "few"] });
  const plain = await readTable(file, { columns: ["few"] });
  const words = table.categories?.[2]?.words ?? [];
  const few = Array.from({ length: table.points.rows }, (_, r) => Number(words[table.points.data[3 * r + 2]]));
  expect(few).toEqual(Array.from(plain.points.data));
  expect(new Set(table.categories?.[1]?.words)).toEqual(new Set(["true", "false"]));
});

test("one value more than a category may have is refused with its line", async () => {
  const file = write("names.csv", `name,a\n${Array.from({ length: 300 }, (_, i) => `n${i},1\n`).join("")}`);
  const error = await readTable(file, { categories: "auto" }).catch((thrown: unknown) => thrown);
  expect(expectRefusal(error, file).message).toMatch(/line 258, column "name" must have one of at most 256 different/);
});

test("a value that the encoding lacks is refused with its line, or missing by policy", async () => {
  const encoding = [{ name: "wood", values: ["ash"] }, { name: "height" }, { name: "wet", values: ["false", "true"] }];
  const table = await readTable(csv, { categories: "auto" });
  expect(() => checkUnseenCategories(table, encoding, "refuse")).toThrow(
    /line 2, column "wood" must be one of "ash", got "oak"/,
  );
  checkUnseenCategories(table, encoding, "drop");
  expect(encodeTable(table, encoding).missing[0].count).toBe(3);
});

test("a mean comes back as numbers and as shares, the largest first", () => {
  const encoding = [{ name: "height" }, { name: "wood", values: ["ash", "oak", "yew"] }];
  expect(encodedMeans(encoding, [2, 0.25, 0.75, 0])).toEqual([
    { name: "height", mean: 2 },
    {
      name: "wood",
      shares: [
        { value: "oak", share: 0.75 },
        { value: "ash", share: 0.25 },
        { value: "yew", share: 0 },
      ],
    },
  ]);
});

test("ranks are shares of smaller rows, ties share the middle, and undoing gives the values back", () => {
  const random = seeded(3);
  const values = Array.from({ length: 5000 }, () => Math.exp(4 * random()));
  const zeros = Array.from({ length: 5000 }, () => 0);
  const devices = [values.slice(0, 1000), [...values.slice(1000), ...zeros]].map((own) => matrix(own.map((x) => [x])));
  const transform = rankTransform(devices, 0);
  const scaling = { offset: [0], scale: [1], transforms: [transform] };
  const points = matrix([[0], ...values.map((x) => [x])]);
  applyScaling(points, scaling);
  expect(points.data[0]).toBeCloseTo(0.25, 2);
  const sorted = [...values].sort((a, b) => a - b);
  values.forEach((value, i) => {
    const rank = 0.5 + (0.5 * sorted.indexOf(value)) / 5000;
    // Between a heap of equal values and the next knot ranks rise from the heap's middle on.
    if (rank > 0.5 + 1 / 64) expect(Math.abs(points.data[i + 1] - rank)).toBeLessThan(1 / 64);
  });
  const undone = undoScaling(points, scaling);
  for (const i of [17, 99, 1234]) expect(undone.data[i + 1]).toBeCloseTo(values[i], 6);
});
