// A PostgreSQL server of the system's packages in a temporary folder, with a log of all that it executes.

import type { ChildProcess } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { answers, freePort, removeFolder, runOnce, startServer, stopServer, temporaryFolder } from "./process.ts";

const DEBIAN = "/usr/lib/postgresql";

/** The folder of its programs; undefined where it is not installed. */
export function postgresPrograms(): string | undefined {
  if (!existsSync(DEBIAN)) return undefined;
  const versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(DEBIAN, version, "bin")).find((bin) => existsSync(join(bin, "postgres")));
}

export interface PostgresForTests {
  readonly port: number;
  readonly address: string;
  /** Runs statements as the owner of the database. */
  run(text: string, values?: unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  /** All that the server has logged. */
  log(): string;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<PostgresForTests> {
  const programs = postgresPrograms();
  if (programs === undefined) throw new Error("PostgreSQL is not installed");
  const folder = temporaryFolder("postgres");
  const data = join(folder, "data");
  const port = await freePort();
  runOnce(
    join(programs, "initdb"),
    ["-D", data, "-U", "owner", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "-N"],
    folder,
  );
  const settings = [
    ...[`port = ${port}`, "listen_addresses = '127.0.0.1'", `unix_socket_directories = '${folder}'`, "fsync = off"],
    ...["log_statement = 'all'", "log_destination = 'stderr'", "logging_collector = on"],
    ...[`log_directory = '${folder}'`, "log_filename = 'log'", "log_rotation_size = 0", "max_connections = 50"],
  ];
  appendFileSync(join(data, "postgresql.conf"), `${settings.join("\n")}\n`);
  const { default: pg } = await import("pg");
  const run: PostgresForTests["run"] = async (text, values) => {
    const client = new pg.Client({ host: "127.0.0.1", port, user: "owner", database: "postgres" });
    client.on("error", () => {});
    await client.connect();
    try {
      return await client.query(text, values);
    } finally {
      await client.end();
    }
  };
  let server: ChildProcess;
  const start = async () => {
    server = startServer(join(programs, "postgres"), ["-D", data], folder);
    await answers(() => run("SELECT 1"));
  };
  await start();
  return {
    port,
    address: `postgres://owner@127.0.0.1:${port}/postgres`,
    run,
    log: () => readFileSync(join(folder, "log"), "utf8"),
    // At once, as if the machine had lost its power.
    kill: () => stopServer(server, "SIGQUIT"),
    start,
    async stop() {
      await stopServer(server, "SIGINT");
      removeFolder(folder);
    },
  };
}
