// Commands on rows that stay where they are: docs/data.md is true, with real servers in the place of its hosts, and four
// devices on four kinds of data agree.

import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { complete, fit, type Matrix, matrix, objective, paperData, toRows } from "@fedkm/core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingEngines, startClickHouse, startPostgres } from "../../lab/src/engines/index.ts";
import { clickhouseTables, duckdbTables, type EngineTables, postgresTables } from "../../sql/test/engines.ts";
import { eventually } from "../../test/eventually.ts";
import { runCommandLine } from "../src/program.ts";
import { fakeConsole } from "./fakeConsole.ts";
import { temporaryFolder } from "./folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = temporaryFolder();
folder.addExamples();

const isComplete = missingEngines().length === 0;
if (!isComplete) console.warn(`skipped, not installed: ${missingEngines().join("; ")}`);

/** A command in this process; names of files and folders are those in the folder. */
async function fedkm(...args: string[]) {
  const io = fakeConsole();
  const own = args.map((arg) =>
    arg.replace(/^(duckdb:)?(?=(examples|lake|streamed|again|both|north|study\.yaml)(\/|$))/, `$1${folder.path}/`),
  );
  const code = await runCommandLine(own, io);
  return { code, ...io.said() };
}

/** A command line as a shell would split it. */
const split = (line: string) => Array.from(line.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, plain]) => quoted ?? plain);

const page = readFileSync(join(root, "docs/data.md"), "utf8");
const lines = Array.from(page.matchAll(/^```bash\n([\s\S]*?)^```/gm), ([, block]) =>
  block.trimEnd().split("\n"),
).flat();

describe("docs/data.md", () => {
  it.each(lines.filter((line) => !line.includes("db.example")))("%s", async (line) => {
    const { code, stderr } = await fedkm(...split(line.replace(/^fedkm /, "")));
    expect([code, stderr]).toEqual([0, ""]);
  });

  it("gives the same clusters from DuckDB, loaded, streamed or aggregated, as from the files", async () => {
    const objectiveOf = async (...args: string[]) => {
      const { stdout } = await fedkm(
        "fit",
        "--as-is",
        ...args,
        "--k",
        "3",
        "--exclude",
        "plant",
        "--json",
        "--out",
        "again",
      );
      return JSON.parse(stdout).objective;
    };
    const fromFiles = await objectiveOf("examples/north.csv", "examples/south.csv");
    const scaled = await objectiveOf("examples/north.csv", "examples/south.csv", "--scale", "standard");
    const sources = ["duckdb:examples/north.csv", "duckdb:examples/south.csv"];
    for (const read of ["memory", "stream", "aggregate"]) {
      expect(await objectiveOf(...sources, "--read", read), read).toBeCloseTo(fromFiles, 9);
      expect(await objectiveOf(...sources, "--read", read, "--scale", "standard"), read).toBeCloseTo(scaled, 9);
    }
    const consensus = ["--method", "consensus"];
    const pooled = await objectiveOf("examples/north.csv", "examples/south.csv", ...consensus);
    for (const read of ["memory", "stream", "aggregate"])
      expect(await objectiveOf(...sources, "--read", read, ...consensus), read).toBeCloseTo(pooled, 9);
  });

  it("labels rows of a new device where they are, as it labels them in a file", async () => {
    const { DuckDBInstance } = await import("@duckdb/node-api");
    const file = join(folder.path, "clinic.duckdb");
    const instance = await DuckDBInstance.create(file);
    const connection = await instance.connect();
    await connection.run(`CREATE TABLE visits AS SELECT * FROM read_csv('${folder.path}/examples/north.csv')`);
    connection.closeSync();
    instance.closeSync();
    const asked = ["--model", "lake/model.json", "--json"];
    const known = await fedkm("predict", "examples/north.csv", ...asked, "--device", "common");
    const source = `duckdb:${file}?table=visits`;
    const unknown = await fedkm("predict", source, ...asked, "--out", "labelled");
    expect(unknown.stderr).toContain('must be a device of the model (south, north), got "visits"');
    const { code, stderr } = await fedkm("predict", source, ...asked, "--out", "labelled", "--device", "common");
    expect([code, stderr]).toEqual([0, ""]);
    const again = await DuckDBInstance.create(file);
    const reader = await again.connect();
    const rows = await (await reader.run("SELECT cluster FROM labelled ORDER BY rowid")).getRows();
    expect(rows.map(([cluster]) => Number(cluster))).toEqual(JSON.parse(known.stdout).labels);
    reader.closeSync();
    again.closeSync();
  });

  it("refuses what sources cannot do, in one line", async () => {
    const refusal = async (...args: string[]) => (await fedkm(...args)).stderr;
    const source = "duckdb:examples/north.csv";
    const fitting = ["fit", "--as-is", source, "--k", "3", "--exclude", "plant"];
    expect(await refusal(...fitting, "--device-column", "site")).toContain('column "site" must exist');
    expect(await refusal("fit", "--as-is", source, "--k", "3")).toContain('column "plant" must hold numbers');
    const streamed = [...fitting, "--read", "stream"];
    expect(await refusal(...streamed, "--privacy", "guarded")).toContain("--read memory loads them");
    expect(await refusal(...streamed, "--scale", "log:height_cm")).toContain("--read memory");
    expect(await refusal("fit", "--as-is", "trino://host/catalog/schema/t", "--k", "3")).toContain("--as sql:trino");
    expect(await refusal(...streamed, "--method", "kfed")).toContain("--method must be fedkm or consensus");
    expect(await refusal(...streamed, "--scale", "rank")).toContain("--read memory");
    const withPassword = await refusal("fit", "--as-is", "postgres://me:hunter2@db/x?table=t", "--k", "3");
    expect(withPassword).toMatch(/^fedkm: postgres:\/\/db: a password/);
    expect(withPassword).not.toContain("hunter2");
    expect(await refusal("predict", source, "--model", "lake/model.json")).toContain(
      "labels of a source need --out TABLE",
    );
    const filled = ["predict", source, "--model", "lake/model.json", "--out", "t", "--missing", "mean"];
    expect(await refusal(...filled)).toContain("--missing mean must be used with a model that was fitted with it");
    for (const option of [["--distances"], ["--labels-as", "csv"]]) {
      const asked = ["predict", source, "--model", "lake/model.json", "--out", "t", ...option];
      expect(await refusal(...asked)).toContain(`${option[0]} is for files`);
    }
    expect(await refusal("inspect", "duckdb:absent/*.parquet")).toMatch(/^fedkm: .*absent/);
  });
});

describe.skipIf(!isComplete)("with servers", () => {
  const { datasets } = paperData("iso", 4, 60, 5);
  const devices: EngineTables[] = [];
  const addresses: string[] = [];
  let addressOfVisits = "";
  let postgres: Awaited<ReturnType<typeof startPostgres>>;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    postgres = await startPostgres();
    devices.push(await duckdbTables(), await postgresTables(postgres));
    writeFileSync(
      join(folder.path, "own.csv"),
      `c0,c1\n${toRows(datasets[0])
        .map((row) => row.join())
        .join("\n")}\n`,
    );
    addresses.push(join(folder.path, "own.csv"));
    await postgres.run(
      "CREATE TABLE records AS SELECT g % 90 AS age, (g % 7)::float8 AS days, g * 1.5 AS cost, g % 3 > 0 AS consent FROM generate_series(1, 400) AS g",
    );
    for (const [, sql] of page.matchAll(/^```sql\n([\s\S]*?)^```/gm)) await postgres.run(sql);
    const clickhouse = await startClickHouse();
    devices.push(await clickhouseTables(clickhouse));
    await clickhouse.run(
      "CREATE TABLE all_visits ENGINE = Log AS SELECT toUInt8(number % 90) AS age, number % 7 AS days, number * 1.5 AS cost FROM numbers(300)",
    );
    addressOfVisits = `${clickhouse.address}/all_visits`;
    for (const [i, place] of devices.entries()) addresses.push(await place.put(datasets[i + 1]));
  });
  afterAll(async () => {
    for (const child of children) child.kill("SIGKILL");
    for (const place of devices) await place.stop();
  });

  it("runs the commands of docs/data.md that name servers", async () => {
    await fedkm("study", "init", "--feature", "age:0:100", "days:0:10", "cost:0:1000", "--out", "study.yaml");
    const served = lines.filter((line) => line.includes("db.example"));
    expect(served.length).toBeGreaterThanOrEqual(4);
    for (const line of served) {
      const asked = line
        .replaceAll(/postgres:\/\/(\w+)@db\.example\/clinic/g, `postgres://$1@127.0.0.1:${postgres.port}/postgres`)
        .replaceAll("clickhouse://db.example/default/all_visits", addressOfVisits)
        .replace(/^fedkm /, "");
      const { code, stderr } = await fedkm(...split(asked));
      expect([code, stderr], asked).toEqual([0, ""]);
    }
    const { rows } = await postgres.run("SELECT count(*) AS n, count(DISTINCT cluster) AS k FROM visits_clustered");
    expect(rows).toEqual([{ n: "267", k: "3" }]);
  });

  it("fits a file, a lake, PostgreSQL and ClickHouse together as it fits their rows", async () => {
    const { stdout, stderr } = await fedkm(
      "fit",
      "--as-is",
      ...addresses,
      "--k",
      "3",
      "--weighting",
      "device",
      "--json",
      "--out",
      join(folder.path, "four"),
    );
    expect(stderr).toBe("");
    const expected = fit(datasets, complete(4), { k: 3, alpha: 1, seed: 1 });
    expect(JSON.parse(stdout).objective / expected.objective).toBeCloseTo(1, 9);
    expect(JSON.parse(stdout).devices.map(({ rows }: { rows: number }) => rows)).toEqual([60, 60, 60, 60]);
  });

  it("runs four devices on them as processes that agree with fit to 1e-9", async () => {
    const at = (name: string) => join(folder.path, name);
    const features = ["--feature", "c0:-30:30", "c1:-30:30"];
    await fedkm("study", "init", "--alpha", "1", "--privacy", "open", ...features, "--out", at("four.yaml"));
    const names = addresses.map((_, i) => `device${i}`);
    for (const [i, name] of names.entries()) {
      const listen = ["--listen", "/ip4/127.0.0.1/tcp/0"];
      const { code, stderr } = await fedkm(
        "device",
        "init",
        "--study",
        at("four.yaml"),
        "--data",
        addresses[i],
        "--state",
        at(name),
        ...listen,
      );
      expect([code, stderr]).toEqual([0, ""]);
      const program = join(root, "cli/bin/fedkm.js");
      children.push(spawn(process.execPath, [program, "device", "run", "--state", at(name)], { stdio: "ignore" }));
    }
    const linksOf = async (name: string) =>
      JSON.parse((await fedkm("device", "links", "--state", at(name), "--json")).stdout);
    const invites = await Promise.all(
      names.map((name) =>
        eventually(async () => {
          const { invite } = await linksOf(name);
          expect(invite).toMatch(/tcp\/[1-9]/);
          return invite;
        }, folder.path),
      ),
    );
    for (const name of names) {
      for (const [j, other] of names.entries()) {
        if (other === name) continue;
        const linked = await fedkm(
          "device",
          "link",
          invites[j],
          "--name",
          other,
          "--accept",
          "open",
          "--state",
          at(name),
        );
        expect(linked).toMatchObject({ code: 0 });
      }
    }
    const expected = fit(datasets, complete(4), { k: 3, alpha: 1 });
    // Differences below the threshold even out with the heartbeats.
    await eventually(async () => {
      const all: Matrix[] = [];
      for (const name of names) {
        const { device, links } = JSON.parse((await fedkm("device", "status", "--state", at(name), "--json")).stdout);
        expect(links.map(({ isConnected }: { isConnected: boolean }) => isConnected)).toEqual([true, true, true]);
        expect([device.phase, device.rows]).toEqual(["settled", 60]);
        all.push(matrix(device.centroids));
      }
      const reached = objective(datasets, all, complete(4), { alpha: 1 });
      expect(Math.abs(reached / expected.objective - 1)).toBeLessThan(1e-9);
    }, folder.path);
  });
});
