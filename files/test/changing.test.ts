// Files that change under the reader, and disks that end under the writer.

import { appendFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { openFile } from "../src/node/file.ts";
import { defaultLimits, labelFile } from "../src/node.ts";
import { openFeed } from "../src/source/feed.ts";
import { openedByteFile } from "../src/source/source.ts";
import { seeded, temporaryFiles } from "./files.ts";

const write = temporaryFiles();

test.each([
  ["grown.csv", "a,b\n", "1.2345678,2.3456789\n3,4\n"],
  ["grown.jsonl", "", '{"a":1,"b":2}\n'],
  ["by-one.csv", "a,b\n1,2\n", "3"],
])("%s, grown before its first block is read, has changed", async (name, before, more) => {
  const file = write(name, before);
  const source = await openedByteFile(await openFile(file), defaultLimits);
  appendFileSync(file, more);
  await expect(openFeed(source, defaultLimits, () => 1)).rejects.toThrow(
    /as a whole must stay the same while it is read, got a change/,
  );
  await source.close();
});

test("labelFile refuses the line that readTable refuses as too long", async () => {
  const file = write("endless.csv", `a,b\n${"1,2\n".repeat(1e6)}3,${"4".repeat(3e6)}\n5,6\n`);
  const labelling = labelFile(
    file,
    () => 0,
    async () => {},
  );
  await expect(labelling).rejects.toThrow(/line 1000002, column "b" must end within 1048576 bytes/);
});

test.each([10, 200_000])(
  "labelFile of %i packed rows says that the disk is full, and nothing is left to fail",
  async (rows) => {
    const random = seeded(3);
    const text = `a,b\n${Array.from({ length: rows }, () => `${random()},${random()}\n`).join("")}`;
    // An unhandled rejection fails the run.
    const full = async () => {
      throw new Error("ENOSPC: no space left on device");
    };
    await expect(labelFile(write("full.csv.gz", gzipSync(text)), () => 0, full)).rejects.toThrow(/^ENOSPC/);
  },
);

test("labelFile of packed text says what is wrong with the text", async () => {
  const text = `a,b\n${"1,2\n".repeat(2e6)}3,"4"5\n`;
  const labelling = labelFile(
    write("late.csv.gz", gzipSync(text)),
    () => 0,
    async () => {},
  );
  await expect(labelling).rejects.toThrow(/line 2000002, column 2 must have a delimiter/);
});
