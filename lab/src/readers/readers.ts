// npm run lab -- readers [--quick]: how fast files become a matrix against DuckDB's reader and Python's, in how much memory, and
// in which share of the time of a whole fedkm fit the library computes.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { print, progress, scratchFolder } from "../measure.ts";
import { connect, hasDuckdb } from "./duckdb.ts";
import { pythonSeconds, writeOthers } from "./pythonReaders.ts";
import { writeRows } from "./rows.ts";

const COLS = 16;

interface Measured {
  readonly seconds: number;
  readonly memory: number;
}

function measure(who: "ours" | "duckdb", file: string): Measured {
  progress(`${who}: ${file}`);
  const job = fileURLToPath(new URL("./job.js", import.meta.url));
  const { status, stdout } = spawnSync(process.execPath, [job, who, file, "3"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error(`${who} could not read ${file}`);
  return JSON.parse(stdout);
}

async function readers(folder: string, count: number): Promise<void> {
  const csv = join(folder, "rows.csv");
  progress(`writing ${count} rows`);
  writeRows(csv, count, COLS, 1);
  const isThere = hasDuckdb();
  const files = [csv, ...(isThere ? await parquetFiles(folder, csv) : [])];
  const budget = (8 * count * COLS) / 1e6 + 150;
  const head = [
    "file",
    "ours, s",
    "DuckDB, s",
    "speed of DuckDB's",
    "gate 0.6",
    "memory, MB",
    `gate ${budget.toFixed(0)}`,
  ];
  const rows = files.map((file) => {
    const ours = measure("ours", file);
    const theirs = isThere ? measure("duckdb", file) : undefined;
    const speed = theirs && theirs.seconds / ours.seconds;
    const megabytes = ours.memory / 1e6;
    return [
      file.slice(folder.length + 1),
      ours.seconds.toFixed(2),
      theirs?.seconds.toFixed(2) ?? "not available",
      speed?.toFixed(2) ?? "",
      speed === undefined ? "" : speed >= 0.6 ? "held" : "missed",
      megabytes.toFixed(0),
      megabytes <= budget ? "held" : "missed",
    ];
  });
  progress("");
  print(`${count} x ${COLS} doubles from a file to memory, CPU seconds on one thread, best of 3`, [head, ...rows]);
  others(folder, csv);
}

/** A workbook of a million rows is more than a sheet holds. */
const OTHER_ROWS = 100_000;

/** openpyxl is what most people read workbooks with: nobody should wait longer here. For arrays and JSON nothing is promised. */
const otherGates: Readonly<Record<string, number>> = { xlsx: 1 };

function others(folder: string, csv: string): void {
  progress("writing a workbook, an array and JSON");
  const files = writeOthers(csv, OTHER_ROWS, folder);
  if (files.length === 0) {
    print("workbooks, arrays and JSON: not measured without Python's numpy and openpyxl", [[""]]);
    return;
  }
  const rows = files.map((file) => {
    const ours = measure("ours", file);
    const theirs = pythonSeconds(file);
    const gate = otherGates[file.slice(file.lastIndexOf(".") + 1)];
    const speed = theirs / ours.seconds;
    const verdict = gate === undefined ? ["none", ""] : [`${gate}`, speed >= gate ? "held" : "missed"];
    const name = file.slice(folder.length + 1);
    return [name, ours.seconds.toFixed(3), theirs.toFixed(3), speed.toFixed(2), ...verdict];
  });
  progress("");
  const head = ["file", "ours, s", "Python, s", "speed of Python's", "gate", ""];
  print(`${OTHER_ROWS} x ${COLS} doubles against openpyxl, numpy and json, CPU seconds, best of 3`, [head, ...rows]);
}

async function parquetFiles(folder: string, csv: string): Promise<string[]> {
  const connection = await connect();
  await connection.run(`create table t as select * from read_csv('${csv}')`);
  const files = ["uncompressed", "snappy", "zstd", "gzip", "lz4_raw"].map((codec) => ({
    codec,
    file: join(folder, `${codec}.parquet`),
  }));
  for (const { codec, file } of files) await connection.run(`copy t to '${file}' (format parquet, codec '${codec}')`);
  return files.map(({ file }) => file);
}

/** Ten devices of a tenth of the rows each. Core is at work in the fit, the fits of "how sure", the certificate and the labels' nearest centroids. */
function fitShare(folder: string, count: number): void {
  for (let i = 0; i < 10; i++) writeRows(join(folder, `device${i}.csv`), count / 10, COLS, 2 + i);
  const program = fileURLToPath(new URL("../../../cli/bin/fedkm.js", import.meta.url));
  progress("fedkm fit on 10 devices");
  const files = Array.from({ length: 10 }, (_, i) => `device${i}.csv`);
  const { status, stdout } = spawnSync(process.execPath, [program, "fit", ...files, "--k", "16", "--json"], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) throw new Error("fedkm fit failed");
  progress("");
  const { read, fit, core, total } = JSON.parse(stdout).milliseconds;
  const share = core / total;
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  print(`fedkm fit, ${count} x ${COLS} on 10 devices, k = 16, seconds`, [
    ["reading", "the fit", "core at work", "all", "share of core", "gate 0.7"],
    [seconds(read), seconds(fit), seconds(core), seconds(total), share.toFixed(2), share >= 0.7 ? "held" : "missed"],
  ]);
}

/** What a user waits for before anything is said. */
function startup(): void {
  const program = pathToFileURL(fileURLToPath(new URL("../../../cli/bin/fedkm.js", import.meta.url))).pathname;
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    spawnSync(process.execPath, [program, "--help"]);
    return performance.now() - start;
  });
  const best = Math.min(...times);
  print("fedkm --help, wall milliseconds, best of 9", [
    ["", "gate 150"],
    [best.toFixed(0), best <= 150 ? "held" : "missed"],
  ]);
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { quick: { type: "boolean", default: false } } });
  const rows = values.quick ? 100_000 : 1_000_000;
  const folder = scratchFolder("readers");
  startup();
  await readers(folder, rows);
  fitShare(folder, rows);
}
