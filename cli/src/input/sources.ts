// Sources among the inputs of a command: rows of databases and lakes, read as a table where they fit. Where they do not, or
// should not, they stay, and the command has a sample of them.

import { env } from "node:process";
import type { Matrix } from "@fedkm/core";
import { memorySource, type Source } from "@fedkm/core/sources";
import type { MissingPolicy, Scaling, Table } from "@fedkm/files";
import type { OpenSource } from "@fedkm/sql";
import { UsageError } from "../failure.ts";
import { count } from "../numbers.ts";
import type { SourceOptions } from "./sourceOptions.ts";

interface ReadingOptions extends SourceOptions {
  readonly columns?: readonly string[];
  readonly exclude?: readonly string[];
  readonly deviceColumn?: string;
  readonly categories?: "auto" | readonly string[];
  readonly missing: MissingPolicy;
}

/** Rows of a sample, of which the rest of a command is made where rows stay. */
const SAMPLE_ROWS = 50_000;

export interface SourceTable {
  readonly source: OpenSource;
  /** All rows, or a sample. */
  readonly table: Table;
}

/** Rows between two words on how far a pass is. */
const ROWS_BETWEEN = 2 ** 20;

export async function readSource(
  address: string,
  options: ReadingOptions,
  announce: (text: string) => void,
): Promise<SourceTable> {
  const { missing, deviceColumn, categories } = options;
  if (deviceColumn !== undefined) {
    throw new UsageError("--device-column is for files: a source is one device, so give an address for each");
  }
  if (categories !== undefined) {
    throw new UsageError(
      "--categories is for files: turn texts into numbers in a view or a --query, such as CASE WHEN c = 'a' THEN 1 ELSE 0 END",
    );
  }
  if (missing === "mean") {
    throw new UsageError("--missing mean is for files: drop rows of sources, or fill them in a view or a --query");
  }
  const { openSource } = await import("@fedkm/sql");
  const { columns, exclude, query, where, read } = options;
  let announced = 0;
  const onRows = (rows: number) => {
    if (rows >= announced && rows < announced + ROWS_BETWEEN) return;
    announced = rows;
    announce(`${address}, ${count(rows)} rows`);
  };
  const onRetry = () => announce(`${address}, which is away, again`);
  const source = await openSource(address, {
    columns,
    exclude,
    query,
    where,
    read,
    missing,
    env,
    onRows,
    onRetry,
  });
  const points = await source.sample(source.read === "memory" ? Math.max(1, source.rows) : SAMPLE_ROWS);
  const whole = source.columns.map(() => ({ count: 0, line: 0 }));
  return { source, table: { file: source.name, format: "parquet", columns: source.columns, points, missing: whole } };
}

/** What a person should know who sees numbers of a source. */
export function sourceWarnings({ source, table }: SourceTable): string[] {
  const { name, rows, dropped, read } = source;
  const sampled = `the rows of ${name} stay where they are: pictures and what is not summed over all ${count(rows)} of them come from a sample of ${count(table.points.rows)}`;
  return [
    ...(dropped > 0 ? [`${count(dropped)} rows of ${name} with missing numbers were left out`] : []),
    ...(read === "memory" || table.points.rows === rows ? [] : [sampled]),
  ];
}

/** All devices as sources on one scale, if the rows of any stay. `datasets` are scaled rows, or samples of them. */
export function scaledSources(
  opened: readonly (OpenSource | undefined)[],
  datasets: readonly Matrix[],
  scaling: Scaling,
): Source[] | undefined {
  if (!opened.some((source) => source !== undefined && source.read !== "memory")) return undefined;
  if (scaling.transforms !== undefined) {
    throw new UsageError("--scale rank and log are for rows in memory: use another, or --read memory");
  }
  return datasets.map((points, i) => {
    const source = opened[i];
    if (source === undefined || source.read === "memory") return memorySource(points);
    return { ...source.scaled(scaling), sample: async () => points };
  });
}
