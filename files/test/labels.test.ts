// Labelled files in other formats than their own: the same cells come back, and the same labels.

import { expect, test } from "vitest";
import { type AddedColumn, type LabelFormat, labelFile, readTable } from "../src/node.ts";
import { temporaryFiles } from "./files.ts";

const write = temporaryFiles();

const text = 'code,x,who\n007,1.5,"a, ""b"""\n010,-2e-3,<c>&\n011,,d\n';
const rows = ["007", "010", "011"];
const further: AddedColumn[] = [
  { name: "cluster_name", kind: "text", of: (row) => ["low", undefined, 'h"igh'][row] },
  { name: "distance", kind: "real", of: (row) => [0.1 + 0.2, undefined, 3][row] },
];

async function labelled(file: string, as?: LabelFormat): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  await labelFile(
    file,
    (row) => [2, undefined, 0][row],
    async (piece) => void pieces.push(piece.slice()),
    { further, ...(as && { as }) },
  );
  return Buffer.concat(pieces);
}

const csv = write("who.csv", text);

test("CSV keeps its bytes, with all columns behind them", async () => {
  expect((await labelled(csv)).toString()).toBe(
    'code,x,who,cluster,cluster_name,distance\n007,1.5,"a, ""b""",2,low,0.30000000000000004\n010,-2e-3,<c>&,,,\n' +
      '011,,d,0,"h""igh",3\n',
  );
});

test("every byte of a Windows file comes back, the euro sign among them", async () => {
  // All bytes that windows-1252 gives a letter from 128 on; five have none.
  const letters = Array.from({ length: 128 }, (_, i) => 128 + i).filter(
    (byte) => ![129, 141, 143, 144, 157].includes(byte),
  );
  const lines = letters.map((byte, i) =>
    Buffer.concat([Buffer.from(`${i};`), Buffer.from([byte]), Buffer.from("\r\n")]),
  );
  const bytes = Buffer.concat([Buffer.from("x;sign\r\n"), ...lines]);
  const pieces: Uint8Array[] = [];
  const put = async (piece: Uint8Array) => void pieces.push(piece.slice());
  await labelFile(write("windows.csv", bytes), () => 7, put, { encoding: "latin1" });
  const copy = Buffer.concat(pieces).toString("latin1");
  expect(copy).toBe(
    bytes
      .toString("latin1")
      .replace("sign\r", "sign;cluster\r")
      .replace(/([\x80-\xff])\r/g, "$1;7\r"),
  );
});

test("CSV as JSON lines: numbers are numbers, and codes stay as they are written", async () => {
  const lines = (await labelled(csv, "jsonl"))
    .toString()
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toEqual([
    { code: "007", x: 1.5, who: 'a, "b"', cluster: 2, cluster_name: "low", distance: 0.1 + 0.2 },
    { code: "010", x: -0.002, who: "<c>&", cluster: null, cluster_name: null, distance: null },
    { code: "011", x: null, who: "d", cluster: 0, cluster_name: 'h"igh', distance: 3 },
  ]);
});

test.each(["parquet", "xlsx", "jsonl"] as const)(
  "CSV as %s reads as the same numbers and words, and back",
  async (as) => {
    const file = write(`who.${as}`, await labelled(csv, as));
    const options = { columns: ["x", "cluster", "distance"], deviceColumn: "code" };
    const { points, devices } = await readTable(file, options);
    expect(Array.from(points.data)).toEqual([1.5, 2, 0.1 + 0.2, -0.002, Number.NaN, Number.NaN, Number.NaN, 0, 3]);
    expect(devices?.names).toEqual(rows);
    const words = await readTable(file, { columns: ["who"], categories: ["who"] });
    expect(words.categories?.[0]?.words).toEqual(['a, "b"', "<c>&", "d"]);
    const back = (await labelled(file, "csv")).toString().split("\n");
    expect(back[0]).toBe("code,x,who,cluster,cluster_name,distance,cluster_2,cluster_name_2,distance_2");
    expect(back[1]).toBe('007,1.5,"a, ""b""",2,low,0.30000000000000004,2,low,0.30000000000000004');
  },
);

test("labels of many pages and of many rows without one come back from Parquet", async () => {
  const count = 300_000;
  const file = write("many.csv", `x\n${Array.from({ length: count }, (_, r) => r).join("\n")}\n`);
  const pieces: Uint8Array[] = [];
  const labelOf = (row: number) => (row % 1000 < 3 ? undefined : row % 7);
  const keep = async (piece: Uint8Array) => void pieces.push(piece.slice());
  await labelFile(file, () => 0, keep, { as: "parquet" });
  const plain = write("many.parquet", Buffer.concat(pieces.splice(0)));
  await labelFile(plain, labelOf, keep);
  const { points } = await readTable(write("many-labelled.parquet", Buffer.concat(pieces)), { columns: ["cluster_2"] });
  expect(Array.from(points.data)).toEqual(Array.from({ length: count }, (_, r) => labelOf(r) ?? Number.NaN));
});
