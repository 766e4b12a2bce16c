// Parquet as DuckDB writes it, in every codec; values exactly, and back again with labels.

import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { labelFile, readLayout, readTable } from "../src/node.ts";
import { expectRefusal, seeded, temporaryFiles } from "./files.ts";

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

  // The one with delta encoding has a column that cannot be read exactly: see below.
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

test("decimal numbers that only the logical type states are scaled, and stay so with labels", async () => {
  const logical_type = { type: "DECIMAL", precision: 9, scale: 2 } as const;
  const types = { small: "INT32", large: "INT64", bytes: "BYTE_ARRAY", fixed: "FIXED_LEN_BYTE_ARRAY" } as const;
  const schema = Object.entries(types).map(([name, type]) => ({
    name,
    type,
    repetition_type: "REQUIRED" as const,
    logical_type,
    ...(name === "fixed" ? { type_length: 2 } : {}),
  }));
  // 1250 and -399, big-endian in two's complement.
  const bytes = [Uint8Array.of(0x04, 0xe2), Uint8Array.of(0xfe, 0x71)];
  const data = { small: [1250, -399], large: [1250n, -399n], bytes, fixed: bytes };
  const buffer = parquetWriteBuffer({
    schema: [{ name: "schema", num_children: 4 }, ...schema],
    columnData: Object.entries(data).map(([name, values]) => ({ name, data: values })),
  });
  const file = write("logical.parquet", new Uint8Array(buffer));
  const columns = Object.keys(types);
  const expected = [12.5, -3.99].flatMap((value) => columns.map(() => value));
  expect(Array.from((await readTable(file)).points.data)).toEqual(expected);
  const pieces: Uint8Array[] = [];
  await labelFile(
    file,
    () => 0,
    async (piece) => void pieces.push(piece),
  );
  const labelled = await readTable(write("logical-labelled.parquet", Buffer.concat(pieces)), { columns });
  expect(Array.from(labelled.points.data)).toEqual(expected);
});

test("columns that are no numbers are refused by name, with the columns that help", async () => {
  await expect(readTable(fixture("snappy"))).rejects.toThrow(
    /row 1, column "site" must hold numbers, got dates in "day", "moment", text in "site", booleans in "flag"; leave out columns "site", "day", "moment", "flag", choose columns "id", "x", "f", "price", "wide", "big", "unsigned", "few", take columns "site", "flag" as categories, or read dates as days$/,
  );
});

test("unsigned numbers in delta encoding, which the decoder would get wrong, are refused", async () => {
  const refusal =
    /column "unsigned", row group 1, page 1, byte \d+ must be stored plainly, got delta encoding of unsigned numbers; leave out column "unsigned", or write it in another encoding$/;
  await expect(readTable(fixture("second-version"), { columns: ["unsigned"] })).rejects.toThrow(refusal);
  // Labels come behind its bytes, which nobody has to understand for that.
  const pieces: Uint8Array[] = [];
  await labelFile(
    fixture("second-version"),
    () => 3,
    async (piece) => void pieces.push(piece),
  );
  const labelled = Buffer.concat(pieces);
  const before = readFileSync(fixture("second-version"));
  const footer = before.readUInt32LE(before.length - 8);
  expect(labelled.subarray(0, before.length - 8 - footer)).toEqual(before.subarray(0, before.length - 8 - footer));
  const { points } = await readTable(write("delta.parquet", labelled), { columns: ["cluster"] });
  expect(new Set(points.data)).toEqual(new Set([3]));
});

test.each(codecs)("%s, cut or changed: refused with its place, never misread", async (codec) => {
  const whole = readFileSync(fixture(codec));
  const random = seeded(7);
  const columns = ["id", "x", "few"];
  let refused = 0;
  for (let at = 0; at < whole.length; at += 13) {
    const file = write("cut.parquet", whole.subarray(0, at));
    const cut = await readTable(file, { columns }).catch((error: unknown) => error);
    // Without its first letters it is text like any other.
    if (at >= 4) expectRefusal(cut, file);
    const changed = Buffer.from(whole);
    changed[4 + ((at + Math.floor(13 * random())) % (whole.length - 4))] ^= 1 + Math.floor(255 * random());
    writeFileSync(file, changed);
    try {
      // A flipped byte inside of values is another value: Parquet without checksums cannot tell. But rows stay rows.
      expect((await readTable(file, { columns })).points.rows).toBe(rows.length);
    } catch (error) {
      expectRefusal(error, file);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(10);
});

test("a page that states more than it can hold is refused before anything is reserved for it", async () => {
  const whole = readFileSync(fixture("zstd"));
  // The first page's header: field 1 its type, field 2 its unpacked size, each as a zigzag number of 7-bit groups.
  expect([...whole.subarray(4, 7)]).toEqual([0x15, 0x00, 0x15]);
  const size = whole.subarray(7).findIndex((byte) => byte < 128) + 1;
  const inflated = Buffer.concat([
    whole.subarray(0, 7),
    Buffer.alloc(size, 0xff).fill(0x7f, size - 1),
    whole.subarray(7 + size),
  ]);
  const file = write("inflated.parquet", inflated);
  const error = await readTable(file, { columns: ["id"] }).catch((thrown: unknown) => thrown);
  expect(expectRefusal(error, file).message).toMatch(/column "id", row group 1, page 1, byte 4 must be/);
});
