// The scale of a penalty where a device has about as many rows as clusters: it knows no variance, and does not count.

import { complete, fit, type Matrix, paperData } from "@fedkm/core";
import { describe, expect, it } from "vitest";

const { datasets } = paperData("iso", 3, 60, 2);
const first = ({ data, cols }: Matrix, rows: number): Matrix => ({ data: data.slice(0, rows * cols), rows, cols });
const scaleWith = (rows: number, penalty: "norm" | "truncated") => {
  const own = rows === 0 ? datasets.slice(1) : [first(datasets[0], rows), ...datasets.slice(1)];
  const model = fit(own, complete(own.length), { k: 3, alpha: 0.3, penalty, rounds: 2, init: "local" });
  expect(Number.isFinite(model.objective)).toBe(true);
  return model.penalty?.scale;
};

describe.each(["norm", "truncated"] as const)("the scale of %s", (penalty) => {
  it.each([1, 2, 3])("is that of the other devices where one has %i rows for 3 clusters", (rows) => {
    expect(scaleWith(rows, penalty)).toBeCloseTo(scaleWith(0, penalty) as number, 12);
  });

  it("is another one where it has a row more than clusters", () => {
    expect(scaleWith(4, penalty)).not.toBeCloseTo(scaleWith(0, penalty) as number, 12);
  });
});
