// SQLite: an engine in this process, for its own files. The driver is WebAssembly, so that nothing has to be compiled.

import type { Database } from "node-sqlite3-wasm";
import { sqlite as dialect } from "./dialects.ts";
import { importDriver, SourceError } from "./driver.ts";
import { BLOCK_ROWS, type SqlEngine } from "./engine.ts";

export async function openSqlite(path: string): Promise<SqlEngine> {
  const { default: driver } = await importDriver("node-sqlite3-wasm", () => import("node-sqlite3-wasm"));
  const open = (readOnly: boolean) => {
    const database = new driver.Database(path, { fileMustExist: true, readOnly });
    return database.function("fedkm_fingerprint", (value) => fingerprint(String(value)), { deterministic: true });
  };
  const asked = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw new SourceError(`SQLite refused a query on ${path}: ${(error as Error).message}`);
    }
  };
  const database = asked(() => open(true));
  return {
    dialect,
    async columns(relation) {
      return asked(() => columnsOf(database, relation));
    },
    async *blocks(statement, cols, signal) {
      const data = new Float64Array(BLOCK_ROWS * cols);
      let rows = 0;
      for (const row of rowsOf(database, statement, cols, asked)) {
        signal?.throwIfAborted();
        for (let c = 0; c < cols; c++) data[rows * cols + c] = row[c] === null ? Number.NaN : Number(row[c]);
        if (++rows < BLOCK_ROWS) continue;
        yield { data, rows, cols };
        rows = 0;
      }
      if (rows > 0) yield { data: data.subarray(0, rows * cols), rows, cols };
    },
    async texts(statement) {
      const rows = asked(() => database.all(statement));
      return rows.map((row) => Object.values(row).map((cell) => (cell === null ? null : String(cell))));
    },
    async write(statements, signal) {
      const writing = asked(() => open(false));
      try {
        asked(() => writing.exec("BEGIN"));
        for (const statement of statements) {
          signal?.throwIfAborted();
          asked(() => writing.exec(statement));
        }
        asked(() => writing.exec("COMMIT"));
      } finally {
        // What was not committed is undone.
        writing.close();
      }
    },
    isPassing: (error) => /locked|busy/i.test((error as Error).message),
    async close() {
      if (database.isOpen) database.close();
    },
  };
}

/** By the cells: a column may hold anything, whatever its type says. One pass over all rows. */
function columnsOf(database: Database, relation: string) {
  const first = database.get(`SELECT * FROM ${relation} LIMIT 1`);
  if (first === null) throw new SourceError("a table must have rows, got none");
  const names = Object.keys(first);
  const kinds = names.flatMap((name) => {
    const type = `typeof(${dialect.quote(name)})`;
    return [`max(${type} IN ('integer', 'real'))`, `max(${type} = 'text')`, `max(${type} = 'blob')`];
  });
  const [found] = rowsOf(database, `SELECT ${kinds.join(", ")} FROM ${relation}`, kinds.length, (work) => work());
  return names.map((name, i) => {
    const [hasNumbers, hasTexts, hasBytes] = found.slice(3 * i, 3 * i + 3).map((own) => own === 1);
    const type = hasBytes ? "BLOB" : hasTexts ? "TEXT" : "REAL";
    return { name, type, isNumeric: hasNumbers && !hasTexts && !hasBytes, isNullable: true };
  });
}

/** Each row as a list: two columns of a query may have the same name. A query must be one statement: it is put into another. */
function* rowsOf(
  database: Database,
  statement: string,
  cols: number,
  asked: <T>(work: () => T) => T,
): Generator<readonly unknown[]> {
  const names = Array.from({ length: cols }, (_, c) => `fedkm_v${c}`);
  const own = asked(() =>
    database.prepare(`WITH fedkm_q(${names.join(", ")}) AS (${statement}\n) SELECT * FROM fedkm_q`),
  );
  try {
    const rows = own.iterate();
    for (let next = asked(() => rows.next()); !next.done; next = asked(() => rows.next()))
      yield Object.values(next.value);
  } finally {
    own.finalize();
  }
}

/** FNV-1a. */
function fingerprint(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}
