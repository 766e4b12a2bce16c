// Cells as delimited text is written: in quotes where they need them.

export function csvCell(text: string, delimiter = ","): string {
  return text.includes(delimiter) || /["\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** With its line feed; null is an empty cell. */
export function csvLine(cells: readonly (string | number | bigint | boolean | null)[]): string {
  return `${cells.map((cell) => (cell === null ? "" : csvCell(String(cell)))).join(",")}\n`;
}
