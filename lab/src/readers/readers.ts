// npm run lab -- readers [--quick]: how fast files become a matrix against DuckDB's reader and Python's, in how much memory, and
// in which share of the time of a whole fedkm fit the library computes.

import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { normalStream, randomStream } from "@fedkm/core";
import { readTable } from "@fedkm/files";
import { fedkmProgram } from "../fedkm.ts";
import { peakMemory, print, progress, scratchFolder } from "../measure.ts";
import { findPython } from "../python.ts";

// Files to measure readers and fit with: clusters of normal points, written with all their digits.

/** A CSV file of `rows` points in `cols` columns around 16 centres, the next of which is so far in every column. */
export function writeRows(file: string, rows: number, cols: number, seed: number, spacing = 3): void {
  const normal = normalStream(randomStream(seed, "rows"));
  const out = openSync(file, "w");
  let text = `${Array.from({ length: cols }, (_, c) => `c${c}`).join(",")}\n`;
  for (let r = 0; r < rows; r++) {
    const centre = spacing * (r % 16);
    for (let c = 0; c < cols; c++) text += `${centre + normal() * (1 + (c % 3))}${c === cols - 1 ? "\n" : ","}`;
    if (text.length > 2 ** 20 || r === rows - 1) {
      writeSync(out, text);
      text = "";
    }
  }
  closeSync(out);
}

// The readers that people have in Python, for workbooks, arrays and JSON: openpyxl, numpy and json, where they are installed.

const READERS: Readonly<Record<string, string>> = {
  xlsx: `import openpyxl
def read(file):
    rows = openpyxl.load_workbook(file, read_only=True, data_only=True).active.iter_rows(min_row=2, values_only=True)
    return np.array([row for row in rows], dtype=float)`,
  npy: `def read(file):
    return np.ascontiguousarray(np.load(file))`,
  json: `import json
def read(file):
    with open(file) as opened:
        return np.array(json.load(opened), dtype=float)`,
};

const WRITE = `import json, sys, numpy as np, openpyxl
rows = np.loadtxt(sys.argv[1], delimiter=",", skiprows=1, max_rows=int(sys.argv[2]))
np.save(sys.argv[3] + "/rows.npy", rows)
with open(sys.argv[3] + "/rows.json", "w") as file:
    json.dump(rows.tolist(), file)
book = openpyxl.Workbook(write_only=True)
sheet = book.create_sheet("rows")
sheet.append(["c%d" % c for c in range(rows.shape[1])])
for row in rows.tolist():
    sheet.append(row)
book.save(sys.argv[3] + "/rows.xlsx")`;

/** The first rows of a CSV file as a workbook, an array and JSON in the folder; none without Python. */
function writeOthers(csv: string, rows: number, folder: string): string[] {
  const { command, modules } = findPython();
  if (!modules.has("numpy") || !modules.has("openpyxl")) return [];
  const { status } = spawnSync(command, ["-c", WRITE, csv, String(rows), folder], { stdio: "inherit" });
  return status === 0 ? ["xlsx", "npy", "json"].map((kind) => `${folder}/rows.${kind}`) : [];
}

/** CPU seconds from a file to an array of doubles, the best of three. */
function pythonSeconds(file: string): number {
  const reader = READERS[file.slice(file.lastIndexOf(".") + 1)];
  const program = `import sys, time, numpy as np
${reader}
best = float("inf")
for _ in range(3):
    start = time.process_time()
    read(sys.argv[1])
    best = min(best, time.process_time() - start)
print(best)`;
  const { stdout } = spawnSync(findPython().command, ["-c", program, file], { encoding: "utf8" });
  return Number(stdout);
}

const COLS = 16;
const program = fileURLToPath(import.meta.url);

/** An empty database in memory that uses one thread, as our reader does. */
async function connect() {
  // Loaded where it reads: our reader is measured without it.
  const { DuckDBInstance } = await import("@duckdb/node-api");
  return (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
}

/** CPU seconds of the best of three reads, and peak bytes of the first: later ones may find its rows not yet collected. */
async function readHere(who: string, file: string): Promise<Measured> {
  let read: () => Promise<unknown> = () => readTable(file);
  if (who === "duckdb") {
    const connection = await connect();
    const source = file.endsWith(".csv") ? `read_csv('${file}')` : `'${file}'`;
    read = () => connection.run(`create or replace table t as select * from ${source}`);
  }
  let [seconds, memory] = [Number.POSITIVE_INFINITY, 0];
  for (let t = 0; t < 3; t++) {
    const before = process.cpuUsage();
    await read();
    const { user, system } = process.cpuUsage(before);
    seconds = Math.min(seconds, (user + system) / 1e6);
    if (t === 0) memory = peakMemory();
  }
  return { seconds, memory };
}

interface Measured {
  readonly seconds: number;
  readonly memory: number;
}

/** In a process of its own, which holds nothing else. */
function measure(who: "ours" | "duckdb", file: string): Measured {
  progress(`${who}: ${file}`);
  const { status, stdout } = spawnSync(process.execPath, [program, who, file], {
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
  const files = [csv, ...(await parquetFiles(folder, csv))];
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
    const theirs = measure("duckdb", file);
    const speed = theirs.seconds / ours.seconds;
    const megabytes = ours.memory / 1e6;
    return [
      file.slice(folder.length + 1),
      ours.seconds.toFixed(2),
      theirs.seconds.toFixed(2),
      speed.toFixed(2),
      speed >= 0.6 ? "held" : "missed",
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
  progress("fedkm fit on 10 devices");
  const files = Array.from({ length: 10 }, (_, i) => `device${i}.csv`);
  const { status, stdout } = spawnSync(process.execPath, [fedkmProgram, "fit", ...files, "--k", "16", "--json"], {
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
  const times = Array.from({ length: 9 }, () => {
    const start = performance.now();
    spawnSync(process.execPath, [fedkmProgram, "--help"]);
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

// As a process of its own: one reader, one file.
if (process.argv[1] === program) console.log(JSON.stringify(await readHere(process.argv[2], process.argv[3])));
