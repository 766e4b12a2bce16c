// Text for a terminal: columns that line up, and sentences that break between words.

import type { MethodOutcome } from "@fedkm/experiments";
import { bold } from "./console.ts";
import { countLabel, duration, significantLabel } from "./numbers.ts";

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

// How methods compare in one run, as a table on the terminal: the nearest to pooled of those that do not pool in bold.

export function terminalOutcomeTable(outcomes: readonly MethodOutcome[], styled: boolean): string[] {
  const heading = ["method", "GCD", "CV", "cost", "messages", "bytes", "time"];
  const rows = outcomes.map(({ method, gcd, cv, costRatio, messages, bytes, milliseconds }) => [
    method,
    significantLabel(gcd, 2),
    significantLabel(cv, 2),
    costRatio?.toFixed(4) ?? "none",
    countLabel(messages),
    countLabel(bytes),
    duration(milliseconds),
  ]);
  const rivals = outcomes.filter(({ method }) => method !== "pooled");
  const best = Math.min(...rivals.map(({ gcd }) => gcd));
  return alignColumns([heading, ...rows], (text, row, column) => {
    const isBest = row > 0 && column === 1 && rivals.includes(outcomes[row - 1]) && outcomes[row - 1].gcd === best;
    return bold(text, styled && isBest);
  });
}
