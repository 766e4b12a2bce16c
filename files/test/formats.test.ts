// JSON lines, patterns, missing cells, scaling, profiles and labels.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import { matrix, stack } from "@fedkm/core";
import { expect, test } from "vitest";
import {
  applyScaling,
  checkMissingCells,
  completeTableRows,
  expandPatterns,
  labelFile,
  profile,
  type ReadOptions,
  readTable,
  scalingMeans,
  standardScaling,
  undoScaling,
} from "../src/node.ts";
import { seeded, temporaryFiles } from "./files.ts";

const write = temporaryFiles();

test("readTable reads JSON lines: numbers as they are, null and absent keys as missing", async () => {
  const text = '{"a": 1, "b": 2.5, "site": "n"}\n\n{"b": 1e3, "a": null, "site": "s"}\r\n{"a": -0.1, "site": "n"}';
  for (const [name, bytes] of [
    ["x.jsonl", text],
    ["x.ndjson.gz", gzipSync(text)],
  ] as const) {
    const { columns, points, devices, missing } = await readTable(write(name, bytes), { deviceColumn: "site" });
    expect(columns).toEqual(["a", "b"]);
    expect(Array.from(points.data)).toEqual([1, 2.5, Number.NaN, 1000, -0.1, Number.NaN]);
    expect(devices?.names).toEqual(["n", "s"]);
    expect(missing.map(({ line }) => line)).toEqual([3, 4]);
  }
});

test("a key that every object inherits is missing where a line lacks it", async () => {
  const file = write("inherited.jsonl", '{"constructor": 1, "__proto__": 5}\n{"__proto__": 6}\n{"constructor": 2}\n');
  const { columns, points } = await readTable(file);
  expect(columns).toEqual(["constructor", "__proto__"]);
  expect(Array.from(points.data)).toEqual([1, 5, Number.NaN, 6, 2, Number.NaN]);
});

// Every quote inside was once a place to begin anew, which took minutes.
test("JSON inside of a text is passed over once, and what it holds is no key", async () => {
  const inner = JSON.stringify(Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, `a": ${i}`])));
  const line = JSON.stringify({ a: 1, payload: inner, b: 2 });
  expect(line.length).toBeGreaterThan(400_000);
  const { points } = await readTable(write("payload.jsonl", line), { columns: ["a", "b"] });
  expect(Array.from(points.data)).toEqual([1, 2]);
  const twice = write("twice.jsonl", `${line.slice(0, -1)}, "a": 3}`);
  await expect(readTable(twice, { columns: ["a"] })).rejects.toThrow(/line 1, column "a" must be there once/);
});

test("checkMissingCells refuses with counts and the first place; drop and mean let rows pass", async () => {
  const table = await readTable(write("missing.csv", "a,b,c\n1,2,3\n,5,\n7,,9\n"));
  expect(() => checkMissingCells(table, "refuse")).toThrow(
    /missing.csv, line 3, column "a" must have a value, got 3 missing cells in the file \(1 in "a", 1 in "b", 1 in "c"\); drop their rows, or fill them with the mean$/,
  );
  checkMissingCells(table, "drop");
  checkMissingCells(table, "mean");
  expect(Array.from(completeTableRows(table) ?? [])).toEqual([1, 0, 0]);
  const empty = await readTable(write("empty.csv", "a,b\n1,\n2,\n"));
  expect(() => checkMissingCells(empty, "mean")).toThrow(
    /column "b" must have a value in some row, got none; leave out column "b"$/,
  );
});

test("standardScaling from sums of devices is that of the pooled rows", () => {
  const random = seeded(5);
  const devices = [40, 1, 7].map((rows) =>
    matrix(Array.from({ length: rows }, () => [1e6 + random(), 3, -5 * random()])),
  );
  const { data, rows, cols } = stack(devices);
  const { offset, scale } = standardScaling(devices);
  for (let c = 0; c < cols; c++) {
    const column = Array.from({ length: rows }, (_, r) => data[r * cols + c]);
    const mean = column.reduce((a, b) => a + b) / rows;
    const deviation = Math.sqrt(column.reduce((sum, x) => sum + (x - mean) ** 2, 0) / rows);
    expect(offset[c]).toBeCloseTo(mean, 9);
    expect(scale[c]).toBeCloseTo(c === 1 ? 1 : deviation, 9);
  }
  const copy = matrix([[1e6, 3, -2]]);
  applyScaling(copy, { offset, scale });
  expect(Array.from(undoScaling(copy, { offset, scale }).data)).toEqual([1e6, 3, -2].map((x) => expect.closeTo(x, 6)));
  expect(scalingMeans([{ data: Float64Array.of(1, Number.NaN), rows: 1, cols: 2 }, matrix([[3, 8]])])).toEqual([2, 8]);
});

test("profile finds ids without order, and values that stand for nothing measured", async () => {
  const row = (r: number) => {
    const shuffled = 1000 + ((r * 7) % 40);
    const sparse = r * r * 31;
    const measured = r % 10 === 0 ? -200 : 20 + (r % 7);
    const skewed = r < 38 ? r % 5 : 60 + r;
    return [shuffled, sparse, sparse, measured, 3 - (r % 4), skewed].join(",");
  };
  const rows = Array.from({ length: 40 }, (_, r) => row(r)).join("\n");
  const { columns } = profile(await readTable(write("ids.csv", `code,patient_id,area,co,few,skewed\n${rows}\n`)));
  expect(columns.map(({ namesRows }) => namesRows)).toEqual([true, true, false, false, false, false]);
  expect(columns.map(({ sentinel }) => sentinel)).toEqual([
    undefined,
    undefined,
    undefined,
    { value: -200, count: 4 },
    undefined,
    undefined,
  ]);
});

test("profile finds usual codes that are near other values or most of them, and ids by any form of their name", async () => {
  const row = (r: number) => {
    const near = r % 5 === 0 ? -200 : 700 + ((r * 37) % 1400);
    const most = r % 10 === 0 ? 200 + r : -200;
    const high = r % 8 === 0 ? 9999 : (r * 83) % 4000;
    const inside = r % 8 === 0 ? 999 : (r * 83) % 1000;
    return [near, most, high, inside, r * r, r * r].join(",");
  };
  const rows = Array.from({ length: 60 }, (_, r) => row(r)).join("\n");
  const { columns } = profile(await readTable(write("codes.csv", `near,most,high,inside,customerId,grid\n${rows}\n`)));
  expect(columns.map(({ sentinel }) => sentinel?.value)).toEqual([-200, -200, 9999, undefined, undefined, undefined]);
  expect(columns.map(({ namesRows }) => namesRows)).toEqual([false, false, false, false, true, false]);
});

test("profile finds ranges, constants, row numbers, copies and repeated rows", async () => {
  const { columns, repeatedRows, rows } = profile(
    await readTable(write("p.csv", "id,a,b,c,d\n1,5,2,5,7\n2,6,2,6,7\n3,,2,,7\n4,6,2,6,8\n")),
  );
  expect({ rows, repeatedRows }).toEqual({ rows: 4, repeatedRows: 0 });
  expect(columns[0]).toEqual({
    name: "id",
    missing: 0,
    range: { least: 1, mean: 2.5, most: 4 },
    isConstant: false,
    countsRows: true,
    namesRows: false,
  });
  expect(columns[1].missing).toBe(1);
  expect(columns[2].isConstant).toBe(true);
  expect(columns[3].copyOf).toBe("a");
  expect(columns.every(({ sentinel }) => sentinel === undefined)).toBe(true);
  expect(profile(await readTable(write("r.csv", "a,b\n1,2\n3,4\n1,2\n1,2\n"))).repeatedRows).toBe(2);
});

test("expandPatterns finds files by * ? and **, each once, sorted", () => {
  const folder = dirname(write("seen.csv", ""));
  for (const name of ["g/b.csv", "g/a.csv", "g/a.txt", "g/deep/er/c.csv", "g/.hidden.csv"]) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), "");
  }
  const found = (...patterns: string[]) =>
    expandPatterns(patterns.map((own) => join(folder, own))).map((file) => file.slice(folder.length + 1));
  expect(found("g/*.csv", "g/a.csv")).toEqual(["g/a.csv", "g/b.csv"]);
  expect(found("g/?.txt")).toEqual(["g/a.txt"]);
  expect(found("g/**/*.csv")).toEqual(["g/a.csv", "g/b.csv", "g/deep/er/c.csv"]);
  expect(found("plain.csv")).toEqual(["plain.csv"]);
  expect(() => found("g/*.parquet")).toThrow(/must match a file, got no match; check the pattern/);
});

async function labelled(name: string, content: string | Uint8Array, options: ReadOptions = {}): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await labelFile(
    write(name, content),
    (row) => (row === 1 ? undefined : row),
    async (piece) => void pieces.push(piece),
    options,
  );
  return Buffer.concat(pieces);
}

test.each([
  ["a,b\n1,2\n3,4\n5,6\n", "a,b,cluster\n1,2,0\n3,4,\n5,6,2\n"],
  ["\uFEFFa;b\r\n1;2\r\n\r\n3;4\r\n5;6", "\uFEFFa;b;cluster\r\n1;2;0\r\n\r\n3;4;\r\n5;6;2"],
  ['a\tcluster\n1\t"x\ny"\n2\t"say ""hi"""\n', 'a\tcluster\tcluster_2\n1\t"x\ny"\t0\n2\t"say ""hi"""\t\n'],
  ["x\n1\n\n3\n\n", "x,cluster\n1,0\n,\n3,2\n\n"],
  ["1,2\n3,4\n", "1,2,0\n3,4,\n"],
])("labelFile keeps every byte of %j and adds a column", async (before, after) => {
  expect((await labelled("l.csv", before)).toString()).toBe(after);
  expect(gunzipSync(await labelled("l.csv.gz", gzipSync(before))).toString()).toBe(after);
});

test("labelFile adds a key to JSON lines", async () => {
  const text = (await labelled("l.jsonl", '{"a": 1}\n{ "a":2 }\n{}\n')).toString();
  expect(text).toBe('{"a": 1, "cluster": 0}\n{ "a":2, "cluster": null}\n{"cluster": 2}\n');
});

test("labelFile shadows no key of any JSON line", async () => {
  const text = (
    await labelled("l.jsonl", '{"a": 1}\n{"a": 2, "cluster_2": 8}\n{"a": 3, "cluster": "mine"}\n')
  ).toString();
  expect(text).toBe(
    '{"a": 1, "cluster_3": 0}\n{"a": 2, "cluster_2": 8, "cluster_3": null}\n{"a": 3, "cluster": "mine", "cluster_3": 2}\n',
  );
});

test("labelFile labels every row that readTable reads, over many blocks", async () => {
  const rows = 260_000;
  const text = `a,b\r\n${Array.from({ length: rows }, (_, r) => `${r},${r % 10 === 0 ? '"1.25"' : "1.0000000000000"}`).join("\r\n")}`;
  const { points } = await readTable(write("many.csv", await labelled("source.csv", text)));
  expect(points.rows).toBe(rows);
  for (let r = 0; r < rows; r++) if (r !== 1 && points.data[3 * r + 2] !== r) expect.fail(`row ${r}`);
});
