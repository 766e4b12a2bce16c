// fedkm inspect: what fedkm sees in files, before anything is clustered. It lists what cannot be read instead of stopping.

import { type DialectOptions, delimiters, type FileLayout } from "@fedkm/files";
import { alignColumns } from "@fedkm/pictures/terminal";
import {
  type ClassifiedColumn,
  deviceNames,
  fitCommandLine,
  type InspectedColumn,
  type InspectedTable,
  inspectedRemarks,
  inspectedValue,
  inspectTable,
  type Obstacle,
  proposeOptions,
} from "@fedkm/tables";
import { countLabel, firstNames, readableValue, significantLabel } from "@fedkm/tables/numbers";
import { type Console, printAnswer } from "../../console.ts";
import { inputFilesOfCommand } from "../../input/reading.ts";
import { refusalLine } from "../../remedies.ts";
import { interruptible, stoppableUnchanged } from "../../stop.ts";

export type InspectFlags = DialectOptions & { readonly json?: boolean };

/** The columns of a source and their ranges, from one query over all rows. */
export async function runInspectSourceCommand(address: string, json: boolean, io: Console): Promise<void> {
  const sql = await import("@fedkm/sql");
  const { engine, rows, columns } = await sql.describeSqlSource(address, { env: io.env });
  const cells = columns.map(({ name, type, seen }) => {
    if (seen === undefined) return [name, type, "", "", "", "not a number: leave it out with --exclude"];
    const { least, most, missing, infinite } = seen;
    const remark = infinite > 0 ? `infinite in ${countLabel(infinite)} rows` : least === most ? "always the same" : "";
    const range = [least, most].map((x) => (Number.isNaN(x) ? "" : readableValue(x)));
    return [name, type, ...range, countLabel(missing), remark];
  });
  const counted = rows === undefined ? "no column of numbers" : `${countLabel(rows)} ${rows === 1 ? "row" : "rows"}`;
  const title = `${address}: ${engine}, ${counted}, ${columns.length} ${columns.length === 1 ? "column" : "columns"}`;
  const table = alignColumns([["column", "type", "least", "most", "missing", ""], ...cells]);
  const facts = {
    source: address,
    engine,
    rows,
    columns: columns.map(({ seen, ...column }) => ({ ...column, ...seen })),
  };
  printAnswer(io, json, facts, () => [title, "", ...table]);
}

// Several files side by side: columns that only some have, and where the means of a column are farthest apart.

function comparison(looks: readonly InspectedTable[]): string[] {
  const names = [...new Set(looks.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const files = deviceNames(looks.map(({ file }) => file));
  const rows = names.flatMap((name) => {
    const own = looks.map(({ columns }) => columns.find((column) => column.name === name));
    const without = files.filter((_, i) => own[i] === undefined);
    if (without.length > 0) return [[name, "", "", "", `not in ${firstNames(without, MOST_FILES)}`]];
    const kinds = new Set(own.map((column) => column?.kind));
    if (kinds.size > 1) return [[name, "", "", "", `of different types: ${[...kinds].join(", ")}`]];
    return meanLine(files, own);
  });
  return [
    `${looks.length} files compared`,
    "",
    ...alignColumns([["column", "least mean", "largest mean", "apart", ""], ...rows]),
  ];
}

function meanLine(files: readonly string[], own: readonly (InspectedColumn | undefined)[]): string[][] {
  const seen = own.flatMap((column, i) =>
    column?.statistics ? [{ column, ...column.statistics, file: files[i] }] : [],
  );
  if (seen.length === 0) return [];
  const [low] = [...seen].sort((a, b) => a.mean - b.mean);
  const [high] = [...seen].sort((a, b) => b.mean - a.mean);
  const total = seen.reduce((sum, { count }) => sum + count, 0);
  const within = Math.sqrt(seen.reduce((sum, { count, deviation }) => sum + count * deviation ** 2, 0) / total);
  const apart = within > 0 ? ((high.mean - low.mean) / within).toFixed(2) : "";
  const shown = [low, high].map(({ column, mean, file }) => `${inspectedValue(column, mean)} ${file}`);
  return [[low.column.name, ...shown, apart, ""]];
}

const MOST_FILES = 3;

export async function runInspectCommand(
  patterns: readonly string[],
  options: DialectOptions,
  json: boolean,
  io: Console,
): Promise<void> {
  const looks = await stoppableUnchanged(async (signal) => {
    const all: InspectedTable[] = [];
    const context = { signal, compute: <T>(work: () => T | Promise<T>) => interruptible(work, signal) };
    for (const file of await inputFilesOfCommand(patterns)) all.push(await inspectTable(file, options, context));
    return all;
  });
  const { options: proposed, columns, decisions, first: obstacles } = proposeOptions(looks, options);
  const command = fitCommandLine(patterns, proposed);
  const first = obstacles.map(obstacleWords);
  const files = looks.map(facts);
  const all =
    files.length === 1
      ? { ...files[0], roles: columns, decisions, command, first }
      : { files, roles: columns, decisions, command, first };
  const ending = [
    ...first.map((step) => `first: ${step}`),
    // On one line, however long: it is there to be pasted.
    ...(first.length === 0 ? [command] : []),
  ];
  const blocks = [
    ...looks.map((look) => text(look, columns)),
    ...(looks.length > 1 ? [comparison(looks)] : []),
    ending,
  ];
  printAnswer(io, json, all, () => blocks.flatMap((lines, i) => (i === 0 ? lines : ["", ...lines])));
}

function obstacleWords(obstacle: Obstacle): string {
  if (obstacle.kind === "nothing to cluster") return "there is no column that can be clustered";
  return `fix the lines of ${obstacle.files.join(", ")} that cannot be read`;
}

function facts({ file, layout, rows, repeatedRows, columns, bad }: InspectedTable) {
  const { dialect } = layout;
  const delimiter = dialect && String.fromCharCode(dialect.delimiter);
  return {
    file,
    ...layout,
    columns,
    ...(dialect && { dialect: { delimiter, header: dialect.header } }),
    rows,
    repeatedRows,
    bad: { count: bad.count, first: bad.first.map(({ message, position }) => ({ message, position })) },
  };
}

/** More refusals than this are counted. */
const MOST_SHOWN = 5;

function text(look: InspectedTable, roles: readonly ClassifiedColumn[]): string[] {
  const { file, layout, rows, repeatedRows, columns, bad } = look;
  const heading = ["column", "type", "missing", "different", "least", "quartiles", "most", "mean", "deviation", ""];
  const table = [heading, ...columns.map((own) => columnLine(own, roles))];
  const refusals = bad.first.slice(0, MOST_SHOWN).map((refusal) => `  ${refusalLine(refusal).slice(file.length + 2)}`);
  return [
    `${file}: ${description(layout, rows)}`,
    "",
    ...alignColumns(table),
    ...(repeatedRows > 0 ? ["", `${countLabel(repeatedRows)} rows repeat an earlier one`] : []),
    ...(bad.count > 0
      ? ["", `${countLabel(bad.count)} ${bad.count === 1 ? "cell" : "cells"} cannot be read:`, ...refusals]
      : []),
    ...(bad.count > MOST_SHOWN ? [`  and ${countLabel(bad.count - MOST_SHOWN)} more`] : []),
  ];
}

function columnLine(own: InspectedColumn, roles: readonly ClassifiedColumn[]): string[] {
  const { name, statistics, range, words } = own;
  const role = roles.find((column) => column.name === name);
  const remark = role === undefined ? "" : inspectedRemarks(own, role).join(", ");
  const kind = [own.kind, ...(own.form?.unit === undefined ? [] : [own.form.unit])].join(" ");
  const missing = own.missing === undefined ? "" : countLabel(own.missing);
  if (statistics !== undefined && range !== undefined) {
    const { quartiles, mean, deviation, distinct } = statistics;
    const shown = (value: number) => inspectedValue(own, value);
    const spread = significantLabel(deviation, 3) + (own.kind === "date" ? " days" : "");
    return [
      name,
      kind,
      missing,
      countLabel(distinct),
      shown(range.least),
      quartiles.map(shown).join(" "),
      shown(range.most),
      shown(mean),
      spread,
      remark,
    ];
  }
  // Of an id no value is common.
  const isCommon = words !== undefined && words.share >= 0.02;
  const most = isCommon ? `${words.most.slice(0, 20)} ${Math.round(100 * words.share)} %` : "";
  return [name, kind, missing, words === undefined ? "" : countLabel(words.distinct), "", most, "", "", "", remark];
}

const formats = {
  csv: "delimited text",
  jsonl: "JSON lines",
  json: "a JSON array",
  parquet: "Parquet",
  xlsx: "an Excel workbook",
  npy: "a NumPy array",
};

function description({ format, packed, dialect, columns, sheets }: FileLayout, rows: number): string {
  const character = dialect && String.fromCharCode(dialect.delimiter);
  const delimiter = character && (delimiters[character] ?? JSON.stringify(character));
  return [
    `${formats[format]}${packed ? ", packed" : ""}`,
    ...(dialect ? [`${delimiter} between cells`, dialect.header ? "with a header" : "without a header"] : []),
    ...(sheets && sheets.length > 1 ? [`sheets ${sheets.join(", ")}`] : []),
    `${countLabel(rows)} ${rows === 1 ? "row" : "rows"}`,
    `${columns.length} ${columns.length === 1 ? "column" : "columns"}`,
  ].join(", ");
}
