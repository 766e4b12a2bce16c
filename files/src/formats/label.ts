// A file with columns added: the label of every row and what else is said about it, in its own format or in another.

import { labelCsv } from "../csv/label.ts";
import { type Limits, type OpenedFile, type Opener, type PieceWriter, withByteFile } from "../source/source.ts";
import { type AddedColumn, type LabelFormat, withFreeNames } from "../table/cellColumns.ts";
import { type DialectOptions, type ReadPlan, tableReadPlan } from "../table/columns.ts";
import { eachJsonLine, isJsonFile } from "./json.ts";

export interface LabelFileOptions extends DialectOptions {
  readonly limits?: Limits;
  /** Behind the label. */
  readonly further?: readonly AddedColumn[];
  /** Default: the format of the file. */
  readonly as?: LabelFormat;
}

/** The label of a row in the order of the file, undefined for a row that was dropped. */
export type LabelOf = (row: number) => number | undefined;

/** Returns the names of columns that the format's writer cannot carry over, mostly none. */
export async function writeLabelledFile(
  open: Opener,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelFileOptions,
): Promise<string[]> {
  const { further = [], as } = options;
  const plan = tableReadPlan(options);
  const added: readonly AddedColumn[] = [{ name: "cluster", kind: "whole", of: labelOf }, ...further];
  const work = async (outer: OpenedFile): Promise<string[]> => {
    const file = await unpacked(outer, plan);
    const format = as ?? foreignFormat(file);
    if (format !== undefined && format !== formatOf(file)) {
      const { convertCells, writeConvertedCells } = await import("./convert.ts");
      const { columns, leftOut } = await convertCells(file, added, plan);
      await writeConvertedCells(columns, format, write, file.platform);
      return [...leftOut];
    }
    if (file.container === "parquet") await (await import("../parquet/label.ts")).labelParquet(file, added, write);
    else {
      const text = (put: PieceWriter) => labelText(file, plan, added, put);
      await (file.container === "gzip" ? file.platform.throughGzip(write, text) : text(write));
    }
    return [];
  };
  // What is written cannot be taken back.
  return withByteFile(open, plan.limits, work, options.encoding, 1);
}

/** The file itself, or the only one in an archive; a workbook stays one. */
async function unpacked(file: OpenedFile, plan: ReadPlan): Promise<OpenedFile> {
  if (file.container !== "zip") return file;
  const archive = await (await import("./archive.ts")).openArchive(file, plan);
  return archive.kind === "file" ? archive.file : file;
}

/** The format for labels of files whose own format has no room for them. */
function foreignFormat({ container }: OpenedFile): LabelFormat | undefined {
  if (container === "zip") return "xlsx";
  return container === "npy" ? "csv" : undefined;
}

/** The format that every byte can stay in. Packed text is not CSV: who asks for that wants to read it. */
function formatOf(source: OpenedFile): LabelFormat | undefined {
  if (source.container === "parquet") return "parquet";
  if (source.container !== "text") return undefined;
  if (!isJsonFile(source)) return "csv";
  return /\.json$/i.test(source.ending) ? undefined : "jsonl";
}

/** What the labelled copy of a file is called: with the ending of what it is written as, of archives of what is in them. */
export async function labelledFileName(open: Opener, options: LabelFileOptions): Promise<string> {
  const plan = tableReadPlan(options);
  const work = async (outer: OpenedFile) => {
    const file = await unpacked(outer, plan);
    const name = outer.file.replace(/^.*[/\\]/s, "");
    const stem = name
      .replace(/\.(zip|gz)$/i, "")
      .replace(/\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|pq|xlsx|xlsm|npy|npz)$/i, "");
    const format = options.as ?? foreignFormat(file);
    if (format !== undefined) return `${stem}.${format}`;
    const [ending] = /(\.\w+)(\.gz)?$/.exec(file.ending) ?? [""];
    return outer.container === "zip" ? stem + ending : name;
  };
  return withByteFile(open, plan.limits, work, options.encoding);
}

async function labelText(
  file: OpenedFile,
  plan: ReadPlan,
  added: readonly AddedColumn[],
  write: PieceWriter,
): Promise<void> {
  if (!isJsonFile(file)) return labelCsv(file, plan, added, write);
  let row = 0;
  // Any line may have a key that the others have not.
  const keys = new Set<string>();
  const lines: { body: string; cells: readonly string[] }[] = [];
  const format = await eachJsonLine(file, plan.limits, (_, text, isElement) => {
    const value: unknown = JSON.parse(text);
    const isNames =
      isElement && Array.isArray(value) && lines.length === 0 && value.every((own) => typeof own === "string");
    if (!Array.isArray(value)) for (const key of Object.keys(value as object)) keys.add(key);
    const names = isNames ? withFreeNames(added, value).map(({ name }) => name) : undefined;
    const own = names === undefined ? row++ : 0;
    const cells = added.map(({ of }, c) => JSON.stringify(names?.[c] ?? of(own) ?? null));
    lines.push({ body: text.slice(0, -1).trimEnd(), cells });
  });
  const names = withFreeNames(added, [...keys]).map(({ name }) => JSON.stringify(name));
  const all = lines.map(({ body, cells }) => {
    const comma = body.length === 1 ? "" : ", ";
    if (body.startsWith("[")) return `${body}${comma}${cells.join(", ")}]`;
    return `${body}${comma}${cells.map((cell, c) => `${names[c]}: ${cell}`).join(", ")}}`;
  });
  const text = format === "json" ? `[\n${all.join(",\n")}\n]\n` : all.map((line) => `${line}\n`).join("");
  await write(new TextEncoder().encode(text));
}
