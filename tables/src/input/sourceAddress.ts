// Sources from addresses such as duckdb:PATH, in Node.

import type { MissingPolicy } from "@fedkm/files";
import type { OpenOptions } from "@fedkm/sql";
import { reportWorkProgress, type WorkContext } from "../work.ts";
import type { SourceRequest } from "./sources.ts";

/** How a source that was named by its address is read. */
export interface AddressOptions extends Pick<OpenOptions, "query" | "where" | "read" | "env"> {
  /** What becomes of cells without a value. */
  readonly missing?: MissingPolicy | undefined;
}

/** Rows between two words on how far a pass is. */
const ROWS_BETWEEN = 2 ** 20;

/** The source of an address such as duckdb:PATH, opened when a request reads it. */
export function inputSourceAt(address: string, options: AddressOptions, context: WorkContext = {}): SourceRequest {
  const missing = options.missing === "mean" ? undefined : options.missing;
  return {
    address,
    async open(columns, mayStay) {
      const { openSource } = await import("@fedkm/sql");
      let announced = 0;
      const onRows = (rows: number) => {
        if (rows >= announced && rows < announced + ROWS_BETWEEN) return;
        announced = rows;
        reportWorkProgress(context, { step: "read", name: address, rows });
      };
      const onRetry = () => reportWorkProgress(context, { step: "retry", name: address });
      const read = mayStay ? options.read : "memory";
      return openSource(address, { ...options, ...columns, read, missing, onRows, onRetry });
    },
    async words(request) {
      const { missing: _, ...where } = options;
      return (await import("@fedkm/sql")).wordsOfSqlSource(address, where, request);
    },
    async sums(encoding) {
      const { missing: _, ...where } = options;
      return (await import("@fedkm/sql")).sumsOfSqlSource(address, { ...where, encoding });
    },
  };
}
