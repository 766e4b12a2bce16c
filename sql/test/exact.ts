// Counts and sums of every engine, streamed and aggregated, against those of the kernel.

import { type Matrix, normalStream, randomStream } from "@fedkm/core";
import { memorySource, sourceGrids, sourceStatistics } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clickhouseTables, duckdbTables, type EngineTables, has, postgresTables } from "./engines.ts";

/** Rows of any shape: normal, on a coarse grid where ties abound, or of very different magnitudes. */
export function problem(seed: number) {
  const random = randomStream(seed, "exact");
  const normal = normalStream(random);
  const whole = (most: number) => 1 + Math.floor(random() * most);
  const [cols, k, rows] = [whole(seed % 5 === 0 ? 64 : 12), whole(seed % 7 === 0 ? 64 : 12), whole(300)];
  const manner = Math.floor(random() * 3);
  const number = (c: number) => {
    if (manner === 0) return normal();
    if (manner === 1) return Math.round(2 * normal());
    return normal() * 10 ** ((c % 9) - 4) + 1000 * (c % 2);
  };
  const draw = (count: number): Matrix => {
    return { data: Float64Array.from({ length: count * cols }, (_, i) => number(i % cols)), rows: count, cols };
  };
  return { points: draw(rows), centroids: draw(k) };
}

export const engines = [
  { engine: "DuckDB", open: () => duckdbTables() },
  { engine: "PostgreSQL", open: () => postgresTables() },
  { engine: "ClickHouse", open: () => clickhouseTables() },
];

/** Every engine answers as the kernel, on so many random problems. */
export function testExactness(from: number, count: number): void {
  for (const { engine, open } of engines) {
    describe.skipIf(!has(engine))(`${engine} answers as the kernel`, () => {
      let tables: EngineTables;
      beforeAll(async () => {
        tables = await open();
      });
      afterAll(() => tables?.stop());

      it(`gives its bits on ${count} random problems, streamed and aggregated`, async () => {
        for (let seed = from; seed < from + count; seed++) {
          const { points, centroids } = problem(seed);
          const expected = await sourceStatistics(memorySource(points), centroids);
          const address = await tables.put(points);
          for (const read of ["stream", "aggregate"] as const) {
            const source = await openSource(address, { env: {}, read });
            const found = await sourceStatistics(source, centroids);
            const about = `seed ${seed}, ${read}, ${points.rows} x ${points.cols}, k ${centroids.rows}`;
            expect(sourceGrids(source), about).toEqual(sourceGrids(memorySource(points)));
            expect(found.counts, about).toEqual(expected.counts);
            expect(found.sums.map(plusZero), about).toEqual(expected.sums.map(plusZero));
            expect(Math.abs(found.loss - expected.loss), about).toBeLessThanOrEqual(1e-12 * expected.loss);
            await source.close();
          }
        }
      });
    });
  }
}

/** A sum of nothing can be -0 in one engine and 0 in another. */
function plusZero(x: number): number {
  return x + 0;
}
