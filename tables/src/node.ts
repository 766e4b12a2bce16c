// What needs Node: models from files, and sources from addresses.

import { readFileSync } from "node:fs";
import { DataError, fileSystemReason, type MissingPolicy } from "@fedkm/files";
import type { OpenOptions, ReadMode } from "@fedkm/sql";
import type { SourceRequest } from "./input/sources.ts";
import type { Model } from "./model/model.ts";
import { parseModel, parseWholeModel } from "./model/parseModel.ts";
import { report, type WorkContext } from "./work.ts";

/** The model of a file. `whole`: also what only its certificate needs is checked. */
export function readModel(file: string, { whole = false } = {}): Model {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    throw new DataError({ file }, "be a model file", fileSystemReason(error), "write one with fedkm fit", {
      cause: error,
    });
  }
  return whole ? parseWholeModel(text, file) : parseModel(text, file);
}

export interface AddressOptions {
  /** A SELECT instead of a table. */
  readonly query?: string | undefined;
  /** A condition in SQL. */
  readonly where?: string | undefined;
  /** Default: files are loaded where they fit, servers aggregate. */
  readonly read?: ReadMode | undefined;
  readonly missing?: MissingPolicy | undefined;
  /** Where passwords may be. */
  readonly env: OpenOptions["env"];
}

/** Rows between two words on how far a pass is. */
const ROWS_BETWEEN = 2 ** 20;

/** The source of an address such as duckdb:PATH, opened when a request reads it. */
export function sourceAt(address: string, options: AddressOptions, context: WorkContext = {}): SourceRequest {
  const { query, where, read, missing, env } = options;
  return {
    address,
    async open(columns, mayStay) {
      const { openSource } = await import("@fedkm/sql");
      let announced = 0;
      const onRows = (rows: number) => {
        if (rows >= announced && rows < announced + ROWS_BETWEEN) return;
        announced = rows;
        report(context, { step: "read", name: address, rows });
      };
      const onRetry = () => report(context, { step: "retry", name: address });
      const policy = missing === "mean" ? undefined : missing;
      return openSource(address, {
        ...columns,
        query,
        where,
        read: mayStay ? read : "memory",
        missing: policy,
        env,
        onRows,
        onRetry,
      });
    },
  };
}
