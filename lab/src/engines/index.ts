// Real servers for tests and measurements of this machine, from the packages of its system.

import { clickhouseProgram } from "./clickhouse.ts";
import { postgresPrograms } from "./postgres.ts";

export { type ClickHouseForTests, SHARDS, startClickHouse } from "./clickhouse.ts";
export { type PostgresForTests, startPostgres } from "./postgres.ts";

/** What is not installed: for each engine the line that installs it on Debian. */
export function missingEngines(): string[] {
  const missing = [];
  if (postgresPrograms() === undefined) missing.push("PostgreSQL: apt-get install --no-install-recommends postgresql");
  if (clickhouseProgram() === undefined) {
    missing.push("ClickHouse: apt-get install --no-install-recommends clickhouse-server");
  }
  return missing;
}
