// Columns of labels behind delimited text, every byte of which stays as it was.

import type { Feed } from "../source/feed.ts";
import type { OpenedFile, PieceWriter } from "../source/source.ts";
import { type AddedColumn, withFreeNames } from "../table/cellColumns.ts";
import type { ReadPlan } from "../table/columns.ts";
import { openCsv, refuseLongLine } from "./dialect.ts";
import {
  type Cells,
  csvCell,
  csvCellAt,
  emptyCsvCells,
  isBlankCsvLine,
  NEWLINE,
  QUOTE,
  RETURN,
  splitRecord,
} from "./records.ts";

const BYTE_ORDER_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);
const encoder = new TextEncoder();
/** Of a label with its delimiter. */
const MOST_ADDED = 16;
/** For labels behind lines of a usual length; more is made where lines are short. */
const ROOM = 1.25;

/** Calls back with the text in pieces, columns added. Rows are those that `readCsv` gives. */
export async function labelCsv(
  file: OpenedFile,
  plan: ReadPlan,
  added: readonly AddedColumn[],
  write: PieceWriter,
): Promise<void> {
  const { feed, dialect, columns } = await openCsv(file, plan);
  const { limits } = plan;
  try {
    const taken = columns.map((own) => own.name);
    const delimiter = String.fromCharCode(dialect.delimiter);
    const names = withFreeNames(added, taken).map(({ name }) => delimiter + csvCell(name, delimiter));
    const header = dialect.header ? encoder.encode(names.join("")) : undefined;
    const suffixOf = suffixes(added, delimiter);
    if (feed.marked) await write(BYTE_ORDER_MARK);
    const state = {
      feed,
      delimiter: dialect.delimiter,
      titles: dialect.titles,
      header,
      single: columns.length === 1,
      row: 0,
      line: 1,
      cells: emptyCsvCells(),
    };
    for (;;) {
      const { piece, used } = labelBlock(state, suffixOf);
      const { ended } = feed;
      // A line feed that the text did not have is not added to it.
      await write(ended && feed.completed ? piece.subarray(0, piece.length - 1) : piece);
      if (ended) return;
      if (feed.length - used > limits.lineBytes) {
        quotedEnd(state, used);
        const c = csvCellAt(state.cells, used + limits.lineBytes);
        refuseLongLine({ file: feed.file, line: state.line, column: columns.at(c)?.name ?? c + 1 }, limits);
      }
      await feed.advance(used, state.line);
    }
  } finally {
    await feed.close();
  }
}

/** What comes behind a row. Labels repeat, so that their bytes are kept. */
function suffixes(added: readonly AddedColumn[], delimiter: string): (row: number) => Uint8Array {
  if (added.length > 1) {
    const text = (cell: number | string | undefined) =>
      delimiter + (typeof cell === "string" ? csvCell(cell, delimiter) : (cell ?? ""));
    return (row) => encoder.encode(added.map(({ of }) => text(of(row))).join(""));
  }
  const known = new Map<number | string | undefined, Uint8Array>();
  const [{ of }] = added;
  return (row) => {
    const label = of(row);
    const bytes = known.get(label) ?? encoder.encode(`${delimiter}${label ?? ""}`);
    known.set(label, bytes);
    return bytes;
  };
}

interface Labelling {
  readonly feed: Feed;
  readonly delimiter: number;
  /** Lines above the header that are left as they are. */
  titles: number;
  header: Uint8Array | undefined;
  /** Whether a blank line inside the text is a row. */
  readonly single: boolean;
  row: number;
  /** Of the next record. */
  line: number;
  readonly cells: Cells;
}

function labelBlock(state: Labelling, suffixOf: (row: number) => Uint8Array): { piece: Uint8Array; used: number } {
  const { bytes, length, ended } = state.feed;
  let out: Uint8Array = new Uint8Array(Math.ceil(ROOM * length) + MOST_ADDED);
  let at = 0;
  let to = 0;
  const hasQuotes = bytes.subarray(0, length).includes(QUOTE);
  const lastText = ended ? lastTextEnd(bytes, length) : length;
  while (at < length) {
    const next = hasQuotes ? quotedEnd(state, at) : bytes.indexOf(NEWLINE, at) + 1;
    if (next <= 0 || next > length) break;
    const end = bytes[next - 2] === RETURN && next - 2 >= at ? next - 2 : next - 1;
    const isTitle = state.titles > 0 && !isBlankCsvLine(bytes, at);
    if (isTitle) state.titles--;
    const isText = !isBlankCsvLine(bytes, at) || (state.single && state.header === undefined && at < lastText);
    const isRow = isText && !isTitle;
    const added = isRow ? (state.header ?? suffixOf(state.row++)) : undefined;
    if (isRow) state.header = undefined;
    while (to + next - at + (added?.length ?? 0) > out.length) out = enlarged(out);
    out.set(bytes.subarray(at, end), to);
    to += end - at;
    // A few bytes each, for which a view would cost more than a loop.
    if (added !== undefined) for (let i = 0; i < added.length; i++) out[to++] = added[i];
    for (let p = end; p < next; p++) out[to++] = bytes[p];
    at = next;
    state.line += 1 + (hasQuotes ? state.cells.innerLines : 0);
  }
  return { piece: out.subarray(0, to), used: at };
}

function enlarged(bytes: Uint8Array): Uint8Array {
  const larger = new Uint8Array(2 * bytes.length);
  larger.set(bytes);
  return larger;
}

function quotedEnd({ feed, delimiter, cells, line }: Labelling, at: number): number {
  return splitRecord(feed.bytes, at, feed.length, delimiter, cells, { file: feed.file, line });
}

/** Where blank lines begin that end the text; they are no rows. */
function lastTextEnd(bytes: Uint8Array, length: number): number {
  let end = length;
  while (end > 0 && (bytes[end - 1] === NEWLINE || bytes[end - 1] === RETURN)) end--;
  return end;
}
