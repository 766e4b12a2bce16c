// Sources among the inputs of a command: rows of databases and lakes, read as a table where they fit. Where they do not, or
// should not, they stay, and the command has a sample of them.

import type { Encoding, MissingPolicy, Selection, Table } from "@fedkm/files";
import type { OpenSource, SourceDevice, SourceWords, WordsRequest } from "@fedkm/sql";
import { countLabel } from "../numbers.ts";
import { RequestError } from "../request.ts";

/** How the columns of a source become numbers, and whose rows are meant. */
export interface SourceColumns {
  readonly columns?: readonly string[];
  readonly exclude?: readonly string[];
  readonly encoding?: Encoding;
  readonly fill?: readonly number[];
  readonly device?: SourceDevice;
}

/** Rows that stay in a database or a lake: one device, or several that a column names. */
export interface SourceRequest {
  /** What it is called in messages. */
  readonly address: string;
  /** Opens it with these columns; its rows are loaded if they may not stay. `@fedkm/tables/node` has such functions. */
  open(columns: SourceColumns, mayStay: boolean): Promise<OpenSource>;
  /** The words of devices and categories. */
  words(request: WordsRequest): Promise<SourceWords>;
  /** Its rows, and for each column of numbers their sum and how many there are. */
  sums(encoding: Encoding): Promise<SourceSums>;
}

export interface SourceSums {
  readonly rows: number;
  readonly sums: readonly number[];
  readonly counts: readonly number[];
}

/** Rows of a sample, of which the rest of a request is answered where rows stay. */
const SAMPLE_ROWS = 50_000;

export interface SourceTable {
  readonly source: OpenSource;
  /** All rows, or a sample. */
  readonly table: Table;
}

/** One source, or one for each device that its column names; all with the columns of the encoding, which are numbers. */
export async function readSource(
  { open }: SourceRequest,
  columns: SourceColumns,
  mayStay: boolean,
): Promise<SourceTable> {
  const source = await open(columns, mayStay);
  const points = await source.sample(source.read === "memory" ? Math.max(1, source.rows) : SAMPLE_ROWS);
  const whole = source.columns.map(() => ({ count: 0, line: 0 }));
  const { device } = columns;
  const table: Table = {
    file: source.name,
    format: "parquet",
    columns: source.columns,
    points,
    missing: whole,
    ...(device && { devices: { names: [device.name], of: new Uint32Array(points.rows) } }),
  };
  return { source, table };
}

/** The columns of all files and sources, with all words of categories. Words that say that nothing is known are none. */
export function joinEncodings(
  known: Encoding | undefined,
  all: readonly SourceWords[],
  isMissing: (word: string) => boolean,
): Encoding {
  const first = known ?? all[0].columns.map(({ name, values }) => (values === undefined ? { name } : { name, values }));
  return first.map(({ name, values }) => {
    if (values === undefined) return { name };
    const others = all.flatMap(({ columns }) => columns.find((own) => own.name === name)?.values ?? []);
    return { name, values: [...new Set([...values, ...others])].filter((word) => !isMissing(word)).sort() };
  });
}

/** The names of a source's devices; a row that names none is refused, or has none under a policy that drops it. */
export function sourceDevices(
  { address }: SourceRequest,
  { devices }: SourceWords,
  { deviceColumn = "", missing }: Pick<Selection, "deviceColumn"> & { readonly missing?: MissingPolicy | undefined },
): (SourceDevice | undefined)[] {
  if (devices === undefined) return [undefined];
  if (devices.includes(null) && missing !== "drop") {
    throw new RequestError(
      `${address}: every row must name a device in ${JSON.stringify(deviceColumn)}, got rows without one: --missing drop leaves them out`,
    );
  }
  return devices.flatMap((name) => (name === null ? [] : [{ column: deviceColumn, name }]));
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
