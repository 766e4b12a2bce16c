// fedkm fit with one thread and with several: the same bits.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { normalStream, randomStream } from "@fedkm/core";
import { expect, test } from "vitest";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();

test("--threads changes no bit of the model and the report of 2,400,000 numbers", async () => {
  const normal = normalStream(randomStream(1, "threads"));
  const files = ["a", "b"].map((name) => {
    const rows = Array.from({ length: 150_000 }, (_, r) =>
      Array.from({ length: 8 }, (_, c) => (normal() + 3 * ((r + c) % 4)).toFixed(3)).join(),
    );
    const file = join(folder.path, `${name}.csv`);
    writeFileSync(file, `${["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"].join()}\n${rows.join("\n")}\n`);
    return file;
  });
  const results: string[] = [];
  for (const threads of ["1", "2", "3"]) {
    const out = join(folder.path, threads);
    const { code, stderr } = await outcome("fit", "--as-is", ...files, "--k", "4", "--threads", threads, "--out", out);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    // With one thread the report is made in one process, otherwise in two.
    results.push(["model.json", "report.html"].map((name) => readFileSync(join(out, name), "utf8")).join());
  }
  expect(results[1] === results[0] && results[2] === results[0]).toBe(true);
});
