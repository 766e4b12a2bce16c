// Numbers are written with the digits that are known.

import { duration } from "@fedkm/pictures/terminal";
import { countLabel, readableValue, significantLabel } from "@fedkm/tables/numbers";
import { expect, test } from "vitest";

test.each([
  [0, 2, "0"],
  [0.00000529841, 2, "5.3e-6"],
  [3.36e-24, 2, "3.4e-24"],
  [0.0488, 2, "0.049"],
  [0.1036, 2, "0.10"],
  [20.293, 4, "20.29"],
  [9.996, 2, "10"],
  [0.0009996, 2, "0.0010"],
  [27.9, 2, "28"],
  [123456, 3, "1.23e5"],
  [-0.0488, 2, "-0.049"],
])("significant(%d, %d) is %s", (value, digits, text) => {
  expect(significantLabel(value, digits)).toBe(text);
});

test("count sets the thousands apart", () => {
  expect(countLabel(636768)).toBe("636,768");
});

test.each([
  [9999.4, "9999"],
  [37_876.4, "37,876"],
  [-1_234_567.8, "-1,234,568"],
  [0.98244, "0.9824"],
])("readableValue(%d) is %s: all digits before the point", (number, text) => {
  expect(readableValue(number)).toBe(text);
});

test.each([
  [0.4, "<1 ms"],
  [13.4, "13 ms"],
  [999.7, "1.0 s"],
  [1234, "1.2 s"],
])("duration(%d) is %s", (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text);
});
