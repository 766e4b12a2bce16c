// npm run lab -- speed --only sources: rows that stay where they are. Streams and aggregates against rows in memory and against
// SQL written by hand, peak memory, how many passes over all rows a fit takes, and CSV files streamed and loaded.

import { spawnSync } from "node:child_process";
import { linkSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { graph, type Matrix, normalStream, paperData, randomStream, stack } from "@fedkm/core";
import { fitSources, memorySource, type Source, sourceStatistics } from "@fedkm/core/sources";
import { openSource } from "@fedkm/sql";
import { missingEngines, startClickHouse, startPostgres } from "../engines/index.ts";
import { runFedkm } from "../fedkm.ts";
import { peakMemory, print, progress, ratio } from "../measure.ts";
import { writeRows } from "../readers/readers.ts";

interface ByHand {
  run(): Promise<unknown>;
  close(): Promise<void>;
}

/** (E1) in SQL as somebody would write it by hand for one engine: exact sums as ours, but no look at missing numbers and ties. */
async function byHand(address: string, columns: readonly string[], centroids: Matrix): Promise<ByHand> {
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

const file = fileURLToPath(import.meta.url);
const [COLS, K] = [16, 16];
const columns = Array.from({ length: COLS }, (_, c) => `c${c}`);

export async function sources(isQuick: boolean, folder: string): Promise<void> {
  await streams(isQuick, folder);
  await handWritten(isQuick, folder);
  await passes(isQuick);
  text(isQuick, folder);
}

/** Files of a lake that are written. The others are further names of these: a stream meets their rows all the same. */
const DISTINCT_FILES = 10;

/** A folder of Parquet files with rows of K clusters that overlap. */
async function makeLake(folder: string, rows: number): Promise<string> {
  const { DuckDBInstance } = await import("@duckdb/node-api");
  const instance = await DuckDBInstance.create(":memory:");
  const connection = await instance.connect();
  const cells = columns.map((name, c) => `(random() + random() + (hash(i * 31 + ${c}) % 7)) AS ${name}`).join(", ");
  const each = 1_000_000;
  const lake = join(folder, `lake${rows}`);
  mkdirSync(lake);
  for (let from = 0, part = 0; from < rows; from += each, part++) {
    if (part >= DISTINCT_FILES && rows % each === 0) {
      linkSync(join(lake, `part${part % DISTINCT_FILES}.parquet`), join(lake, `part${part}.parquet`));
      continue;
    }
    progress(`sources: writing ${from} of ${rows} rows`);
    const some = `FROM range(${Math.min(each, rows - from)}) AS r(i)`;
    await connection.run(`COPY (SELECT ${cells} ${some}) TO '${lake}/part${part}.parquet'`);
  }
  connection.closeSync();
  instance.closeSync();
  return `duckdb:${lake}`;
}

function centroids(): Matrix {
  const random = randomStream(1, "bench", "sources");
  return { data: Float64Array.from({ length: K * COLS }, () => 8 * random()), rows: K, cols: COLS };
}

/** CPU seconds of (E1), the least of some times. */
async function cpuOf(source: Source, times = 3): Promise<number> {
  let best = Number.POSITIVE_INFINITY;
  for (let t = 0; t < times; t++) {
    const before = process.cpuUsage();
    await sourceStatistics(source, centroids());
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1e6);
  }
  return best;
}

async function streams(isQuick: boolean, folder: string): Promise<void> {
  const rows = isQuick ? 1_000_000 : 4_000_000;
  const lake = await makeLake(folder, rows);
  const loaded = await openSource(lake, { env: {}, read: "memory" });
  const memory = await cpuOf(loaded);
  const table = [["read", "rows", "rows per CPU s", "times the pass in memory", "gate"]];
  const line = (read: string, seconds: number, gate: string) =>
    table.push([read, String(rows), `${(rows / seconds / 1e6).toFixed(1)} million`, ratio(seconds, memory), gate]);
  line("memory", memory, "");
  for (const read of ["stream", "aggregate"] as const) {
    const source = await openSource(lake, { env: {}, read });
    line(read, await cpuOf(source), read === "stream" ? "2 million, 12 times" : "");
    await source.close();
  }
  print(`(E1) of Parquet in DuckDB, ${COLS} columns, k = ${K}`, table);
  const many = isQuick ? 2_000_000 : 100_000_000;
  const large = await makeLake(folder, many);
  const { stdout } = spawnSync(process.execPath, [file, large], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  const megabytes = (Number(stdout) / 2 ** 20).toFixed(0);
  print("peak memory of a stream, a process of its own", [
    ["rows", "MB", "gate, for 100 million rows"],
    [String(many), megabytes, "512"],
  ]);
}

/** Against the fastest text with exact sums that is known for each engine. Both wait for their answers. */
async function handWritten(isQuick: boolean, folder: string): Promise<void> {
  const rows = isQuick ? 20_000 : 200_000;
  const table = [["engine", "rows", "ours, s", "by hand, s", "ours / by hand", "gate"]];
  const compare = async (name: string, address: string, counted: number) => {
    const source = await openSource(address, { env: {}, read: "aggregate", columns });
    const hand = await byHand(address, columns, centroids());
    const best = { own: Number.POSITIVE_INFINITY, other: Number.POSITIVE_INFINITY };
    // In turns and often: a server that has just got its rows is busy with them for a while.
    for (let t = 0; t < 9; t++) {
      best.own = Math.min(best.own, await wall(() => sourceStatistics(source, centroids())));
      best.other = Math.min(best.other, await wall(hand.run));
    }
    table.push([name, String(counted), best.own.toFixed(2), best.other.toFixed(2), ratio(best.own, best.other), "1.5"]);
    await source.close();
    await hand.close();
  };
  await compare("DuckDB", await makeLake(folder, 5 * rows), 5 * rows);
  if (missingEngines().length > 0) console.log(`not installed: ${missingEngines().join("; ")}`);
  else {
    progress("sources: PostgreSQL and ClickHouse");
    const postgres = await startPostgres();
    const cells = columns.map((name) => `random() * 8 AS ${name}`).join(", ");
    await postgres.run(`CREATE TABLE rows AS SELECT ${cells} FROM generate_series(1, ${rows / 4})`);
    await compare("PostgreSQL", `${postgres.address}?table=rows`, rows / 4);
    await postgres.stop();
    const clickhouse = await startClickHouse();
    const types = columns.map((name) => `${name} Float64`).join(", ");
    const numbers = columns.map((_, c) => `rand(${c}) / 536870912`).join(", ");
    for (let shard = 0; shard < 3; shard++) {
      await clickhouse.run(`CREATE TABLE rows (${types}) ENGINE = MergeTree() ORDER BY tuple()`, shard);
      await clickhouse.run(`INSERT INTO rows SELECT ${numbers} FROM numbers(${rows})`, shard);
    }
    await clickhouse.run(
      `CREATE TABLE all_rows (${types}) ENGINE = Distributed(${clickhouse.cluster}, default, rows, rand())`,
    );
    await compare("ClickHouse, 3 shards", `${clickhouse.address}/all_rows`, 3 * rows);
    await clickhouse.stop();
  }
  progress("");
  print(`(E1) aggregated, ${COLS} columns, k = ${K}, waited for`, table);
}

async function wall(run: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await run();
  return (performance.now() - before) / 1000;
}

async function passes(isQuick: boolean): Promise<void> {
  const rows = isQuick ? 100_000 : 1_000_000;
  const table = [["rows", "passes over all rows", "objective, sampled first / in memory", "gate, passes"]];
  const { fit } = await import("@fedkm/core");
  const paper = (kind: "iso" | "var" | "aniso") => stack(paperData(kind, 10, rows / 10, 1).datasets);
  const sets: [string, Matrix, number][] = [
    ...(["iso", "var", "aniso"] as const).map((kind): [string, Matrix, number] => [`paper, ${kind}`, paper(kind), 3]),
    ["overlapping, 2 columns", blobs(rows, 2, 1.5), 8],
    ["overlapping, 16 columns", blobs(rows, 16, 3), 16],
  ];
  for (const [name, points, k] of sets) {
    progress(`sources: passes, ${name}`);
    const found = await fitSources([memorySource(points)], graph(1, []), { k, alpha: 0 });
    const known = fit([points], graph(1, []), { k, alpha: 0 });
    const settled = found.converged ? String(found.passes) : `${found.passes}, not settled`;
    table.push([name, settled, (found.objective / known.objective).toPrecision(6), "5"]);
  }
  progress("");
  print(`passes of a fit, ${rows} rows`, table);
}

function blobs(rows: number, cols: number, spread: number): Matrix {
  const random = randomStream(7, "bench", "blobs");
  const normal = normalStream(random);
  const centres = Float64Array.from({ length: 16 * cols }, () => 10 * random());
  const data = new Float64Array(rows * cols);
  for (let r = 0; r < rows; r++) {
    const c = Math.floor(16 * random());
    for (let j = 0; j < cols; j++) data[r * cols + j] = centres[c * cols + j] + spread * normal();
  }
  return { data, rows, cols };
}

const [FILES, TEXT_K] = [10, 8];
/** Centres that overlap: loaded rows still move after these rounds. Rounds of a stream are on samples and near borders. */
const [SPACING, ROUNDS] = [1, 30];

/** fedkm fit of CSV files as sources that are streamed, against fedkm fit of the same files loaded: whole processes. */
function text(isQuick: boolean, folder: string): void {
  const rows = isQuick ? 100_000 : 1_000_000;
  const files = Array.from({ length: FILES }, (_, i) => {
    progress(`sources: writing ${rows} rows, file ${i + 1} of ${FILES}`);
    writeRows(join(folder, `device${i}.csv`), rows, COLS, 20 + i, SPACING);
    return `device${i}.csv`;
  });
  const sources = files.map((file) => `duckdb:${file}`);
  const asked = ["--k", String(TEXT_K), "--labels-as", "none", "--json"];
  const table = [["rounds, at most", "loaded", "streamed", "ratio", "gate", "objective, streamed / loaded", "settled"]];
  for (const [name, ...rounds] of [["default"], [String(ROUNDS), "--rounds", String(ROUNDS)]]) {
    const loaded = runFedkm(folder, "fit", ...files, ...asked, ...rounds);
    const streamed = runFedkm(folder, "fit", ...sources, ...asked, ...rounds, "--read", "stream");
    const [known, found] = [loaded, streamed].map(({ stdout }) => JSON.parse(stdout));
    const settled = [known, found].map(({ converged }) => (converged ? "yes" : "no"));
    table.push([
      ...[name, loaded.seconds.toFixed(1), streamed.seconds.toFixed(1), ratio(streamed.seconds, loaded.seconds)],
      ...["1", (found.objective / known.objective).toPrecision(6), `loaded ${settled[0]}, streamed ${settled[1]}`],
    ]);
  }
  progress("");
  print(`fedkm fit of ${FILES} CSV files of ${rows} x ${COLS}, k = ${TEXT_K}, CPU s of the process`, table);
}

// As a process of its own: streams a lake once and says how much memory that took.
if (process.argv[1] === file) {
  const source = await openSource(process.argv[2], { env: {}, read: "stream" });
  await sourceStatistics(source, centroids());
  console.log(peakMemory());
}
