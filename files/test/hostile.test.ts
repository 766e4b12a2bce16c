// Files that nobody should have written: each is refused in one line that says where and what helps, or read exactly.

import { expect, test } from "vitest";
import { checkMissingCells, readTable } from "../src/node.ts";
import { corpus } from "./corpus.ts";
import { expectRefusal, temporaryFiles } from "./files.ts";

const write = temporaryFiles();
test("the corpus has at least 60 files", () => {
  expect(new Set(corpus.map(([name]) => name)).size).toBeGreaterThanOrEqual(60);
});

test.each(corpus.map((own) => ({ name: own[0], own })))("$name is refused with place and remedy", async ({ own }) => {
  const [name, content, refusal, options] = own;
  const file = write(name, content);
  const error = await readTable(file, options)
    .then((table) => checkMissingCells(table, "refuse"))
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
  expect(expectRefusal(error, file).message).toMatch(refusal);
});

test("a file that grows while it is read is read again, whole", async () => {
  const { appendFileSync, promises } = await import("node:fs");
  const file = write("growing.csv", `a,b\n${"1,2\n".repeat(3_000_000)}`);
  const reading = readTable(file);
  // After these two the reader is past its first look at the file, and far from its end.
  for (let look = 0; look < 2; look++) await promises.stat(file);
  appendFileSync(file, "3,4\n");
  const { points } = await reading;
  expect(points.rows).toBe(3_000_001);
  expect(Array.from(points.data.slice(-2))).toEqual([3, 4]);
});

// What has no line and column: a path behind which there is no file to read, and a file refused for its size before it is
// read. One that keeps changing (below) has no place either.
test("a folder, a missing file and a file of 10 GB are refused at once", async () => {
  const { truncateSync } = await import("node:fs");
  const large = write("large.csv", "a,b\n");
  truncateSync(large, 10e9);
  await expect(readTable(large)).rejects.toThrow(
    /large\.csv as a whole must be of at most 2147483648 bytes, got 10000000000; split it into one file per device/,
  );
  await expect(readTable("/")).rejects.toThrow(/must be a file, got a folder; name its files/);
  await expect(readTable("no-such-file.csv")).rejects.toThrow(
    /^no-such-file.csv must be a file that can be read, got no such file or directory; check the path$/,
  );
});
