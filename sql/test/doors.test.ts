// What a server of another machine sees of a connection: TLS before anything else, and sessions that may only read.

import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { openSource } from "@fedkm/sql";
import { afterEach, describe, expect, it } from "vitest";

/** The request for TLS that PostgreSQL's protocol begins with: 8 bytes, code 80877103. */
const SSL_REQUEST = "0000000804d2162f";
/** Of a record that begins a TLS handshake. */
const HANDSHAKE = 0x16;

let close = () => {};
afterEach(() => close());

/** The first bytes that a connection brings to a server that then hangs up. No name of this host is one of this machine. */
async function firstBytes(address: (port: number) => string): Promise<Buffer> {
  const server = createServer();
  server.listen(0, "0.0.0.0");
  await once(server, "listening");
  close = () => server.close();
  const { port } = server.address() as { port: number };
  const said = once(server, "connection").then(async ([socket]: Socket[]) => {
    const [bytes] = (await once(socket, "data")) as [Buffer];
    socket.destroy();
    return bytes;
  });
  const opened = openSource(address(port), { env: { CLICKHOUSE_PASSWORD: "hunter2", PGPASSWORD: "hunter2" } });
  await Promise.all([said, expect(opened).rejects.toThrow()]);
  return said;
}

describe("a database of another machine", () => {
  it.each(["", "&tls=yes"])("is PostgreSQL and asked for TLS before it learns a name (%s)", async (tls) => {
    const bytes = await firstBytes((port) => `postgres://me@0.0.0.0:${port}/clinic?table=visits${tls}`);
    expect(bytes.toString("hex")).toBe(SSL_REQUEST);
  });

  it.each(["", "?tls=yes"])("is ClickHouse and spoken to in TLS alone (%s)", async (tls) => {
    const bytes = await firstBytes((port) => `clickhouse://me@0.0.0.0:${port}/stats/visits${tls}`);
    expect(bytes[0]).toBe(HANDSHAKE);
    expect(bytes.toString("latin1")).not.toContain("hunter2");
  });

  it("is spoken to in the open only if the address says so", async () => {
    const postgres = await firstBytes((port) => `postgres://me@0.0.0.0:${port}/clinic?table=visits&tls=no`);
    expect(postgres.toString("latin1")).toContain("user\0me\0");
    const clickhouse = await firstBytes((port) => `clickhouse://me@0.0.0.0:${port}/stats/visits?tls=no`);
    expect(clickhouse.toString("latin1")).toMatch(/^POST /);
  });
});

describe("a database of this machine", () => {
  it.each(["localhost", "127.0.0.1", "127.9.9.9"])("is spoken to without TLS at %s", async (host) => {
    const bytes = await firstBytes((port) => `postgres://me@${host}:${port}/clinic?table=visits`);
    expect(bytes.toString("latin1")).toContain("user\0me\0");
  });

  it("has sessions of PostgreSQL that may only read, and end after the time limit", async () => {
    const bytes = await firstBytes((port) => `postgres://me@127.0.0.1:${port}/clinic?table=visits`);
    const [, options] = /options\0([^\0]*)\0/.exec(bytes.toString("latin1")) ?? [];
    expect(options).toContain("-c default_transaction_read_only=on");
    expect(options).toContain("-c statement_timeout=3600000");
  });
});
