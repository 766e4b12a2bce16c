// A file of the same format as its input with one column more: the label of every row.

import { cellReader } from "./cell.ts";
import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { eachLine } from "./jsonl.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isJson } from "./read.ts";
import { type Opener, type PieceWriter, reading, readingOnce, type Source } from "./source.ts";
import type { Table } from "./table.ts";

export interface LabelOptions extends DialectOptions {
  readonly limits?: Limits;
}

/** The label of a row in the order of the file, undefined for a row that was dropped. */
export type LabelOf = (row: number) => number | undefined;

/** Returns the names of columns that the format's writer cannot carry over, mostly none. */
export async function labelled(
  open: Opener,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelOptions,
): Promise<string[]> {
  const { limits = defaultLimits } = options;
  const work = (source: Source) => labelSource(source, labelOf, write, { ...options, limits });
  return readingOnce(open, limits, work, options.encoding);
}

async function labelSource(
  source: Source,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelOptions & { readonly limits: Limits },
): Promise<string[]> {
  const { limits } = options;
  const { container } = source;
  if (container === "parquet") {
    const { labelParquet } = await import("./parquet/label.ts");
    const { bytes, leftOut } = await labelParquet(source, freeName, labelOf);
    await write(bytes);
    return leftOut;
  }
  if (container === "zip") {
    const { insideSource, openArchive } = await import("./archive.ts");
    const inside = await openArchive(source, options.sheet);
    if (inside.kind === "file") {
      return labelSource(await insideSource(inside.file, limits, options.encoding), labelOf, write, options);
    }
    const { sheetTexts } = await import("./xlsx/read.ts");
    await write(csvOf((use) => sheetTexts(inside.workbook, options, limits, use), labelOf));
    return [];
  }
  if (container === "npy") {
    const { readNpy } = await import("./npy.ts");
    const table = await readNpy(source, {}, limits, cellReader({}));
    await write(csvOf((use) => tableTexts(table, use), labelOf));
    return [];
  }
  const work = (text: PieceWriter) => labelText(source, options, limits, labelOf, text);
  await (container === "gzip" ? source.platform.throughGzip(write, work) : work(write));
  return [];
}

/** What the labelled copy of a file is called: formats that are not written become CSV, and archives what is in them. */
export async function labelledName(open: Opener, name: string, { limits = defaultLimits, sheet }: LabelOptions) {
  return reading(open, limits, async (source) => {
    const stem = name.replace(/\.(xlsx|xlsm|npz|npy|zip)$/i, "");
    if (source.container === "npy") return `${stem}.csv`;
    if (source.container !== "zip") return name;
    const { openArchive } = await import("./archive.ts");
    const inside = await openArchive(source, sheet);
    const [ending] = (inside.kind === "file" && /(\.\w+)(\.gz)?$/.exec(inside.file.ending)) || [".csv"];
    const written = ending === ".npy" ? ".csv" : ending;
    return stem.toLowerCase().endsWith(written) ? stem : stem + written;
  });
}

/** Rows of texts, the first of which are names, as delimited text with labels. */
function csvOf(each: (use: (cells: readonly string[]) => void) => void, labelOf: LabelOf): Uint8Array {
  const lines: string[] = [];
  each((cells) => {
    const label = lines.length === 0 ? freeName(cells) : (labelOf(lines.length - 1) ?? "");
    lines.push([...cells, String(label)].map(quotedCell).join(","));
  });
  return new TextEncoder().encode(`${lines.join("\n")}\n`);
}

const quotedCell = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function tableTexts({ columns, points }: Table, use: (cells: readonly string[]) => void): void {
  const { data, rows, cols } = points;
  use(columns);
  for (let r = 0; r < rows; r++) {
    const row = Array.from(data.subarray(r * cols, (r + 1) * cols));
    use(row.map((value) => (Number.isNaN(value) ? "" : String(value))));
  }
}

/** What the new column is called: "cluster", unless the file has that already. */
function freeName(taken: readonly string[]): string {
  let name = "cluster";
  for (let n = 2; taken.includes(name); n++) name = `cluster_${n}`;
  return name;
}

async function labelText(
  source: Source,
  options: LabelOptions,
  limits: Limits,
  labelOf: LabelOf,
  write: PieceWriter,
): Promise<void> {
  if (!isJson(source)) return labelCsv(source, options, limits, freeName, labelOf, write);
  let row = 0;
  // Any line may have a key that the others have not.
  const keys = new Set<string>();
  const lines: { body: string; label: string }[] = [];
  const format = await eachLine(source, limits, (_, text, isElement) => {
    const value: unknown = JSON.parse(text);
    const isNames =
      isElement && Array.isArray(value) && lines.length === 0 && value.every((own) => typeof own === "string");
    if (!Array.isArray(value)) for (const key of Object.keys(value as object)) keys.add(key);
    const label = isNames ? JSON.stringify(freeName(value)) : String(labelOf(row++) ?? null);
    lines.push({ body: text.slice(0, -1).trimEnd(), label });
  });
  const name = JSON.stringify(freeName([...keys]));
  const all = lines.map(({ body, label }) => {
    const comma = body.length === 1 ? "" : ", ";
    return body.startsWith("[") ? `${body}${comma}${label}]` : `${body}${comma}${name}: ${label}}`;
  });
  const text = format === "json" ? `[\n${all.join(",\n")}\n]\n` : all.map((line) => `${line}\n`).join("");
  await write(new TextEncoder().encode(text));
}
