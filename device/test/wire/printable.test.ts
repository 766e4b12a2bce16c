import { printable } from "@fedkm/files/printable";
import { expect, test } from "vitest";
import { compareStudies } from "../../src/study/study.ts";
import { studyWith } from "../problem.ts";

test("printable shows control characters and direction marks as numbers, and leaves every other letter", () => {
  expect(printable("north\u202Egnp.\u2066\u200F\u061C")).toBe("north\\u{202e}gnp.\\u{2066}\\u{200f}\\u{61c}");
  expect(printable("a\u001b[2Jb\rc\u0007\u009b\u2028")).toBe("a\\u{1b}[2Jb\\u{d}c\\u{7}\\u{9b}\\u{2028}");
  for (const text of ["Zürich, 北, צפון, شمال", "👩‍🌾 a\\b"]) expect(printable(text)).toBe(text);
});

test("compareStudies quotes no direction mark of another study", () => {
  const [difference] = compareStudies(studyWith(), studyWith({ name: "pla\u202Esen" }));
  expect(difference).toBe('name: "planes" here, "pla\\u{202e}sen" there');
});
