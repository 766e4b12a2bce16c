// PostgreSQL: read-only connections, and rows by binary COPY, which costs a third of rows as objects.

import { setTimeout as wait } from "node:timers/promises";
import type { Matrix } from "@fedkm/core";
import type { Client, QueryConfig } from "pg";
import { postgres as dialect } from "./dialects.ts";
import { importDriver, SourceError } from "./driver.ts";
import { BLOCK_ROWS, type EngineServer, type SqlEngine } from "./engine.ts";

interface PostgresServer extends EngineServer {
  /** Undefined: the driver looks into ~/.pgpass. */
  readonly password: string | undefined;
  /** False, or the certificates to trust besides the system's. */
  readonly tls: false | { readonly ca?: string };
}

const CANCEL_AGAIN_MILLISECONDS = 200;

/** int8, int2, int4, float4, float8, numeric. */
const NUMERIC = new Set([20, 21, 23, 700, 701, 1700]);

/** Long, as its methods share how they connect, stop and end. */
export async function openPostgres(server: PostgresServer): Promise<SqlEngine> {
  const { default: pg } = await importDriver("pg", () => import("pg"));
  const { to: copyTo } = await importDriver("pg-copy-streams", () => import("pg-copy-streams"));
  const { timeLimit, tls, ...where } = server;
  const newClient = (settings: string) =>
    new pg.Client({
      ...where,
      ssl: tls,
      application_name: "fedkm",
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      options: `${settings} -c statement_timeout=${1000 * timeLimit}`,
    });

  /** A connection of its own for each question: where a server went away, the next question finds the new one. */
  async function connect(settings: string, signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    const client = newClient(settings);
    // Without it a connection that breaks between two questions would end the process.
    client.on("error", () => {});
    await client.connect();
    let isOver = false;
    // A server that is asked to stop before the question has come goes on with it, so it is asked again.
    const stop = async () => {
      for (; !isOver; await wait(CANCEL_AGAIN_MILLISECONDS)) await cancel(client);
    };
    signal?.addEventListener("abort", stop);
    const end = () => {
      isOver = true;
      signal?.removeEventListener("abort", stop);
      void client.end().catch(() => {});
    };
    // While it connected nobody listened.
    if (signal?.aborted) end();
    signal?.throwIfAborted();
    return { client, end };
  }

  /** Asks the server to stop, over another connection, as it listens to nothing else until it has answered. */
  async function cancel(client: Client): Promise<void> {
    const { processID } = client as Client & { readonly processID: number };
    const other = newClient("");
    other.on("error", () => {});
    try {
      await other.connect();
      await other.query("SELECT pg_cancel_backend($1)", [processID]);
    } catch {
      // It went away by itself.
    } finally {
      void other.end().catch(() => {});
    }
  }

  return {
    dialect,
    async columns(relation, signal) {
      const { client, end } = await connect(READING, signal);
      try {
        const { fields } = await client.query(single(`SELECT * FROM ${relation} LIMIT 0`));
        const types = await client.query<{ name: string }>(
          "SELECT format_type(t, NULL) AS name FROM unnest($1::oid[]) AS t",
          [fields.map(({ dataTypeID }) => dataTypeID)],
        );
        return fields.map(({ name, dataTypeID }, i) => {
          return { name, type: types.rows[i].name, isNumeric: NUMERIC.has(dataTypeID), isNullable: false };
        });
      } catch (error) {
        signal?.throwIfAborted();
        throw described(error);
      } finally {
        end();
      }
    },
    async *blocks(statement, cols, signal, isNumbered = false) {
      const { client, end } = await connect(isNumbered ? `${READING} ${NUMBERED}` : READING, signal);
      try {
        yield* copyRows(client.query(copyTo(`COPY (${statement}) TO STDOUT (FORMAT binary)`)), cols);
      } catch (error) {
        signal?.throwIfAborted();
        throw described(error);
      } finally {
        end();
      }
    },
    async texts(statement, signal, isNumbered = false) {
      const { client, end } = await connect(isNumbered ? `${READING} ${NUMBERED}` : READING, signal);
      try {
        const { rows } = await client.query<(string | null)[]>({ ...single(statement), rowMode: "array" });
        return rows.map((row) => row.map((cell) => (cell === null ? null : String(cell))));
      } catch (error) {
        signal?.throwIfAborted();
        throw described(error);
      } finally {
        end();
      }
    },
    async write(statements, signal) {
      const { client, end } = await connect("", signal);
      try {
        await client.query("BEGIN");
        for (const statement of statements) await client.query(single(statement));
        await client.query("COMMIT");
      } catch (error) {
        signal?.throwIfAborted();
        throw described(error);
      } finally {
        // What was not committed is undone.
        end();
      }
    },
    isPassing(error) {
      const { code = "", message = "" } = error as { code?: string; message?: string };
      return (
        /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENOTFOUND|ENOENT|57P0[123]|08)/.test(code) ||
        /terminated|timeout/i.test(message)
      );
    },
    async close() {},
  };
}

const READING = "-c default_transaction_read_only=on";

/** Parallel or shared scans would number rows differently each time. */
const NUMBERED = "-c synchronize_seqscans=off -c max_parallel_workers_per_gather=0";

/** The extended protocol takes one statement only: what a user gives as a condition cannot begin another. */
function single(text: string): QueryConfig {
  return { text, queryMode: "extended" } as QueryConfig;
}

/** What the server says, without the query, which is long. */
function described(error: unknown): unknown {
  const { code, message, severity } = error as { code?: string; message: string; severity?: string };
  if (severity === undefined || code === undefined) return error;
  return Object.assign(new SourceError(`PostgreSQL refused a query: ${message}`), { code });
}

const HEADER = 19;
const FIELD = 12;
/** In the place of a number of fields: the end. */
const TRAILER = -1;
const NULL_LENGTH = -1;

/**
 * Binary COPY of rows of doubles: a header of 19 bytes, then for each row its number of fields, and before each field its
 * length (https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-BINARY-FORMAT).
 */
async function* copyRows(stream: AsyncIterable<Buffer>, cols: number): AsyncIterable<Matrix> {
  const data = new Float64Array(BLOCK_ROWS * cols);
  let rest: Buffer = Buffer.alloc(0);
  let rows = 0;
  let hasHeader = false;
  let hasEnded = false;
  for await (const piece of stream) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    let at = hasHeader ? 0 : HEADER;
    if (!hasHeader && bytes.length < HEADER) at = 0;
    else hasHeader = true;
    while (hasHeader && !hasEnded && at + 2 <= bytes.length) {
      if (view.getInt16(at) === TRAILER) {
        hasEnded = true;
        break;
      }
      const end = rowEnd(view, at + 2, cols);
      if (end === undefined) break;
      readRow(view, at + 2, cols, data, rows * cols);
      at = end;
      if (++rows === BLOCK_ROWS) {
        yield { data, rows, cols };
        rows = 0;
      }
    }
    rest = bytes.subarray(at);
  }
  if (!hasEnded) throw Object.assign(new Error("PostgreSQL ended its answer too early: terminated"), { code: "08006" });
  if (rows > 0) yield { data: data.subarray(0, rows * cols), rows, cols };
}

/** Where the row ends that begins here; undefined where it has not arrived whole. */
function rowEnd(view: DataView, from: number, cols: number): number | undefined {
  // Nearly always: all fields are there, and none is NULL.
  if (from + cols * FIELD <= view.byteLength) {
    let at = from;
    for (let c = 0; c < cols; c++) at += view.getInt32(at) === NULL_LENGTH ? 4 : FIELD;
    return at;
  }
  let at = from;
  for (let c = 0; c < cols; c++) {
    if (at + 4 > view.byteLength) return undefined;
    at += view.getInt32(at) === NULL_LENGTH ? 4 : FIELD;
  }
  return at <= view.byteLength ? at : undefined;
}

function readRow(view: DataView, from: number, cols: number, /* OUT */ data: Float64Array, to: number): void {
  let at = from;
  for (let c = 0; c < cols; c++) {
    const isNull = view.getInt32(at) === NULL_LENGTH;
    data[to + c] = isNull ? Number.NaN : view.getFloat64(at + 4);
    at += isNull ? 4 : FIELD;
  }
}
