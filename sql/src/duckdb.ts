// DuckDB: an engine in this process, for its own files and for files of Parquet and CSV.

import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { duckdb as dialect } from "./dialects.ts";
import { importDriver } from "./driver.ts";
import { BLOCK_ROWS, type SqlEngine } from "./engine.ts";

const NUMERIC = /^(U?(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)|FLOAT|DOUBLE|DECIMAL\(.*\))$/;

/** `path` is a file of DuckDB, or undefined for files that queries name. */
export async function openDuckDB(path: string | undefined, timeLimit: number): Promise<SqlEngine> {
  const { DuckDBInstance } = await importDriver("@duckdb/node-api", () => import("@duckdb/node-api"));
  const instance = await DuckDBInstance.create(
    path ?? ":memory:",
    path === undefined ? {} : { access_mode: "READ_ONLY" },
  );
  return engineOn(instance, path, timeLimit);
}

/** Long, as its methods share one instance. */
function engineOn(instance: DuckDBInstance, path: string | undefined, timeLimit: number): SqlEngine {
  /** Each question has a connection of its own: an abort interrupts that one alone. */
  async function* chunks(statement: string, signal: AbortSignal | undefined) {
    signal?.throwIfAborted();
    const connection = await instance.connect();
    const limit = AbortSignal.timeout(timeLimit * 1000);
    const stop = () => connection.interrupt();
    signal?.addEventListener("abort", stop);
    limit.addEventListener("abort", stop);
    try {
      await checkSingle(connection, statement);
      const result = await connection.stream(statement);
      for (let chunk = await result.fetchChunk(); chunk !== null && chunk.rowCount > 0; ) {
        yield chunk;
        signal?.throwIfAborted();
        chunk = await result.fetchChunk();
      }
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) throw new Error(`DuckDB had ${timeLimit} seconds for a query, and needs more`);
      throw error;
    } finally {
      signal?.removeEventListener("abort", stop);
      limit.removeEventListener("abort", stop);
      connection.closeSync();
    }
  }
  return {
    dialect,
    async columns(relation, signal) {
      const columns = [];
      for await (const chunk of chunks(`DESCRIBE SELECT * FROM ${relation}`, signal)) {
        for (const row of chunk.getRows()) {
          const type = String(row[1]);
          columns.push({ name: String(row[0]), type, isNumeric: NUMERIC.test(type), isNullable: false });
        }
      }
      return columns;
    },
    async *blocks(statement, cols, signal) {
      const data = new Float64Array(BLOCK_ROWS * cols);
      let rows = 0;
      for await (const chunk of chunks(statement, signal)) {
        // Asked once: each time is a call into the engine.
        const { rowCount } = chunk;
        if (rows + rowCount > BLOCK_ROWS) {
          yield { data: data.subarray(0, rows * cols), rows, cols };
          rows = 0;
        }
        for (let c = 0; c < cols; c++) {
          const values = doublesOf(chunk.getColumnVector(c));
          for (let r = 0, at = rows * cols + c; r < rowCount; r++, at += cols) data[at] = values[r];
        }
        rows += rowCount;
      }
      if (rows > 0) yield { data: data.subarray(0, rows * cols), rows, cols };
    },
    async texts(statement, signal) {
      const rows: (string | null)[][] = [];
      for await (const chunk of chunks(statement, signal)) {
        for (const row of chunk.getRows()) rows.push(row.map((cell) => (cell === null ? null : String(cell))));
      }
      return rows;
    },
    async write(statements, signal) {
      if (path === undefined)
        throw new Error("files are read only: labels can be written to a table of a .duckdb file");
      const { DuckDBInstance } = await import("@duckdb/node-api");
      // The file is open for reading here, and one process opens it in one way only.
      instance.closeSync();
      const writing = await DuckDBInstance.create(path);
      try {
        const connection = await writing.connect();
        await connection.run("BEGIN TRANSACTION");
        for (const statement of statements) {
          signal?.throwIfAborted();
          await connection.run(statement);
        }
        await connection.run("COMMIT");
        connection.closeSync();
      } finally {
        writing.closeSync();
      }
    },
    isPassing: () => false,
    async close() {
      instance.closeSync();
    },
  };
}

/** The numbers of a column of doubles as they lie in memory; `toArray` would make an object of each. */
function doublesOf(vector: object): Float64Array {
  const { items } = vector as { readonly items?: unknown };
  if (items instanceof Float64Array) return items;
  throw new TypeError("this version of @duckdb/node-api keeps doubles in another form: install 1.5");
}

/** What a user gives as a condition must not end the query and begin another. */
async function checkSingle(connection: DuckDBConnection, statement: string): Promise<void> {
  const { count } = await connection.extractStatements(statement);
  if (count !== 1) throw new RangeError(`a query must be one statement, got ${count}`);
}
