// Messy files of readers: none is clustered by an id, all give devices that can be linked, and what is refused can be cured
// by a choice of columns, of the decimal sign or of the column that names devices.

import { describe, expect, it } from "vitest";
import { type OwnChoice, readOwn } from "../src/playground/own.ts";

const file = (text: string, name = "own.csv") => new File([text], name);
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");
const wave = (i: number, by = 1) => (Math.sin(i * by) * 10 + (i % 3) * 20).toFixed(2);
const comma = (value: string) => value.replace(".", ",");
const sites = ["Nord", "Süd", "West"];

interface Messy {
  readonly what: string;
  readonly files: readonly File[];
  /** The columns that are clustered, without any choice or with this one. */
  readonly used: readonly string[];
  readonly devices: number;
  readonly choice?: OwnChoice;
}

const messy: readonly Messy[] = [
  {
    what: "plain",
    files: [file(`a,b\n${lines(60, (i) => `${wave(i)},${wave(i, 2)}`)}`)],
    used: ["a", "b"],
    devices: 12,
  },
  {
    what: "an id first",
    files: [file(`id,a,b\n${lines(60, (i) => `${i},${wave(i)},${wave(i, 2)}`)}`)],
    used: ["a", "b"],
    devices: 12,
  },
  {
    what: "patient numbers",
    files: [file(`patient_id,age,bmi\n${lines(60, (i) => `${90_000 + 7 * i},${20 + ((7 * i) % 50)},${wave(i)}`)}`)],
    used: ["age", "bmi"],
    devices: 12,
  },
  {
    what: "semicolons and decimal commas with an id",
    files: [file(`id;x;y\n${lines(60, (i) => `${i};${comma(wave(i))};${comma(wave(i, 2))}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "tabs",
    files: [file(`x\ty\n${lines(60, (i) => `${wave(i)}\t${wave(i, 2)}`)}`, "own.tsv")],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "a site column",
    files: [file(`site,x,y\n${lines(60, (i) => `${sites[i % 3]},${wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 3,
  },
  {
    what: "a site column that is not wanted",
    files: [file(`site,x,y\n${lines(60, (i) => `${sites[i % 3]},${wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
    choice: { deviceColumn: "" },
  },
  {
    what: "words between numbers",
    files: [file(`x,colour,y\n${lines(60, (i) => `${wave(i)},${["red", "blue"][i % 2]},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "gaps",
    files: [file(`x,y\n${lines(60, (i) => `${i % 9 === 0 ? "" : wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "NA for gaps",
    files: [file(`x,y\n${lines(60, (i) => `${i % 9 === 0 ? "NA" : wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "a byte order mark",
    files: [file(`\uFEFFx,y\n${lines(60, (i) => `${wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "Windows line ends",
    files: [file(`x,y\r\n${lines(60, (i) => `${wave(i)},${wave(i, 2)}`).replaceAll("\n", "\r\n")}\r\n`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "quoted cells",
    files: [file(`"x","y"\n${lines(60, (i) => `"${wave(i)}","${wave(i, 2)}"`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "a name with a comma",
    files: [file(`"size, cm",y\n${lines(60, (i) => `${wave(i)},${wave(i, 2)}`)}`)],
    used: ["size, cm", "y"],
    devices: 12,
  },
  {
    what: "a known answer",
    files: [file(`x,y,species\n${lines(60, (i) => `${wave(i)},${wave(i, 2)},${["a", "b", "c"][i % 3]}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "a constant column",
    files: [file(`x,y,one\n${lines(60, (i) => `${wave(i)},${wave(i, 2)},1`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "a row index without a name",
    files: [file(`,x,y\n${lines(60, (i) => `${i},${wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "an outlier",
    files: [file(`x,y\n${lines(60, (i) => `${i === 7 ? 1e6 : wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "few rows",
    files: [file(`x,y\n${lines(9, (i) => `${wave(i)},${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 3,
  },
  {
    what: "JSON lines",
    files: [
      file(
        lines(60, (i) => `{"x":${wave(i)},"y":${wave(i, 2)}}`),
        "own.jsonl",
      ),
    ],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "two files",
    files: ["north.csv", "south.csv"].map((name, at) =>
      file(`id,x,y\n${lines(30, (i) => `${i},${wave(i + at)},${wave(i, 2)}`)}`, name),
    ),
    used: ["x", "y"],
    devices: 2,
  },
  {
    what: "two files with other columns besides",
    files: ["x,y,z", "x,y,w"].map((head, at) =>
      file(`${head}\n${lines(30, (i) => `${wave(i + at)},${wave(i, 2)},${i}`)}`, `${at}.csv`),
    ),
    used: ["x", "y"],
    devices: 2,
  },
  {
    what: "no number but an id, and the id chosen",
    files: [file(`id,name\n${lines(60, (i) => `${i},n${i}`)}`)],
    used: ["id"],
    devices: 12,
    choice: { columns: ["id"] },
  },
  {
    what: "one column chosen of two",
    files: [file(`x,y\n${lines(60, (i) => `${wave(i)},${wave(i, 2)}`)}`)],
    used: ["y"],
    devices: 12,
    choice: { columns: ["y"] },
  },
  {
    what: "points that are thousands marks to the reader",
    files: [file(`x;y\n${lines(60, (i) => `1.${100 + i};${wave(i, 2)}`)}`)],
    used: ["x", "y"],
    devices: 12,
    choice: { decimal: "." },
  },
];

describe("a reader's file", () => {
  it.each(messy)("with $what is clustered by its measures", async ({ files, used, devices, choice }) => {
    const own = await readOwn(files, 12, 3, choice);
    expect(own.refusal).toBeUndefined();
    expect(own.columns.filter(({ isUsed }) => isUsed).map(({ name }) => name)).toEqual(used);
    expect(own.datasets).toHaveLength(devices);
    for (const { cols, data } of own.datasets) {
      expect(cols).toBe(used.length);
      expect(data.every(Number.isFinite)).toBe(true);
    }
  });

  it("without a usable column names its columns, so that one can be chosen", async () => {
    const own = await readOwn([file(`id,name\n${lines(60, (i) => `${i},n${i}`)}`)], 12, 3);
    expect(own.datasets).toEqual([]);
    expect(own.refusal).toBe("choose at least one column of numbers below");
    expect(own.columns.map(({ name, isNumber }) => [name, isNumber])).toEqual([
      ["id", true],
      ["name", false],
    ]);
  });
});
