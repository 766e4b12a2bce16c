// The delimiter guess: what stands between the cells of delimited text, from its first lines.

import { cellValue } from "../cell.ts";
import { type Cells, emptyCells } from "./record.ts";
import { recordsIn, type TextBytes } from "./records.ts";

export const delimiters: Readonly<Record<string, string>> = { ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar" };

export const SAMPLE_RECORDS = 200;

interface Sample {
  /** The cells of the first records that are whole and not blank. */
  readonly records: readonly (readonly string[])[];
  /** Of the first record. */
  readonly line: number;
  /** Those looked at last. */
  readonly cells: Cells;
}

export function sample(text: TextBytes, delimiter: string): Sample {
  const cells = emptyCells();
  const records: (readonly string[])[] = [];
  const reader = recordsIn(text, delimiter.charCodeAt(0), cells);
  let next = reader.next();
  const line = (next.done ? next.value : next.value.line) ?? 1;
  for (; !next.done && records.length < SAMPLE_RECORDS; next = reader.next()) records.push(next.value.cells);
  return { records, line, cells };
}

/** The delimiter that cuts the first lines into the same number of cells, the more the better; comma if none does. */
export function likelyDelimiter(text: TextBytes): string {
  const tabbed = /\.(tsv|tab)(\.gz)?$/i.test(text.ending ?? text.file);
  let best = { delimiter: tabbed ? "\t" : ",", score: 0 };
  for (const delimiter of tabbed ? ["\t", ",", ";", "|"] : Object.keys(delimiters)) {
    const score = evenness(text, delimiter);
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}

/** Share of records with the first one's number of cells, at least two; then numbers among the cells tell. */
function evenness(text: TextBytes, delimiter: string): number {
  let records: Sample["records"];
  try {
    ({ records } = sample(text, delimiter));
  } catch {
    return 0;
  }
  const width = records[0]?.length ?? 0;
  if (width < 2) return 0;
  const even = records.filter((record) => record.length === width);
  const cells = even.flat();
  const readable = cells.filter((cell) => cellValue(cell) !== undefined).length;
  return even.length / records.length + readable / Math.max(1, cells.length);
}
