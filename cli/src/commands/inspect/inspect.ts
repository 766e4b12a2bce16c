// fedkm inspect: what fedkm sees in a file, before anything is clustered.

import {
  type ColumnProfile,
  type DialectOptions,
  delimiters,
  type FileLayout,
  type Profile,
  profile,
  readLayout,
  readTable,
} from "@fedkm/files";
import type { Console } from "../../console.ts";
import { asArgument } from "../../input/remedies.ts";
import { count, significant } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";

export async function inspectFile(file: string, options: DialectOptions, json: boolean, io: Console): Promise<void> {
  const layout = await readLayout(file, options);
  const numeric = layout.columns.filter(({ kind }) => kind === "number").map(({ name }) => name);
  // Without a column of numbers there is nothing to measure, but the columns are still worth showing.
  const seen = numeric.length === 0 ? undefined : profile(await readTable(file, { ...options, columns: numeric }));
  if (json) io.stdout.write(`${JSON.stringify({ file, ...layout, ...seenFacts(layout, seen) }, undefined, 2)}\n`);
  else io.stdout.write(`${text(file, layout, seen).join("\n")}\n`);
}

function seenFacts(layout: FileLayout, seen: Profile | undefined) {
  const columns = layout.columns.map((column) => ({
    ...column,
    ...seen?.columns.find(({ name }) => name === column.name),
  }));
  const delimiter = layout.dialect && String.fromCharCode(layout.dialect.delimiter);
  return {
    columns,
    ...(layout.dialect && { dialect: { delimiter, header: layout.dialect.header } }),
    ...(seen && { rows: seen.rows, repeatedRows: seen.repeatedRows }),
  };
}

function text(file: string, layout: FileLayout, seen: Profile | undefined): string[] {
  const rows = layout.columns.map(({ name, kind }) => {
    const own = seen?.columns.find((column) => column.name === name);
    const range = own?.range;
    const numbers = range ? [range.least, range.mean, range.most].map((value) => significant(value, 4)) : ["", "", ""];
    return [name, kind, ...numbers, own === undefined ? "" : count(own.missing), remark(own)];
  });
  const table = [["column", "type", "least", "mean", "most", "missing", ""], ...rows];
  return [`${file}: ${description(layout, seen)}`, "", ...alignColumns(table), ...advice(layout, seen)];
}

function description({ format, packed, dialect, columns }: FileLayout, seen: Profile | undefined): string {
  const formats = {
    csv: "delimited text",
    jsonl: "JSON lines",
    json: "a JSON array",
    parquet: "Parquet",
    xlsx: "an Excel workbook",
    npy: "a NumPy array",
  };
  const delimiter = dialect && delimiters[String.fromCharCode(dialect.delimiter)];
  return [
    `${formats[format]}${packed ? ", gzipped" : ""}`,
    ...(dialect ? [`${delimiter} between cells`, dialect.header ? "with a header" : "without a header"] : []),
    ...(seen ? [`${count(seen.rows)} ${seen.rows === 1 ? "row" : "rows"}`] : []),
    `${columns.length} ${columns.length === 1 ? "column" : "columns"}`,
  ].join(", ");
}

function remark(own: ColumnProfile | undefined): string {
  if (own === undefined) return "";
  if (own.isConstant) return "constant";
  if (own.countsRows) return "counts the rows";
  if (own.namesRows) return "an id";
  return own.copyOf === undefined ? "" : `same as ${own.copyOf}`;
}

/** The arguments with which fit would take the file. */
function advice({ columns }: FileLayout, seen: Profile | undefined): string[] {
  const strange = columns.filter(({ kind }) => kind !== "number").map(({ name }) => name);
  const useless = (seen?.columns ?? []).filter((own) => remark(own) !== "").map(({ name }) => name);
  const repeated = seen?.repeatedRows ?? 0;
  const missing = (seen?.columns ?? []).some((own) => own.missing > 0);
  const lines = [
    ...(repeated > 0 ? [`${count(repeated)} rows repeat an earlier one`] : []),
    ...(strange.length > 0 && seen !== undefined
      ? [`not numbers: leave out with --exclude ${asArgument(strange)}`]
      : []),
    ...(useless.length > 0 ? [`of no use for clusters: leave out with --exclude ${asArgument(useless)}`] : []),
    ...(missing ? ["missing cells: drop their rows with --missing drop, or fill them with --missing mean"] : []),
    ...(seen === undefined ? ["no column of numbers: nothing to cluster"] : []),
  ];
  return lines.length > 0 ? ["", ...lines] : [];
}
