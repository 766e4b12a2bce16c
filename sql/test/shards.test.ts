// A Distributed table of ClickHouse: its shards answer with sums, and keep their rows.

import { sourceStatistics } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { describe, expect, it } from "vitest";
import { startClickHouse } from "../../lab/src/engines/index.ts";
import { clickhouseTables, has } from "./engines.ts";
import { problem } from "./exact.ts";

describe.skipIf(!has("ClickHouse"))("ClickHouse: what shards are asked", () => {
  it("is for sums, a share of the rows and rows near borders, never for all rows", async () => {
    const cluster = await startClickHouse();
    const tables = await clickhouseTables(cluster);
    try {
      // One that is measured by differences, and one by arrays.
      for (const seed of [3, 10]) {
        const { points, centroids } = problem(seed);
        const address = await tables.put(points);
        const source = await openSource(address, { env: {} });
        await sourceStatistics(source, centroids);
        await source.sample(5);
        await source.nearBorders(centroids, 1e-3, 1e6);
        const table = address.slice(address.lastIndexOf("/all_") + 5);
        const isAsked = (line: string) => new RegExp(`executeQuery: \\(from.* FROM default\\.${table}\\b`).test(line);
        const asked = cluster.log().split("\n").filter(isAsked);
        expect(asked.length).toBeGreaterThanOrEqual(8);
        expect(asked.filter((line) => !/count\(|WHERE|LIMIT 0/.test(line)).map((line) => line.slice(0, 500))).toEqual(
          [],
        );
      }
    } finally {
      await tables.stop();
    }
  });
});
