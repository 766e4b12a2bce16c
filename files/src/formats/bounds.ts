// ColumnBounds of columns from a file: lines of column,least,most.

import { likelyDelimiter } from "../csv/dialect.ts";
import { allRecords } from "../csv/records.ts";
import { wholeText } from "../source/feed.ts";
import { DataError, shownInRefusal } from "../source/refusal.ts";
import type { Opener } from "../source/source.ts";

/** The least and the largest value that a column may have. */
export interface ColumnBounds {
  readonly least: number;
  readonly most: number;
}

/** The bounds of each of the columns, in their order. A first line whose bounds are no numbers is a header. */
export async function readBoundsFile(open: Opener, columns: readonly string[]): Promise<ColumnBounds[]> {
  const text = await wholeText(open);
  const { file } = text;
  const bounds = new Map<string, ColumnBounds>();
  for (const [at, { cells, line }] of allRecords(text, likelyDelimiter(text)).entries()) {
    const [column, ...ends] = cells.map((cell) => cell.trim());
    const [least, most] = ends.map((end) => (end === "" ? Number.NaN : Number(end)));
    if (at === 0 && ends.length === 2 && Number.isNaN(least) && Number.isNaN(most)) continue;
    if (ends.length !== 2 || !(least < most) || !Number.isFinite(most - least)) {
      const rule = "have a least and a larger most value";
      throw new DataError({ file, line, column }, rule, shownInRefusal(cells.join(",")), "fix the line");
    }
    bounds.set(column, { least, most });
  }
  return columns.map((column) => {
    const own = bounds.get(column);
    if (own === undefined) {
      throw new DataError({ file, column }, "have a line", "none", `add ${column},least,most`);
    }
    return own;
  });
}
