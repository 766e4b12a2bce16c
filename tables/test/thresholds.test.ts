// Verdicts at their thresholds, below and above: rows between clusters, columns that outweigh others, ids, devices apart.

import { type Matrix, matrix, ring } from "@fedkm/core";
import { describe, expect, test } from "vitest";
import { devicesApart } from "../src/fit/resultWarnings.ts";
import { examineStability, type StabilityTask } from "../src/fit/stability.ts";
import { spreadWarnings } from "../src/input/columnWarnings.ts";
import { reportStabilitySentence } from "../src/report/stabilityTable.ts";

describe("rows between clusters", () => {
  /** Two centroids 9 apart; a row is between them if the second is nearer than 1.25 times the first: from 4 of 9 on. */
  const shareAt = (...places: readonly number[]) => {
    const rows = matrix(places.map((place) => [place]));
    const scaling = { kind: "none", offset: [0], scale: [1] };
    const device = { name: "a", centroids: [[0], [9]], sizes: [places.length, 0] };
    const task = {
      model: { devices: [device], links: [], options: { k: 2, seed: 1 }, scaling },
      graph: ring(1),
      sample: { datasets: [rows], labels: [new Uint32Array(places.length)], rows: places.length },
      of: places.length,
    } as never as StabilityTask;
    const refuse = () => {
      throw new Error("not asked for");
    };
    return examineStability(task, refuse).between[0];
  };

  test.each([
    [0, 0],
    [1, 0],
    [3.9, 0],
    [3.999, 0],
    [4.001, 1],
    [4.1, 1],
    [4.5, 1],
  ])("one at %d of 9 counts: %d", (place, share) => {
    expect(shareAt(place)).toBe(share);
  });

  test("are a share of their cluster", () => {
    expect(shareAt(1, 2, 3.9, 4.1)).toBe(0.25);
  });
});

describe("a column that varies more than another", () => {
  const encoding = [{ name: "a" }, { name: "b" }] as never;
  const rowsOf = (ratio: number): Matrix => matrix([1, -1, 1, -1].map((sign) => [sign, ratio * sign]));

  test.each([
    [1, 0],
    [9.99, 0],
    [10, 0],
    [10.01, 1],
    [1000, 1],
  ])("%d times has so many warnings: %d", (ratio, warnings) => {
    expect(spreadWarnings(encoding, [rowsOf(ratio)])).toHaveLength(warnings);
    expect(spreadWarnings(encoding, [rowsOf(1 / ratio)])).toHaveLength(warnings);
  });
});

describe("a device whose clusters are elsewhere", () => {
  /** Two devices with one cluster each of so many rows, whose means are so many deviations from the table's. */
  const apart = (rows: number, away: number) => {
    const counts = Float64Array.of(rows, 1000);
    return devicesApart({
      ...{ k: 1, cols: 1, counts, totals: Float64Array.of(rows + 1000) },
      ...{ means: Float64Array.of(away, 0), common: Float64Array.of(0), variances: Float64Array.of(1) },
    } as never).differing;
  };

  test.each([
    [9, 5, []],
    [10, 5, [0]],
    [11, 5, [0]],
  ])("is named with %d rows that are %d deviations away: %j", (rows, away, named) => {
    expect(apart(rows, away)).toEqual(named);
  });

  test.each([
    [1000, 0.5, []],
    [1000, 0.99, []],
    [1000, 1.02, [0]],
    [1000, 3, [0]],
  ])("is named with %d rows that are %d deviations away: %j", (rows, away, named) => {
    expect(apart(rows, away)).toEqual(named);
  });
});

describe("runs that find the clusters again", () => {
  const sentence = (lost: number) => {
    const model = { options: { k: 2 }, clusters: [{ rows: 9 }, { rows: 5 }] };
    const starts = Array.from({ length: 9 }, () => [1, 1]);
    const without = [{ devices: ["north"], jaccards: [1, lost] }];
    return reportStabilitySentence(model as never, { verdict: { word: "clear", pairs: [] }, starts, without } as never);
  };

  test("are all of them where none loses a cluster", () => {
    expect(sentence(0.6)).toBe("They are clearly apart, and other starts and fewer devices find all of them again.");
  });

  test("are counted where one does, however many do not", () => {
    expect(sentence(0.59)).toBe(
      "They are clearly apart, and 9 of 10 runs with other starts and fewer devices find all of them again.",
    );
  });
});
