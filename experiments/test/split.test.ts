// Splits by a word.

import { type LabelledPoints, paperData } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { dealBy, parseDeal, type Split } from "../src/cell.ts";

function drawn(seed: number): LabelledPoints {
  const { datasets, labels } = paperData("iso", 1, 480, seed);
  return { points: datasets[0], labels: labels[0] };
}

describe("parseDeal and dealBy", () => {
  const deal = (text: string) => dealBy(parseDeal(text) as Split, drawn(1), 6, 1);
  const sizes = (text: string) => deal(text).datasets.map(({ rows }) => rows);

  test("deal every point once, whatever the rule", () => {
    for (const rule of ["even", "dirichlet:0.3", "classes:2", "sizes:30"]) {
      expect(
        sizes(rule).reduce((sum, rows) => sum + rows, 0),
        rule,
      ).toBe(480);
    }
  });

  test("deal evenly, by sizes in one ratio, or so many classes to a device", () => {
    expect(sizes("even")).toEqual([80, 80, 80, 80, 80, 80]);
    const growing = sizes("sizes:20");
    expect(growing).toEqual([...growing].sort((a, b) => a - b));
    expect(growing[5] / growing[0]).toBeCloseTo(20, 0);
    for (const own of deal("classes:2").labels) expect(new Set(own).size).toBe(2);
    for (const own of deal("classes:3").labels) expect(new Set(own).size).toBe(3);
    expect(new Set(deal("classes:1").labels.map(([label]) => label)).size).toBe(3);
  });

  test.each(["", "odd", "dirichlet", "dirichlet:0", "dirichlet:x", "classes:1.5", "classes:0", "sizes:0.5"])(
    "know no rule %j",
    (text) => {
      expect(parseDeal(text)).toBeUndefined();
    },
  );
});
