// Sources among the inputs of a command: rows of databases and lakes, read as a table where they fit. Where they do not, or
// should not, they stay, and the command has a sample of them.

import type { MissingPolicy, Selection, Table } from "@fedkm/files";
import type { OpenSource } from "@fedkm/sql";
import { countLabel } from "../numbers.ts";
import { RequestError } from "../request.ts";

/** Rows that stay in a database or a lake: one device. */
export interface SourceRequest {
  /** What it is called in messages. */
  readonly address: string;
  /** Opens it with these columns; its rows are loaded if they may not stay. `@fedkm/tables/node` has such functions. */
  open(columns: Pick<Selection, "columns" | "exclude">, mayStay: boolean): Promise<OpenSource>;
}

/** Rows of a sample, of which the rest of a request is answered where rows stay. */
const SAMPLE_ROWS = 50_000;

export interface SourceTable {
  readonly source: OpenSource;
  /** All rows, or a sample. */
  readonly table: Table;
}

export async function readSource(
  { open }: SourceRequest,
  { columns, exclude, deviceColumn, categories, missing }: Selection & { readonly missing?: MissingPolicy | undefined },
  mayStay: boolean,
): Promise<SourceTable> {
  if (deviceColumn !== undefined) {
    throw new RequestError("--device-column is for files: a source is one device, so give an address for each");
  }
  if (categories !== undefined) {
    throw new RequestError(
      "--categories is for files: turn texts into numbers in a view or a --query, such as CASE WHEN c = 'a' THEN 1 ELSE 0 END",
    );
  }
  if (missing === "mean") {
    throw new RequestError("--missing mean is for files: drop rows of sources, or fill them in a view or a --query");
  }
  const source = await open({ ...(columns && { columns }), ...(exclude && { exclude }) }, mayStay);
  const points = await source.sample(source.read === "memory" ? Math.max(1, source.rows) : SAMPLE_ROWS);
  const whole = source.columns.map(() => ({ count: 0, line: 0 }));
  return { source, table: { file: source.name, format: "parquet", columns: source.columns, points, missing: whole } };
}

/** What a person should know who sees numbers of a source. */
export function sourceWarnings({ source, table }: SourceTable): string[] {
  const { name, rows, dropped, read } = source;
  const sampled = `the rows of ${name} stay where they are: pictures and what is not summed over all ${countLabel(rows)} of them come from a sample of ${countLabel(table.points.rows)}`;
  return [
    ...(dropped > 0 ? [`${countLabel(dropped)} rows of ${name} with missing numbers were left out`] : []),
    ...(read === "memory" || table.points.rows === rows ? [] : [sampled]),
  ];
}
