// What is written as CSV is read back as it was.

import { expect, test } from "vitest";
import { parseCsv, selectCellRows, toCsv } from "../src/table.ts";

const rows = [
  { name: "plain", value: 0.1 + 0.2, empty: null },
  { name: 'says "a, b"', value: -5e-324, empty: 7 },
];

test("toCsv writes all digits, nothing for null, and quotes only where they are needed", () => {
  expect(toCsv(["name", "value", "empty"], rows)).toBe(
    'name,value,empty\nplain,0.30000000000000004,\n"says ""a, b""",-5e-324,7\n',
  );
});

test("parseCsv reads back what toCsv wrote", () => {
  expect(parseCsv(toCsv(["name", "value", "empty"], rows))).toEqual(rows);
});

test("parseCsv gives no rows for a heading alone", () => {
  expect(parseCsv("a,b\n")).toEqual([]);
});

test("select takes rows that agree, and those that do not know the column", () => {
  const table = [
    { method: "fedkm", alpha: 1 },
    { method: "fedkm", alpha: 0 },
    { method: "local", alpha: null },
  ];
  expect(selectCellRows(table, { alpha: 1 }).map(({ method }) => method)).toEqual(["fedkm", "local"]);
});
