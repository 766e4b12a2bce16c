// Every number in a file is the double that Number makes of its text, to the last bit.

import { expect, test } from "vitest";
import { readTable } from "../src/node.ts";
import { seeded, temporaryFiles } from "./files.ts";

const write = temporaryFiles();

async function differences(texts: readonly string[]): Promise<string[]> {
  const { points } = await readTable(write("numbers.csv", `x,y\n${texts.map((text) => `${text},0`).join("\n")}\n`));
  expect(points.rows).toBe(texts.length);
  return texts.filter((text, r) => !Object.is(points.data[2 * r], Number(text)));
}

test("readTable gives the doubles of random decimals of 1 to 25 digits", async () => {
  const random = seeded(1);
  const digits = (n: number) => Array.from({ length: n }, () => Math.floor(10 * random())).join("");
  const sign = () => ["", "-", "+"][Math.floor(3 * random())];
  const texts = Array.from({ length: 40_000 }, () => {
    const whole = digits(Math.floor(13 * random()));
    const fraction = digits(Math.floor(14 * random()) + (whole === "" ? 1 : 0));
    const exponent = random() < 0.3 ? `e${Math.floor(random() * (13 - whole.length)) - Math.floor(30 * random())}` : "";
    return `${sign()}${whole}${fraction === "" ? "" : `.${fraction}`}${exponent}`;
  }).filter((text) => Math.abs(Number(text)) <= 1e12);
  expect(await differences(texts)).toEqual([]);
});

test("readTable gives back random doubles that were written out", async () => {
  const random = seeded(2);
  const texts = Array.from({ length: 40_000 }, () => String((random() - 0.5) * 10 ** Math.floor(24 * random() - 12)));
  expect(await differences(texts)).toEqual([]);
});

test("readTable rounds correctly in the middle between two doubles and next to it", async () => {
  const random = seeded(3);
  const texts = Array.from({ length: 5000 }, () => {
    // An odd number of 54 bits over a power of two has a finite decimal and lies exactly between two doubles.
    const bits = BigInt(2 ** 53) + 2n * BigInt(Math.floor(random() * 2 ** 52)) + 1n;
    const shift = 14 + Math.floor(30 * random());
    const decimal = bits * 5n ** BigInt(shift) + BigInt(Math.floor(3 * random()) - 1);
    const text = decimal.toString().padStart(shift + 1, "0");
    return `${text.slice(0, -shift)}.${text.slice(-shift)}`;
  }).filter((text) => Math.abs(Number(text)) <= 1e12);
  expect(texts.length).toBeGreaterThan(3000);
  expect(await differences(texts)).toEqual([]);
});

test("readTable keeps signs of zero, tiny numbers and the limits of exact arithmetic", async () => {
  const texts = ["-0", "0", "+0.0", "-0e5", "4.9e-324", "2.2250738585072011e-308", "1e-400", ".5", "5.", "007.250"];
  const edges = [
    "9007199254.740993",
    "900719925474.0991",
    "900719925474.09925",
    "0.1",
    "0.30000000000000004",
    "1e12",
    "1e22",
  ];
  expect(
    await differences([...texts, ...edges.slice(0, -1), "123456789012345678e-6", "000000000000000000000001"]),
  ).toEqual([]);
});
