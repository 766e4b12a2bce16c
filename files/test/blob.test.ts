// The same files as Blobs, with nothing of Node's, and from the file system: the same tables, refusals and labels.

import { openAsBlob, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import * as everywhere from "../src/index.ts";
import * as node from "../src/node.ts";
import { corpus } from "./corpus.ts";
import { seeded, temporaryFiles } from "./files.ts";
import { outcome } from "./outcome.ts";

const write = temporaryFiles();
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}.parquet`, import.meta.url));
const codecs = ["uncompressed", "snappy", "gzip", "zstd", "brotli", "lz4_raw", "second-version"];
const asFile = (path: string) => new File([readFileSync(path)], path);

test.each(corpus.map((own) => ({ name: own[0], own })))("$name is refused alike", async ({ own }) => {
  const [name, content, refusal, options] = own;
  const path = write(name, content);
  const [fromDisk, fromBlob] = await Promise.all([
    outcome(node.readTable(path, options)),
    outcome(everywhere.readTable(asFile(path), options)),
  ]);
  expect(fromBlob).toMatchObject({ message: expect.stringMatching(refusal) });
  expect(fromBlob).toEqual(fromDisk);
});

const rows = Array.from({ length: 20_000 }, (_, r) => `${r},${r / 7},"site ""${r % 3}"""`).join("\r\n");
const csv = `a,b,site\r\n${rows}`;
const jsonl = '{"a": 1, "b": 2.5, "site": "é"}\n{"b": 1e3, "a": -0.5, "site": "s"}\n';

test.each([
  ["x.csv", csv],
  ["x.csv.gz", gzipSync(csv)],
  ["x.tsv", `\uFEFF${csv.replaceAll(",", "\t")}`],
  ["x.jsonl", jsonl],
  ["x.ndjson.gz", gzipSync(jsonl)],
])("readTable and readLayout of %s give the same from a Blob", async (name, content) => {
  const path = write(name, content);
  const options = { deviceColumn: "site" };
  const fromDisk = await node.readTable(path, options);
  expect(await everywhere.readTable(asFile(path), options)).toEqual(fromDisk);
  expect(await node.readTable(asFile(path), options)).toEqual(fromDisk);
  expect(await everywhere.readLayout(asFile(path))).toEqual(await node.readLayout(path));
});

test.each(codecs)("readTable of Parquet (%s) gives the same from a Blob, whole, cut or changed", async (codec) => {
  const whole = readFileSync(fixture(codec));
  const random = seeded(11);
  const options = { columns: ["id", "x", "few"], deviceColumn: "site" };
  const path = write(`${codec}.parquet`, whole);
  const compare = async () => {
    const [fromDisk, fromBlob] = await Promise.all([
      outcome(node.readTable(path, options)),
      outcome(everywhere.readTable(asFile(path), options)),
    ]);
    return { fromDisk, fromBlob };
  };
  for (let at = -1; at < whole.length; at += 29) {
    const changed = Buffer.from(whole);
    if (at >= 0) changed[at] ^= 1 + Math.floor(255 * random());
    for (const content of [changed, whole.subarray(0, Math.max(4, at))]) {
      writeFileSync(path, content);
      const { fromDisk, fromBlob } = await compare();
      expect(fromBlob, `byte ${at}`).toEqual(fromDisk);
    }
  }
});

test.each([
  ["l.csv", csv],
  ["l.csv.gz", gzipSync(csv)],
  ["l.jsonl", jsonl],
  ["snappy.parquet", readFileSync(fixture("snappy"))],
])("labelFile of %s gives the same from a Blob", async (name, content) => {
  const path = write(name, content);
  const label = (row: number) => (row % 4 === 3 ? undefined : row % 4);
  const [fromDisk, fromBlob] = [[], []] as [Uint8Array[], Uint8Array[]];
  await node.labelFile(path, label, async (piece) => void fromDisk.push(piece));
  await everywhere.labelFile(asFile(path), label, async (piece) => void fromBlob.push(piece));
  const [disk, blob] = [fromDisk, fromBlob].map((pieces) => Buffer.concat(pieces));
  if (name.endsWith(".gz")) expect(gunzipSync(blob).equals(gunzipSync(disk))).toBe(true);
  else expect(blob.equals(disk)).toBe(true);
});

test("labelFile of a packed Blob says what is wrong with the text, or with what takes it", async () => {
  const text = `a,b\n${"1,2\n".repeat(2e5)}`;
  const label = (content: string, write: () => Promise<void>) =>
    everywhere.labelFile(new File([gzipSync(content)], "late.csv.gz"), () => 0, write);
  await expect(label(`${text}3,"4"5\n`, async () => {})).rejects.toThrow(/line 200002, column 2 must have a delimiter/);
  const full = async () => {
    throw new Error("no space left");
  };
  await expect(label(text, full)).rejects.toThrow("no space left");
});

test("a Blob without a name is called data, and one whose file has changed is refused", async () => {
  const nameless = everywhere.readTable(new Blob(["a,b\n1,x\n"]), { columns: ["b"] });
  await expect(nameless).rejects.toThrow(/^data, line 1, column "b" must hold numbers/);
  const path = write("moving.csv", "a,b\n1,2\n");
  const blob = await openAsBlob(path);
  writeFileSync(path, "a,b\n1,2\n3,4\n");
  await expect(everywhere.readTable(blob)).rejects.toThrow(
    "data must be a file that can be read, got one that changed or is gone; choose the file again",
  );
});
