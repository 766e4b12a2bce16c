// DuckDB as a peer: fetched by npm into a folder of its own when the lab first needs it, since it weighs 70 MB.

import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const PACKAGE = "@duckdb/node-api";
const VERSION = "1.5.6-r.1";
const folder = fileURLToPath(new URL("../../../node_modules/.cache/fedkm-peers", import.meta.url));

/** What is used of it. */
interface Connection {
  run(statement: string): Promise<unknown>;
}

/** Whether it is there, fetched if need be. */
export function hasDuckdb(): boolean {
  if (existsSync(join(folder, "node_modules", PACKAGE))) return true;
  mkdirSync(folder, { recursive: true });
  console.log(`installing a peer with npm: ${PACKAGE}`);
  const words = ["install", "--prefix", folder, "--no-audit", "--no-fund", `${PACKAGE}@${VERSION}`];
  return spawnSync("npm", words, { stdio: "ignore" }).status === 0;
}

/** A connection to an empty database in memory that uses one thread, as our reader does. */
export async function connect(): Promise<Connection> {
  const require = createRequire(join(folder, "package.json"));
  const { DuckDBInstance } = require(PACKAGE);
  return (await DuckDBInstance.create(":memory:", { threads: "1" })).connect();
}
