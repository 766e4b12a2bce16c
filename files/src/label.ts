// A file with columns added: the label of every row and what else is said about it, in its own format or in another.

import { type AddedColumn, withFreeNames } from "./added.ts";
import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { eachLine } from "./jsonl.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isJson } from "./read.ts";
import { type Opener, type PieceWriter, readingOnce, type Source } from "./source.ts";
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
  return readingOnce(open, limits, async (source) => {
    if (as !== undefined && as !== formatOf(source)) {
      const { recordsOf } = await import("./records.ts");
      const { writeCells } = await import("./write.ts");
      const { columns, leftOut } = await recordsOf(source, added, options, limits);
      await writeCells(columns, as, write, source.platform);
      return [...leftOut];
    }
    if (source.container === "parquet") {
      await (await import("./parquet/label.ts")).labelParquet(source, added, write);
      return [];
    }
    const work = (text: PieceWriter) => labelText(source, options, limits, added, text);
    await (source.container === "gzip" ? source.platform.throughGzip(write, work) : work(write));
    return [];
  });
}

/** Packed text is a format of its own: who asks for CSV wants to read it. */
function formatOf(source: Source): LabelFormat | undefined {
  if (source.container === "parquet") return "parquet";
  if (source.container === "gzip") return undefined;
  return isJson(source) ? "jsonl" : "csv";
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
  const lines: { body: string; cells: readonly (number | string | undefined)[] }[] = [];
  await eachLine(source, limits, (_, text) => {
    for (const key of Object.keys(JSON.parse(text))) keys.add(key);
    const own = row++;
    lines.push({ body: text.slice(0, -1).trimEnd(), cells: added.map(({ of }) => of(own)) });
  });
  const names = withFreeNames(added, [...keys]).map(({ name }) => JSON.stringify(name));
  const all = lines.map(({ body, cells }) => {
    const further = cells.map((cell, c) => `${names[c]}: ${JSON.stringify(cell ?? null)}`).join(", ");
    return `${body}${body === "{" ? "" : ", "}${further}}\n`;
  });
  await write(new TextEncoder().encode(all.join("")));
}
