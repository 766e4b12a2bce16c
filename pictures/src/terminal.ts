// Text for a terminal: columns that line up, sentences that break between words, and how long something took.

const GAP = "   ";

/**
 * Rows as lines, the first column to the left and the others to the right. `style` sees a cell after it was padded, so
 * that invisible characters move nothing.
 */
export function alignColumns(
  rows: readonly (readonly string[])[],
  style: (text: string, row: number, column: number) => string = (text) => text,
): string[] {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((cells) => cells[column].length)));
  return rows.map((cells, row) =>
    cells
      .map((text, column) => {
        const padding = " ".repeat(widths[column] - text.length);
        const styled = style(text, row, column);
        return column === 0 ? styled + padding : padding + styled;
      })
      .join(GAP)
      .trimEnd(),
  );
}

/** The words of a text in lines of at most `width`; a longer word has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** Whole milliseconds: one run on a busy machine knows no more. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1) return "<1 ms";
  return milliseconds < 999.5 ? `${milliseconds.toFixed(0)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}
