// A ClickHouse cluster of three servers of the system's packages on this machine, each a shard.

import type { ChildProcess } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answers, freePort, ownFolder, removeFolder, startServer, stopServer, temporaryFolder } from "./process.ts";

const PLACES = ["/usr/sbin/clickhouse-server", "/usr/bin/clickhouse-server"];

/** Its program; undefined where it is not installed. */
export function clickhouseProgram(): string | undefined {
  return PLACES.find((place) => existsSync(place));
}

export const SHARDS = 3;

export interface ClickHouseForTests {
  /** Of the first server; `cluster` is the name of all three. */
  readonly address: string;
  readonly cluster: string;
  /** Runs a statement on one server. */
  run(statement: string, shard?: number): Promise<string>;
  /** Puts rows into a table of one server, as packed doubles. */
  insert(table: string, rows: Float64Array, shard: number): Promise<void>;
  log(): string;
  kill(shard: number): Promise<void>;
  start(shard: number): Promise<void>;
  stop(): Promise<void>;
}

export async function startClickHouse(): Promise<ClickHouseForTests> {
  const program = clickhouseProgram();
  if (program === undefined) throw new Error("ClickHouse is not installed");
  const folder = temporaryFolder("clickhouse");
  const shards = Array.from({ length: SHARDS }, (_, i) => i);
  const ports = await Promise.all(shards.flatMap(() => [freePort(), freePort()]));
  const http = (shard: number) => ports[2 * shard];
  const tcp = (shard: number) => ports[2 * shard + 1];
  const homes = shards.map((shard) => join(folder, String(shard)));
  for (const shard of shards) writeConfig(homes[shard], http(shard), tcp(shard), shards.map(tcp));
  const servers: ChildProcess[] = [];
  const send = async (statement: string, shard: number, body?: Uint8Array<ArrayBuffer>) => {
    const url = new URL(`http://127.0.0.1:${http(shard)}/`);
    if (body !== undefined) url.searchParams.set("query", statement);
    const answer = await fetch(url, { method: "POST", body: body ?? statement });
    const text = await answer.text();
    if (!answer.ok) throw new Error(text);
    return text;
  };
  const start = async (shard: number) => {
    servers[shard] = startServer(program, [`--config-file=${homes[shard]}/config.xml`], homes[shard]);
    await answers(() => send("SELECT 1", shard));
  };
  await Promise.all(shards.map(start));
  return {
    address: `clickhouse://127.0.0.1:${http(0)}/default`,
    cluster: "three",
    run: (statement, shard = 0) => send(statement, shard),
    async insert(table, rows, shard) {
      await send(
        `INSERT INTO ${table} FORMAT RowBinary`,
        shard,
        Uint8Array.from(new Uint8Array(rows.buffer, rows.byteOffset, rows.byteLength)),
      );
    },
    log: () => homes.map((home) => readFileSync(join(home, "log"), "utf8")).join("\n"),
    kill: (shard) => stopServer(servers[shard], "SIGKILL"),
    start,
    async stop() {
      await Promise.all(servers.map((server) => stopServer(server, "SIGKILL")));
      removeFolder(folder);
    },
  };
}

function writeConfig(home: string, http: number, tcp: number, shards: readonly number[]): void {
  for (const folder of [home, join(home, "data"), join(home, "tmp")]) ownFolder(folder);
  const replicas = shards.map((port) => `<shard><replica><host>127.0.0.1</host><port>${port}</port></replica></shard>`);
  const config = `<yandex>
<logger><level>debug</level><log>${home}/log</log><errorlog>${home}/errors</errorlog></logger>
<http_port>${http}</http_port><tcp_port>${tcp}</tcp_port><listen_host>127.0.0.1</listen_host>
<path>${home}/data/</path><tmp_path>${home}/tmp/</tmp_path><mark_cache_size>50000000</mark_cache_size>
<users_config>${home}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><keep_alive_timeout>3</keep_alive_timeout>
<remote_servers><three>${replicas.join("")}</three></remote_servers>
</yandex>`;
  const users = `<yandex><profiles><default/></profiles><quotas><default/></quotas><users><default><password></password>
<networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default></users></yandex>`;
  writeFileSync(join(home, "config.xml"), config);
  writeFileSync(join(home, "users.xml"), users);
}
