// Rows within bounds, on a scale: what a device counts of a table.

import { type Matrix, takeRows } from "@fedkm/core";
import { memorySource, sourceStatistics } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type EngineTables, has } from "./engines.ts";
import { engines, problem } from "./exact.ts";

const { points, centroids } = problem(8);
const { cols } = points;
// A bound on a value of a row: it is within.
const bounds = Array.from({ length: cols }, (_, c) => ({ min: points.data[c], max: 1e6 }));
const scaling = { offset: bounds.map(() => 0), scale: bounds.map((_, c) => 0.1 + c) };
const scaled = ({ data, rows }: Matrix) => ({ data: data.map((x, i) => x / scaling.scale[i % cols]), rows, cols });
const isWithin = (r: number) => bounds.every(({ min }, c) => points.data[r * cols + c] >= min);
const inside = takeRows(points, Array.from({ length: points.rows }, (_, r) => r).filter(isWithin));

for (const { engine, open } of engines) {
  describe.skipIf(!has(engine))(`${engine}: rows within bounds`, () => {
    let tables: EngineTables;
    let address = "";
    beforeAll(async () => {
      tables = await open();
      address = await tables.put(points);
    });
    afterAll(() => tables?.stop());

    it.each(["stream", "aggregate"] as const)("counts and sums them as the kernel, %s", async (read) => {
      const opened = await openSource(address, { env: {}, read });
      const { source, outside } = await opened.bounded(bounds, scaling);
      expect(inside.rows).toBeGreaterThan(0);
      expect([source.rows, opened.rows]).toEqual([inside.rows, points.rows]);
      const below = bounds.map(({ min }, c) => points.data.filter((x, i) => i % cols === c && x < min).length);
      expect(outside).toEqual(below);
      const expected = await sourceStatistics(memorySource(scaled(inside)), centroids);
      const { counts, sums } = await sourceStatistics(source, centroids);
      expect([counts, sums.map((x) => x + 0)]).toEqual([expected.counts, expected.sums.map((x) => x + 0)]);
      const all = await opened.bounded(
        bounds.map(() => ({ min: -1e9, max: 1e9 })),
        scaling,
      );
      expect([all.source.rows, all.outside]).toEqual([points.rows, bounds.map(() => 0)]);
      await opened.close();
    });
  });
}
