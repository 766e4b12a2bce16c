// A file of the same format as its input with one column more: the label of every row.

import { createGzip } from "node:zlib";
import type { DialectOptions } from "./csv/dialect.ts";
import { labelCsv } from "./csv/label.ts";
import { eachLine } from "./jsonl.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import { isJson } from "./read.ts";
import { checkUnchanged, openSource, type Source } from "./source.ts";

export interface LabelOptions extends DialectOptions {
  readonly limits?: Limits;
}

/** The label of a row in the order of the file, undefined for a row that was dropped. */
export type LabelOf = (row: number) => number | undefined;

/** Takes the labelled file in pieces; each is the taker's own. */
export type PieceWriter = (piece: Uint8Array) => Promise<void>;

/** Returns the names of columns that the format's writer cannot carry over, mostly none. */
export async function labelFile(
  file: string,
  labelOf: LabelOf,
  write: PieceWriter,
  options: LabelOptions = {},
): Promise<string[]> {
  const { limits = defaultLimits } = options;
  const source = await openSource(file, limits);
  let leftOut: string[] = [];
  if (source.container === "parquet") {
    const { labelParquet } = await import("./parquet/label.ts");
    const labelled = await labelParquet(source, freeName, labelOf);
    leftOut = labelled.leftOut;
    await write(labelled.bytes);
  } else if (source.container === "gzip") {
    await throughGzip(write, (packed) => labelText(source, options, limits, labelOf, packed));
  } else await labelText(source, options, limits, labelOf, write);
  await checkUnchanged(source);
  return leftOut;
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
  if (!isJson(source.file)) return labelCsv(source, options, limits, freeName, labelOf, write);
  let row = 0;
  // Any line may have a key that the others have not.
  const keys = new Set<string>();
  const lines: { body: string; label: number | null }[] = [];
  await eachLine(source, limits, (_, text) => {
    for (const key of Object.keys(JSON.parse(text))) keys.add(key);
    lines.push({ body: text.slice(0, -1).trimEnd(), label: labelOf(row++) ?? null });
  });
  const name = JSON.stringify(freeName([...keys]));
  const labelled = lines.map(({ body, label }) => `${body}${body === "{" ? "" : ", "}${name}: ${label}}\n`);
  await write(Buffer.from(labelled.join("")));
}

async function throughGzip(write: PieceWriter, work: (packed: PieceWriter) => Promise<void>): Promise<void> {
  const gzip = createGzip();
  const written = (async () => {
    for await (const piece of gzip) await write(piece);
  })();
  const packed: PieceWriter = (piece) =>
    new Promise((resolve, reject) => gzip.write(piece, (error) => (error ? reject(error) : resolve())));
  // Failing work ends the stream, and through it what is written: `written` alone tells the cause, whichever side failed first.
  const worked = work(packed).then(
    () => void gzip.end(),
    (error: Error) => void gzip.destroy(error),
  );
  await Promise.all([written, worked]);
}
