// (E1) in SQL as somebody would write it by hand for one engine: exact sums as ours, but no look at missing numbers and ties.

import type { Matrix } from "@fedkm/core";

interface ByHand {
  run(): Promise<unknown>;
  close(): Promise<void>;
}

export async function byHand(address: string, columns: readonly string[], centroids: Matrix): Promise<ByHand> {
  const rows = Array.from({ length: centroids.rows }, (_, c) =>
    Array.from(centroids.data.subarray(c * centroids.cols, (c + 1) * centroids.cols), (x) => x.toExponential()),
  );
  const distances = rows.map((_, c) => `d${c}`);
  const label = `CASE ${distances.map((d, c) => `WHEN best = ${d} THEN ${c}`).join(" ")} END`;
  // A coarse and a fine grid for numbers of this size.
  const high = (name: string) => `((${name} + 1.5e10) - 1.5e10)`;
  const sums = columns.map((x) => `sum(${high(x)}), sum(((${x} - ${high(x)}) + 1.5e3) - 1.5e3)`).join(", ");
  const differences = (row: readonly string[]) =>
    row.map((x, j) => `(${columns[j]} - ${x}) * (${columns[j]} - ${x})`).join(" + ");
  if (address.startsWith("duckdb:")) {
    const measured = rows.map((row, c) => `list_distance([${columns.join(", ")}], [${row.join(", ")}]) AS d${c}`);
    const from = `(SELECT *, ${measured.join(", ")} FROM read_parquet('${address.slice(7)}/*.parquet'))`;
    const nearest = `(SELECT *, least(${distances.join(", ")}) AS best FROM ${from})`;
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const instance = await DuckDBInstance.create(":memory:");
    const connection = await instance.connect();
    const text = `SELECT ${label} AS label, count(*), sum(best * best), ${sums} FROM ${nearest} GROUP BY label`;
    return { run: () => connection.runAndReadAll(text), close: async () => instance.closeSync() };
  }
  const url = new URL(address.replace(/^\w+:/, "http:"));
  if (address.startsWith("postgres:")) {
    const measured = rows.map((row, c) => `${differences(row)} AS d${c}`).join(", ");
    const from = `(SELECT *, ${measured} FROM rows OFFSET 0) AS a`;
    const nearest = `(SELECT *, least(${distances.join(", ")}) AS best FROM ${from} OFFSET 0) AS b`;
    const text = `SELECT ${label} AS label, count(*), sum(best), ${sums} FROM ${nearest} GROUP BY 1`;
    const { default: pg } = await import("pg");
    const client = new pg.Client({
      host: url.hostname,
      port: Number(url.port),
      user: url.username,
      database: "postgres",
    });
    await client.connect();
    return { run: () => client.query(text), close: () => client.end() };
  }
  // In one SELECT, since shards are asked for the innermost alone, and with arrays, since explicit differences are slow to plan.
  const squared = (row: readonly string[]) => `arraySum(arrayMap((a, b) -> (a - b) * (a - b), v, [${row.join(", ")}]))`;
  const named = `[${columns.join(", ")}] AS v, [${rows.map(squared).join(", ")}] AS distances`;
  const found = "arrayReduce('min', distances) AS best, indexOf(distances, best) AS label";
  const text = `WITH ${named}, ${found} SELECT label, count(*), sum(best), ${sums} FROM all_rows GROUP BY label`;
  return {
    async run() {
      const answer = await fetch(`http://${url.host}/`, { method: "POST", body: text });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.text();
    },
    async close() {},
  };
}
