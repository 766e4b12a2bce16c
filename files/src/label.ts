// A file of the same format as its input with one column more: the label of every row.

import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { eachLine } from "./jsonl.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isJson } from "./read.ts";
import { type Opener, type PieceWriter, readingOnce, type Source } from "./source.ts";

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
  return readingOnce(open, limits, async (source) => {
    if (source.container === "parquet") {
      const { labelParquet } = await import("./parquet/label.ts");
      const { bytes, leftOut } = await labelParquet(source, freeName, labelOf);
      await write(bytes);
      return leftOut;
    }
    const work = (text: PieceWriter) => labelText(source, options, limits, labelOf, text);
    await (source.container === "gzip" ? source.platform.throughGzip(write, work) : work(write));
    return [];
  });
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
  const lines: { body: string; label: number | null }[] = [];
  await eachLine(source, limits, (_, text) => {
    for (const key of Object.keys(JSON.parse(text))) keys.add(key);
    lines.push({ body: text.slice(0, -1).trimEnd(), label: labelOf(row++) ?? null });
  });
  const name = JSON.stringify(freeName([...keys]));
  const all = lines.map(({ body, label }) => `${body}${body === "{" ? "" : ", "}${name}: ${label}}\n`);
  await write(new TextEncoder().encode(all.join("")));
}
