// What needs Node: models from files, and sources from addresses.

import { readFileSync } from "node:fs";
import { DataError, fileSystemReason, type MissingPolicy } from "@fedkm/files";
import type { OpenOptions } from "@fedkm/sql";
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

export interface AddressOptions extends Pick<OpenOptions, "query" | "where" | "read" | "env"> {
  readonly missing?: MissingPolicy | undefined;
}

/** Rows between two words on how far a pass is. */
const ROWS_BETWEEN = 2 ** 20;

/** The source of an address such as duckdb:PATH, opened when a request reads it. */
export function sourceAt(address: string, options: AddressOptions, context: WorkContext = {}): SourceRequest {
  const missing = options.missing === "mean" ? undefined : options.missing;
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
      const read = mayStay ? options.read : "memory";
      return openSource(address, { ...options, ...columns, read, missing, onRows, onRetry });
    },
  };
}
