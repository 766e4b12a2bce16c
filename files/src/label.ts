// A file with columns added: the label of every row and what else is said about it, in its own format or in another.

import { type AddedColumn, withFreeNames } from "./added.ts";
import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { eachLine } from "./jsonl.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isJson } from "./read.ts";
import { type Opener, type PieceWriter, reading, readingOnce, type Source } from "./source.ts";
import type { LabelFormat } from "./write.ts";

export interface LabelOptions extends DialectOptions {
  readonly limits?: Limits;
  /** Behind the label. */
  readonly further?: readonly AddedColumn[];
  /** Default: the format of the file. */
  readonly as?: LabelFormat;
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
  const { limits = defaultLimits, further = [], as } = options;
  const added: readonly AddedColumn[] = [{ name: "cluster", kind: "whole", of: labelOf }, ...further];
  const work = async (source: Source): Promise<string[]> => {
    const own = await unpacked(source, options, limits);
    const format = as ?? foreignFormat(own);
    if (format !== undefined && format !== formatOf(own)) {
      const { recordsOf } = await import("./records.ts");
      const { writeCells } = await import("./write.ts");
      const { columns, leftOut } = await recordsOf(own, added, options, limits);
      await writeCells(columns, format, write, source.platform);
      return [...leftOut];
    }
    if (own.container === "parquet") await (await import("./parquet/label.ts")).labelParquet(own, added, write);
    else {
      const text = (put: PieceWriter) => labelText(own, options, limits, added, put);
      await (own.container === "gzip" ? own.platform.throughGzip(write, text) : text(write));
    }
    return [];
  };
  return readingOnce(open, limits, work, options.encoding);
}

/** The file itself, or the only one in an archive; a workbook stays one. */
async function unpacked(source: Source, { sheet, encoding }: DialectOptions, limits: Limits): Promise<Source> {
  if (source.container !== "zip") return source;
  const { insideSource, openArchive } = await import("./archive.ts");
  const inside = await openArchive(source, sheet);
  return inside.kind === "file" ? insideSource(inside.file, limits, encoding) : source;
}

/** What becomes of formats that have no place for labels of their own. */
function foreignFormat({ container }: Source): LabelFormat | undefined {
  if (container === "zip") return "xlsx";
  return container === "npy" ? "csv" : undefined;
}

/** The format that every byte can stay in. Packed text is not CSV: who asks for that wants to read it. */
function formatOf(source: Source): LabelFormat | undefined {
  if (source.container === "parquet") return "parquet";
  if (source.container !== "text") return undefined;
  if (!isJson(source)) return "csv";
  return /\.json$/i.test(source.ending) ? undefined : "jsonl";
}

/** What the labelled copy of a file is called: with the ending of what it is written as, of archives of what is in them. */
export async function labelledName(open: Opener, name: string, options: LabelOptions): Promise<string> {
  const { limits = defaultLimits, as } = options;
  return reading(
    open,
    limits,
    async (source) => {
      const own = await unpacked(source, options, limits);
      const stem = name
        .replace(/\.(zip|gz)$/i, "")
        .replace(/\.(csv|tsv|tab|txt|jsonl|ndjson|json|parquet|pq|xlsx|xlsm|npy|npz)$/i, "");
      const format = as ?? foreignFormat(own);
      if (format !== undefined) return `${stem}.${format}`;
      const [ending] = /(\.\w+)(\.gz)?$/.exec(own.ending) ?? [""];
      return source.container === "zip" ? stem + ending : name;
    },
    options.encoding,
  );
}

async function labelText(
  source: Source,
  options: LabelOptions,
  limits: Limits,
  added: readonly AddedColumn[],
  write: PieceWriter,
): Promise<void> {
  if (!isJson(source)) return labelCsv(source, options, limits, added, write);
  let row = 0;
  // Any line may have a key that the others have not.
  const keys = new Set<string>();
  const lines: { body: string; cells: readonly string[] }[] = [];
  const format = await eachLine(source, limits, (_, text, isElement) => {
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
