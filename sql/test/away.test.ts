// Servers that go away in the middle of a fit and come back: the fit goes on, with the bits of one that nothing happened to.

import { graph, type Matrix, normalStream, randomStream } from "@fedkm/core";
import { fitSources } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { describe, expect, it } from "vitest";
import { startClickHouse, startPostgres } from "../../lab/src/engines/index.ts";
import { clickhouseTables, has, postgresTables } from "./engines.ts";

function rows(): Matrix {
  const normal = normalStream(randomStream(1, "away"));
  const data = Float64Array.from({ length: 40_000 }, (_, i) => normal() + 4 * (Math.floor(i / 2) % 3));
  return { data, rows: data.length / 2, cols: 2 };
}

const problem = { k: 4, alpha: 0, sample: 500 };

/** Runs a fit and calls `disturb` when its first pass is under way. */
async function fitDisturbed(address: string, disturb: () => Promise<void>) {
  let retries = 0;
  const source = await openSource(address, { env: {}, onRetry: () => retries++ });
  let disturbed: Promise<void> | undefined;
  const parts: typeof source.parts = (...asked) => {
    const answer = source.parts(...asked);
    disturbed ??= disturb();
    return answer;
  };
  const found = await fitSources([{ ...source, parts }], graph(1, []), problem);
  await disturbed;
  await source.close();
  return { found, retries };
}

async function compare(address: string, disturb: () => Promise<void>): Promise<void> {
  const calm = await fitDisturbed(address, async () => {});
  expect([calm.retries, calm.found.converged]).toEqual([0, true]);
  const { found, retries } = await fitDisturbed(address, disturb);
  expect(retries).toBeGreaterThan(0);
  expect(found.centroids).toEqual(calm.found.centroids);
  expect(found.statistics.map(({ counts, sums }) => [counts, sums])).toEqual(
    calm.found.statistics.map(({ counts, sums }) => [counts, sums]),
  );
}

describe("a server that is killed in the middle of a fit and started again", () => {
  it.skipIf(!has("PostgreSQL"))("PostgreSQL: the same bits", async () => {
    const server = await startPostgres();
    const tables = await postgresTables(server);
    try {
      await compare(await tables.put(rows()), async () => {
        await server.kill();
        await server.start();
      });
    } finally {
      await tables.stop();
    }
  });

  it.skipIf(!has("ClickHouse"))("ClickHouse, one shard of three: the same bits", async () => {
    const cluster = await startClickHouse();
    const tables = await clickhouseTables(cluster);
    try {
      const address = await tables.put(rows());
      await compare(address, async () => {
        await cluster.kill(0);
        await cluster.start(0);
      });
    } finally {
      await tables.stop();
    }
  });
});

describe("an abort", () => {
  it.skipIf(!has("PostgreSQL"))("ends a query of PostgreSQL long before its end, on the server too", async () => {
    const server = await startPostgres();
    try {
      await server.run("CREATE TABLE t AS SELECT g::float8 AS a FROM generate_series(1, 10) AS g");
      const slow = "SELECT a FROM t, pg_sleep(3000)";
      const stop = new AbortController();
      const opened = openSource(`${server.address}?table=t`, { env: {}, query: slow, signal: stop.signal });
      const running = "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep%'";
      const others = async () => Number((await server.run(running)).rows[0].n) - 1;
      await expect.poll(others, { timeout: 600_000 }).toBe(1);
      stop.abort();
      await expect(opened).rejects.toThrow("abort");
      await expect.poll(others, { timeout: 600_000 }).toBe(0);
    } finally {
      await server.stop();
    }
  });
});
