// Messy files of readers, as they come from spreadsheets, instruments and other countries.

import type { OwnChoice } from "../src/playground/own.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));
const file = (text: string | Uint8Array<ArrayBuffer>, name = "own.csv") => new File([text], name);
const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i)).join("\n");
const wave = (i: number, by = 1) => (Math.sin(i * by) * 10 + (i % 3) * 20).toFixed(2);
const comma = (value: string) => value.replace(".", ",");
const sites = ["Nord", "Süd", "West"];
const table = (head: string, line: (i: number) => string, count = 60) => file(`${head}\n${lines(count, line)}`);
const plain = table("x,y", (i) => `${wave(i)},${wave(i, 2)}`);

interface Messy {
  readonly what: string;
  readonly files: readonly File[];
  /** The columns that are clustered, without any choice or with this one. */
  readonly used: readonly string[];
  readonly devices: number;
  readonly choice?: OwnChoice;
  readonly k?: number;
}

export const messyFiles: readonly Messy[] = [
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
  {
    what: "Windows' letters in names and cells",
    files: [file(bytes(`Größe;Gewicht;Ort\n${lines(60, (i) => `${wave(i)};${wave(i, 2)};${sites[i % 3]}`)}`))],
    used: ["Größe", "Gewicht"],
    devices: 12,
  },
  {
    what: "a date of every visit",
    files: [table("visit,x,y", (i) => `2026-0${1 + (i % 9)}-1${i % 9},${wave(i)},${wave(i, 2)}`)],
    used: ["visit", "x", "y"],
    devices: 12,
  },
  {
    what: "a site that is always the same",
    files: [table("site,x,y", (i) => `Nord,${wave(i)},${wave(i, 2)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "gaps in half of the rows",
    files: [table("x,y,z", (i) => `${i % 2 === 0 ? "" : wave(i)},${wave(i, 2)},${wave(i, 3)}`)],
    used: ["x", "y", "z"],
    devices: 12,
  },
  {
    what: "-999 for gaps",
    files: [table("x,y", (i) => `${i % 9 === 0 ? "-999" : wave(i)},${wave(i, 2)}`)],
    used: ["x", "y"],
    devices: 12,
  },
  {
    what: "fewer rows than k for each device",
    files: [table("x,y", (i) => `${wave(i)},${wave(i, 2)}`, 5)],
    used: ["x", "y"],
    devices: 2,
  },
  {
    what: "columns called device and cluster",
    files: [table("device,cluster", (i) => `${wave(i)},${wave(i, 2)}`)],
    used: ["device", "cluster"],
    devices: 12,
  },
];

/** What cannot be clustered as it is, and a choice on the same screen with which it can. */
export const refusedFiles: readonly (Omit<Messy, "used" | "devices"> & { readonly cure: Partial<Messy> })[] = [
  {
    what: "no number but an id",
    files: [table("id,name", (i) => `${i},n${i}`)],
    cure: { choice: { columns: ["id"] } },
  },
  { what: "one row", files: [file("x,y\n1,2\n")], cure: { files: [plain] } },
  { what: "no row", files: [file("x,y\n")], cure: { files: [plain] } },
  { what: "nothing at all", files: [file("")], cure: { files: [plain] } },
  {
    what: "a quote that is not closed",
    files: [file('x,y\n1,2\n"3,4\n5,6\n')],
    cure: { files: [plain] },
  },
  {
    what: "a column of devices that names one",
    files: [table("site,x,y", (i) => `Nord,${wave(i)},${wave(i, 2)}`)],
    choice: { deviceColumn: "site" },
    cure: { choice: { deviceColumn: "" } },
  },
  {
    what: "a column of devices that names too many",
    files: [table("id,x,y", (i) => `p${i},${wave(i)},${wave(i, 2)}`, 1200)],
    choice: { deviceColumn: "id" },
    cure: { choice: { deviceColumn: "" } },
  },
  {
    what: "no column chosen",
    files: [plain],
    choice: { columns: [] },
    cure: { choice: { columns: ["x"] } },
  },
];
