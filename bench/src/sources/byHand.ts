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
  const least = (of: readonly string[]): string =>
    of.length === 1 ? of[0] : `least(${least(of.slice(0, of.length >> 1))}, ${least(of.slice(of.length >> 1))})`;
  const measured = rows.map((row, c) => `${differences(row)} AS d${c}`).join(", ");
  const kept = columns.join(", ");
  const from = `(SELECT ${kept}, ${measured} FROM all_rows)`;
  const nearest = `(SELECT ${kept}, ${distances.join(", ")}, ${least(distances)} AS best FROM ${from})`;
  const text = `SELECT ${label} AS label, count(*), sum(best), ${sums} FROM ${nearest} GROUP BY label`;
  return {
    async run() {
      const answer = await fetch(`http://${url.host}/`, { method: "POST", body: text });
      if (!answer.ok) throw new Error(await answer.text());
      return answer.text();
    },
    async close() {},
  };
}
