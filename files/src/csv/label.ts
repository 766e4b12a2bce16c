// A column of labels behind delimited text, every byte of which stays as it was.

import type { Feed } from "../feed.ts";
import type { Limits } from "../limits.ts";
import type { Source } from "../source.ts";
import { type DialectOptions, isBlank, refuseLongLine } from "./dialect.ts";
import { openCsv } from "./open.ts";
import { type Cells, cellAt, emptyCells, NEWLINE, QUOTE, RETURN, splitRecord } from "./record.ts";

const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Of a label with its delimiter. */
const MOST_ADDED = 16;

/**
 * Calls back with the text in pieces, labels added. `labelOf` gives the label of a row, undefined for a row without one.
 * Rows are those that `readCsv` gives.
 */
export async function labelCsv(
  source: Source,
  options: DialectOptions,
  limits: Limits,
  column: (taken: readonly string[]) => string,
  labelOf: (row: number) => number | undefined,
  write: (piece: Buffer) => Promise<void>,
): Promise<void> {
  const { feed, dialect, columns } = await openCsv(source, options, limits);
  try {
    const name = column(columns.map((own) => own.name));
    const delimiter = String.fromCharCode(dialect.delimiter);
    const suffixes = new Map<number | undefined, Buffer>();
    const suffix = (label: number | undefined) => {
      const known = suffixes.get(label) ?? Buffer.from(`${delimiter}${label ?? ""}`);
      suffixes.set(label, known);
      return known;
    };
    const header = dialect.header ? Buffer.from(delimiter + quoted(name, delimiter)) : undefined;
    if (feed.marked) await write(BYTE_ORDER_MARK);
    const state = {
      feed,
      delimiter: dialect.delimiter,
      header,
      single: columns.length === 1,
      row: 0,
      line: 1,
      cells: emptyCells(),
    };
    for (;;) {
      const { piece, used } = labelBlock(state, (row) => suffix(labelOf(row)));
      const { ended } = feed;
      // A line feed that the text did not have is not added to it.
      await write(ended && feed.completed ? piece.subarray(0, piece.length - 1) : piece);
      if (ended) return;
      if (feed.length - used > limits.lineBytes) {
        quotedEnd(state, used);
        const c = cellAt(state.cells, used + limits.lineBytes);
        refuseLongLine({ file: feed.file, line: state.line, column: columns.at(c)?.name ?? c + 1 }, limits);
      }
      await feed.advance(used, state.line);
    }
  } finally {
    await feed.close();
  }
}

function quoted(name: string, delimiter: string): string {
  return name.includes(delimiter) || name.includes('"') ? `"${name.replaceAll('"', '""')}"` : name;
}

interface Labelling {
  readonly feed: Feed;
  readonly delimiter: number;
  header: Buffer | undefined;
  /** Whether a blank line inside the text is a row. */
  readonly single: boolean;
  row: number;
  /** Of the next record. */
  line: number;
  readonly cells: Cells;
}

function labelBlock(state: Labelling, suffixOf: (row: number) => Buffer): { piece: Buffer; used: number } {
  const { bytes, length, ended } = state.feed;
  let out = Buffer.allocUnsafe(2 * length + MOST_ADDED);
  let at = 0;
  let to = 0;
  const hasQuotes = bytes.subarray(0, length).includes(QUOTE);
  const lastText = ended ? lastTextEnd(bytes, length) : length;
  while (at < length) {
    const next = hasQuotes ? quotedEnd(state, at) : bytes.indexOf(NEWLINE, at) + 1;
    if (next <= 0 || next > length) break;
    const end = bytes[next - 2] === RETURN && next - 2 >= at ? next - 2 : next - 1;
    const isRow = !isBlank(bytes, at) || (state.single && state.header === undefined && at < lastText);
    const added = isRow ? (state.header ?? suffixOf(state.row++)) : undefined;
    if (isRow) state.header = undefined;
    if (to + next - at + (added?.length ?? 0) > out.length) out = Buffer.concat([out], 2 * out.length);
    to += bytes.copy(out, to, at, end);
    if (added !== undefined) to += added.copy(out, to);
    to += bytes.copy(out, to, end, next);
    at = next;
    state.line += 1 + (hasQuotes ? state.cells.innerLines : 0);
  }
  return { piece: out.subarray(0, to), used: at };
}

function quotedEnd({ feed, delimiter, cells, line }: Labelling, at: number): number {
  return splitRecord(feed.bytes, at, feed.length, delimiter, cells, { file: feed.file, line });
}

/** Where blank lines begin that end the text; they are no rows. */
function lastTextEnd(bytes: Buffer, length: number): number {
  let end = length;
  while (end > 0 && (bytes[end - 1] === NEWLINE || bytes[end - 1] === RETURN)) end--;
  return end;
}
