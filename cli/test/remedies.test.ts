// What a refusal offers on the command line: the arguments, ready to be typed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DataError, type Remedy } from "@fedkm/files";
import { expect, test } from "vitest";
import { messageLine } from "../src/failure.ts";
import { outcome, temporaryFolder } from "./folder.ts";

const folder = temporaryFolder();
const leaveOut = (...columns: string[]): Remedy => ({ kind: "leave-out-columns", columns });
const choose = (...columns: string[]): Remedy => ({ kind: "choose-columns", columns });
const text = (words: string): Remedy => ({ kind: "text", text: words });

const cases: readonly (readonly [string, readonly Remedy[]])[] = [
  ["check the path", [text("check the path")]],
  ["leave it out with --exclude plant, or choose with --columns a,b", [leaveOut("plant"), choose("a", "b")]],
  ["leave them out with --exclude 'a b,\"c,d\",it'\\''s'", [leaveOut("a b", "c,d", "it's")]],
  [
    "fix the cell, empty it if the value is not known, or leave the column out with --exclude a",
    [text("fix the cell"), text("empty it if the value is not known"), leaveOut("a")],
  ],
  [
    "rename one of them in the file, or leave both columns out with --exclude a",
    [text("rename one of them in the file"), leaveOut("a", "a")],
  ],
  ["choose the columns with --columns a", [choose("a")]],
  ["name one of them with --device-column", [{ kind: "name-column", option: "deviceColumn", columns: ["a"] }]],
  [
    "drop their rows with --missing drop, or fill them with --missing mean",
    [{ kind: "missing-policy", policies: ["drop", "mean"] }],
  ],
  [
    "put commas between cells, such as with tr -s ' ' ',', or name the character with --delimiter",
    [{ kind: "delimiter", delimiters: [","] }],
  ],
  [
    "say what the commas are with --decimal comma (1,5 is 1.5) or --decimal point (1,500 is 1500); leave the others out with --exclude art, or choose with --columns a",
    [{ kind: "both", first: { kind: "decimal-points", columns: ["a"] }, rest: [leaveOut("art"), choose("a")] }],
  ],
];

test.each(cases)("%s", (words, remedies) => {
  const error = new DataError({ file: "my data.csv", line: 3 }, "be so", "otherwise", remedies);
  expect(messageLine(error)).toBe(`fedkm: my data.csv, line 3 must be so, got otherwise; ${words}`);
  expect(error.message).not.toContain("--");
});

const results = join(folder.path, "results");
const fit = (file: string, ...args: string[]) => outcome("fit", "--as-is", file, "--k", "1", "--out", results, ...args);

test("fedkm fit --scale takes bounds from a file, and refuses a line that is none with its place", async () => {
  const data = folder.file("rows.csv", "a,b\n1,20\n2,30\n3,10\n9,15\n");
  const scaled = (bounds: string) => fit(data, "--scale", `bounds:${folder.file("bounds.csv", bounds)}`);
  expect(await scaled('column;least;most\n"a";0;10\nb;0;100\n')).toMatchObject({ code: 0 });
  const { scaling } = JSON.parse(readFileSync(join(results, "model.json"), "utf8"));
  expect(scaling).toEqual({ kind: "bounds", offset: [0, 0], scale: [10, 100] });
  expect((await scaled("a,0,10\nb,5,5\n")).stderr).toMatch(
    /bounds\.csv, line 2, column "b" must have a least and a larger most value, got "b,5,5"; fix the line\n$/,
  );
  expect((await scaled("a,0,10\n")).stderr).toMatch(
    /bounds\.csv, column "b" must have a line, got none; add b,least,most\n$/,
  );
});

test("a list of names takes quotes as files do", async () => {
  const data = folder.file("quotes.csv", '"a,b",c,d\n1,2,x\n3,4,y\n');
  expect(await fit(data, "--columns", '"a,b",c')).toMatchObject({ code: 0 });
  expect(await fit(data, "--exclude", '"d')).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^fedkm: names, line 1, column 1 must close every quote/),
  });
});
