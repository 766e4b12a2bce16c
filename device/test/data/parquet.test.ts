// Parquet as DuckDB writes it, in every codec; values exactly, and back again with labels.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { DataError, labelFile, readLayout, readTable } from "../../src/data/index.ts";
import { temporaryFiles } from "./files.ts";

const write = temporaryFiles();
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.parquet`, import.meta.url));
const codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw", "second-version"];
const rows = Array.from({ length: 12 }, (_, i) => i);
const price = (i: number, digits: number) => Number((i * 1.1 - 2).toFixed(digits));

describe.each(codecs)("%s", (codec) => {
  const isDelta = codec === "second-version";

  test("numbers of every type are read exactly", async () => {
    const columns = ["id", "x", "f", "price", "wide", "big", "few", ...(isDelta ? [] : ["unsigned"])];
    const { points, missing } = await readTable(fixture(codec), { columns });
    const expected = rows.map((i) => [
      i,
      i % 5 === 3 ? Number.NaN : i / 7,
      Math.fround(i / 3),
      price(i, 2),
      price(i, 3),
      i * 1e8,
      i % 3,
      ...(isDelta ? [] : [4294967295 - i]),
    ]);
    expect(Array.from(points.data)).toEqual(expected.flat());
    expect(missing[1]).toEqual({ count: 2, line: 4 });
  });

  test("a column of texts or numbers names the devices", async () => {
    const { devices } = await readTable(fixture(codec), { columns: ["id"], deviceColumn: "site" });
    expect(devices?.names).toEqual(["north", "south"]);
    expect(Array.from(devices?.of ?? [])).toEqual(rows.map((i) => i % 2));
    expect((await readTable(fixture(codec), { columns: ["id"], deviceColumn: "few" })).devices?.names).toHaveLength(3);
  });

  // The one with delta encoding has a column that cannot be read exactly, so it is not copied either: see below.
  if (isDelta) return;

  test("labelFile adds a column and keeps the others", async () => {
    const pieces: Uint8Array[] = [];
    const leftOut = await labelFile(
      fixture(codec),
      (row) => (row === 2 ? undefined : row % 4),
      async (piece) => void pieces.push(piece),
    );
    expect(leftOut).toEqual([]);
    const labelled = write("labelled.parquet", Buffer.concat(pieces));
    const before = await readLayout(fixture(codec));
    expect((await readLayout(labelled)).columns).toEqual([...before.columns, { name: "cluster", kind: "number" }]);
    const numeric = before.columns.filter(({ kind }) => kind === "number").map(({ name }) => name);
    const [own, kept] = await Promise.all(
      [fixture(codec), labelled].map((file) => readTable(file, { columns: numeric, deviceColumn: "site" })),
    );
    expect(kept).toEqual({ ...own, file: labelled });
    const labels = await readTable(labelled, { columns: ["cluster"], deviceColumn: "moment" });
    expect(Array.from(labels.points.data)).toEqual(rows.map((row) => (row === 2 ? Number.NaN : row % 4)));
    const moments = await readTable(fixture(codec), { columns: ["id"], deviceColumn: "moment" });
    expect(labels.devices?.names).toEqual(moments.devices?.names);
  });
});

test("columns that are no numbers are refused by name, with the arguments that help", async () => {
  await expect(readTable(fixture("snappy"))).rejects.toThrow(
    /row 1, column "site" must hold numbers, got other values in "site", "day", "moment", "flag"; leave them out with --exclude site,day,moment,flag, or choose with --columns id,x,f,price,wide,big,unsigned,few/,
  );
});

test("unsigned numbers in delta encoding, which the decoder would get wrong, are refused", async () => {
  const refusal =
    /column "unsigned" must be stored plainly, got delta encoding of unsigned numbers; leave it out with --exclude unsigned/;
  await expect(readTable(fixture("second-version"), { columns: ["unsigned"] })).rejects.toThrow(refusal);
  await expect(
    labelFile(
      fixture("second-version"),
      () => 0,
      async () => {},
    ),
  ).rejects.toThrow(refusal);
});

test("a Parquet file that was cut or changed is refused, never misread", async () => {
  const whole = readFileSync(fixture("snappy"));
  const columns = ["id", "x", "few"];
  const expected = await readTable(fixture("snappy"), { columns });
  let refused = 0;
  for (let at = 0; at < whole.length; at += 13) {
    const cut = write("cut.parquet", whole.subarray(0, at));
    await expect(readTable(cut, { columns }), `cut at ${at}`).rejects.toThrow(DataError);
    const changed = Buffer.from(whole);
    changed[at] ^= 0xff;
    writeFileSync(cut, changed);
    try {
      // A flipped byte inside of values is another value: Parquet without checksums cannot tell. But rows stay rows.
      expect((await readTable(cut, { columns })).points.rows).toBe(expected.points.rows);
    } catch (error) {
      expect(error, `changed at ${at}`).toBeInstanceOf(DataError);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(10);
});
