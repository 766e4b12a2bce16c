// Delimited text, opened: its first block, what it is like, and in which of its columns a byte stands.

import { type Feed, openFeed } from "../feed.ts";
import type { Limits } from "../limits.ts";
import type { Source } from "../source.ts";
import { likelyDelimiter } from "./delimiter.ts";
import { type DialectOptions, type Sniffed, sniff } from "./dialect.ts";
import { cellAt, emptyCells, NEWLINE, splitRecord } from "./record.ts";

export interface OpenCsv extends Sniffed {
  readonly feed: Feed;
}

export async function openCsv(source: Source, options: DialectOptions, limits: Limits): Promise<OpenCsv> {
  let known: Sniffed | undefined;
  const columnAt = (feed: Feed, at: number): string | number => {
    try {
      return nameAt(feed, at, known ?? sniff(feed, options, limits));
    } catch {
      // Text that has more wrong with it than the byte in question.
      return numberAt(feed, at, options.delimiter ?? likelyDelimiter(feed));
    }
  };
  const feed = await openFeed(source, limits, columnAt);
  try {
    known = sniff(feed, options, limits);
    return { feed, ...known };
  } catch (error) {
    await feed.close();
    throw error;
  }
}

/** By the records before it, since quotes may hold delimiters and line feeds. In the header itself a number. */
function nameAt({ file, bytes, length, line: first }: Feed, at: number, { dialect, columns, line: top }: Sniffed) {
  const cells = emptyCells();
  let line = first;
  for (let from = 0; ; ) {
    const next = splitRecord(bytes, from, length, dialect.delimiter, cells, { file, line });
    if (next < 0 || next > at) break;
    line += 1 + cells.innerLines;
    from = next;
  }
  const c = cellAt(cells, at);
  return dialect.header && line === top ? c + 1 : (columns.at(c)?.name ?? c + 1);
}

/** By the delimiters before it in its line. */
function numberAt({ bytes }: Feed, at: number, delimiter: string): number {
  const from = at === 0 ? 0 : bytes.lastIndexOf(NEWLINE, at - 1) + 1;
  return bytes.subarray(from, at).filter((byte) => byte === delimiter.charCodeAt(0)).length + 1;
}
