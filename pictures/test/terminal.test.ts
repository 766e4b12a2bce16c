// Columns line up whatever is in them, and lines break between words.

import { expect, test } from "vitest";
import { alignColumns, wrap } from "../src/terminal.ts";

const rows = [
  ["method", "GCD"],
  ["local", "0.049"],
  ["distributed", "5.3e-24"],
];

test("alignColumns sets the first column to the left and the others to the right", () => {
  expect(alignColumns(rows)).toEqual([
    "method            GCD", //
    "local           0.049",
    "distributed   5.3e-24",
  ]);
});

test("alignColumns pads by what is seen, not by invisible characters", () => {
  const bold = (text: string, row: number, column: number) => (row === 1 && column === 1 ? `<b>${text}</b>` : text);
  const plain = alignColumns(rows, bold).map((line) => line.replaceAll(/<\/?b>/g, ""));
  expect(plain).toEqual(alignColumns(rows));
});

test("alignColumns leaves no spaces at the end of a line", () => {
  expect(alignColumns([["one"], ["eleven"]])).toEqual(["one", "eleven"]);
});

test("wrap breaks between words and keeps every one", () => {
  const text = "one two three four five six seven";
  const lines = wrap(text, 10);
  expect(lines).toEqual(["one two", "three four", "five six", "seven"]);
  expect(lines.join(" ")).toBe(text);
});

test("wrap gives a word that is too long a line of its own", () => {
  expect(wrap("a unbreakable b", 5)).toEqual(["a", "unbreakable", "b"]);
});
