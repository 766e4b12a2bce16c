// Cells and pages on a border: offsets of time zones, pages of nulls, stated sizes, delimiters that are as even as others,
// texts that say how they are spoken, decimals next to the middle of two doubles.

import { fileURLToPath } from "node:url";
import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, test } from "vitest";
import { readLayout, readTable } from "../src/node.ts";
import { expectRefusal, temporaryFiles } from "./files.ts";
import { row, xlsx } from "./zips.ts";

const write = temporaryFiles();

describe("offsets of time zones", () => {
  const moments: readonly (readonly [string, number])[] = [
    ["2026-01-01T00:00:00Z", 0],
    ["2026-01-01T00:00:00+00:00", 0],
    ["2026-01-01T00:00:00-00:00", 0],
    // East of Greenwich the same clock shows the time earlier.
    ["2026-01-01T00:00:00+01:00", -60],
    ["2026-01-01T00:00:00-01:00", 60],
    ["2026-01-01T00:00:00+0530", -330],
    ["2026-01-01T00:00:00-0930", 570],
    ["2026-01-01T02:30:00+02:30", 0],
    ["2025-12-31T19:00:00-05:00", 0],
    ["2026-01-01T00:00:59+00:01", -1 / 60],
  ];
  test("move a moment against their sign, in hours and minutes", async () => {
    const file = write("zones.csv", `at,y\n${moments.map(([text]) => `${text},1`).join("\n")}\n`);
    const { points } = await readTable(file, { dates: "days" });
    const midnight = Date.UTC(2026, 0, 1) / 86_400_000;
    for (const [r, [text, minutes]] of moments.entries())
      expect(points.data[2 * r], text).toBeCloseTo(midnight + minutes / 1440, 9);
  });
});

describe("a Parquet page", () => {
  const column = (name: string, data: (number | null)[]) => ({ name, data, type: "DOUBLE" as const, nullable: true });
  const fileOf = (...data: (number | null)[][]) =>
    new Uint8Array(
      parquetWriteBuffer({ columnData: data.map((own, c) => column(`c${c}`, own)), codec: "UNCOMPRESSED" }),
    );

  test.each([1, 2, 63, 64, 65, 300])("of %d nulls has no values", async (rows) => {
    const file = write("nulls.parquet", fileOf(Array(rows).fill(null), Array(rows).fill(7)));
    const { points, missing } = await readTable(file);
    expect(Array.from(points.data)).toEqual(Array.from({ length: rows }, () => [Number.NaN, 7]).flat());
    expect(missing[0]).toMatchObject({ count: rows });
  });

  test("of nulls as DuckDB writes it, one run for all rows, has no values", async () => {
    const file = fileURLToPath(new URL("fixtures/nulls.parquet", import.meta.url));
    const { points, missing } = await readTable(file);
    expect(Array.from(points.data)).toEqual(Array.from({ length: 300 }, () => [Number.NaN, 7]).flat());
    expect(missing[0]).toEqual({ count: 300, line: 1 });
  });

  test.each([0, 1, 298, 299])("with one null keeps all other values at their rows (null in row %d)", async (at) => {
    const values = Array.from({ length: 300 }, (_, r) => (r === at ? null : r));
    const { points } = await readTable(write("one.parquet", fileOf(values)));
    expect(Array.from(points.data)).toEqual(values.map((value) => value ?? Number.NaN));
  });

  /** The file with another size in its first page's header, as large as it is written. */
  function stating(bytes: Uint8Array, size: number): Uint8Array {
    // Field 1 is the page's kind, field 2 its size when unpacked: each a byte and a number of seven bits a byte, doubled.
    const from = 7;
    expect([bytes[4], bytes[6]]).toEqual([0x15, 0x15]);
    let to = from;
    while (bytes[to] >= 128) to++;
    const digits: number[] = [];
    for (let left = 2 * size; left > 0 || digits.length === 0; left = Math.floor(left / 128)) digits.push(left % 128);
    const number = digits.map((digit, i) => (i < digits.length - 1 ? digit + 128 : digit));
    // Field 3 is its size in the file, less here: the header has grown.
    expect(bytes[to + 1]).toBe(0x15);
    return Uint8Array.of(...bytes.subarray(0, from), ...number, 0x15, 2 * 8, ...bytes.subarray(to + 3));
  }

  test.each([
    [2 ** 28 - 1, false],
    [2 ** 28, false],
    [2 ** 28 + 1, true],
    [2 ** 30, true],
  ])("that states %d bytes is refused for its size: %s", async (size, isTooLarge) => {
    const file = write("stating.parquet", stating(fileOf([1, 2, 3]), size));
    const before = process.memoryUsage().arrayBuffers;
    const error = await readTable(file).catch((error: unknown) => error);
    expect(expectRefusal(error, file).message.includes(`a page of ${size} unpacked bytes`)).toBe(isTooLarge);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2 ** 27);
  });
});

describe("the delimiter of a file", () => {
  test.each([
    // Both cut every line into two; only one of them gives numbers.
    ["a;b\n1,5;2,5\n3,5;4,5\n5,5;6,5\n", ["a", "b"]],
    ["a,b;c\n1,x;p\n4,y;q\n7,z;r\n", ["a", "b;c"]],
    ["a;b,c\n1;x,p\n4;y,q\n7;z,r\n", ["a", "b,c"]],
    ["a|b,c\n1|2,3\n4|5,6\n7|8,9\n", ["a", "b,c"]],
    ["when,x;y\n10:30,1;x\n10:40,2;y\n10:50,3;z\n", ["when", "x;y"]],
  ])("is the one that leaves numbers: %j", async (content, columns) => {
    const layout = await readLayout(write("even.csv", content));
    expect(layout.columns.map(({ name }) => name)).toEqual(columns);
  });
});

describe("texts of a workbook that say how they are spoken", () => {
  const spoken = (text: string, sound: string) =>
    `<c t="inlineStr"><is><t>${text}</t><rPh sb="0" eb="1"><t>${sound}</t></rPh></is></c>`;

  test("are read without it, and so are the texts after them", async () => {
    const rows = [
      row(1, spoken("place", "PLACE"), "kind", "x"),
      row(2, spoken("east", "EAST"), "oak", 1),
      row(3, "west", spoken("elm", "ELM"), 2),
      row(4, spoken("east", "EAST"), "elm", 3),
      row(5, "west", "oak", 4),
    ];
    const file = write("spoken.xlsx", xlsx(rows.join("")));
    const { devices, columns, categories } = await readTable(file, { deviceColumn: "place", categories: "auto" });
    expect(devices?.names).toEqual(["east", "west"]);
    expect(Array.from(devices?.of ?? [])).toEqual([0, 1, 0, 1]);
    expect(columns).toEqual(["kind", "x"]);
    expect(categories?.[0]?.words).toEqual(["oak", "elm"]);
  });
});

describe("decimals next to the middle of two doubles", () => {
  /** Whole numbers n below 10^18 for which n 10^exponent is very near such a middle. */
  function nearMiddles(exponent: number): bigint[] {
    return [1n, 2n, 3n, 4n, 5n, 6n].flatMap((bits) => {
      // n 10^exponent in units of the last place is n p / q, with p / q about 2^-bits.
      let [p, q] = exponent < 0 ? [1n, 10n ** BigInt(-exponent)] : [10n ** BigInt(exponent), 1n];
      while (p << bits > q) q *= 2n;
      while (p << (bits + 1n) < q) p *= 2n;
      // Convergents a / b of p / q: n b is nearly whole, so n with n a in the middle of b is nearly in the middle.
      const found: bigint[] = [];
      let [a, b, lastA, lastB, high, low] = [1n, 0n, 0n, 1n, p, q];
      while (low > 0n && b < 10n ** 18n) {
        const whole = high / low;
        [a, b, lastA, lastB, high, low] = [whole * a + lastA, whole * b + lastB, a, b, low, high - whole * low];
        if (b < 2n ** 50n || b >= 10n ** 18n) continue;
        for (const target of [b / 2n, b / 2n + 1n]) found.push((target * inverse(a, b)) % b);
      }
      return found.filter((n) => {
        const places = (n * p) / q;
        return places >= 2n ** 52n && places < 2n ** 53n;
      });
    });
  }

  function inverse(a: bigint, modulus: bigint): bigint {
    let [r, next, s, nextS] = [modulus, a % modulus, 0n, 1n];
    while (next > 0n) [r, next, s, nextS] = [next, r % next, nextS, s - (r / next) * nextS];
    return ((s % modulus) + modulus) % modulus;
  }

  test("are rounded as Number rounds them", async () => {
    const texts = Array.from({ length: 46 }, (_, i) => i - 40).flatMap((exponent) =>
      nearMiddles(exponent).map((n) => `${n}e${exponent}`),
    );
    expect(texts.length).toBeGreaterThan(50);
    const { points } = await readTable(write("middles.csv", `x,y\n${texts.map((text) => `${text},0`).join("\n")}\n`));
    expect(texts.filter((text, r) => !Object.is(points.data[2 * r], Number(text)))).toEqual([]);
  });
});
