// Counts and sums of every engine, streamed and aggregated, are those of the kernel to the last bit; and what else a
// source answers. exact.long.test.ts has more problems.

import { matrix } from "@fedkm/core";
import { memorySource } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { duckdbTables, type EngineTables, has } from "./engines.ts";
import { engines, problem, testExactness } from "./exact.ts";

testExactness(0, 8);

for (const { engine, open } of engines) {
  describe.skipIf(!has(engine))(engine, () => {
    let tables: EngineTables;
    beforeAll(async () => {
      tables = await open();
    });
    afterAll(() => tables?.stop());

    it("finds the rows near borders and a sample of its rows", async () => {
      const { points, centroids } = problem(3);
      const address = await tables.put(points);
      const expected = await memorySource(points).nearBorders(centroids, 0.1, 1000);
      for (const read of ["stream", "aggregate"] as const) {
        const source = await openSource(address, { env: {}, read });
        const near = await source.nearBorders(centroids, 0.1, 1000);
        expect(near?.rows).toBe(expected?.rows);
        expect(await source.nearBorders(centroids, 1e6, 3)).toBeUndefined();
        const sample = await source.sample(20);
        expect(sample.rows).toBeGreaterThan(0);
        expect(sample.rows).toBeLessThan(points.rows);
        expect(await source.sample(20)).toEqual(sample);
        await source.close();
      }
    });
  });
}

it("addresses of files in memory give the same rows as a matrix", async () => {
  const tables = await duckdbTables();
  const points = matrix([
    [1, 2],
    [3, 4.5],
  ]);
  const source = await openSource(await tables.put(points), { env: {} });
  expect(source.read).toBe("memory");
  expect(await source.sample(10)).toEqual(points);
  await tables.stop();
});
