// Aligned columns under a title, the first row as the head, and whether a bar is held.

export function print(title: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0].map((_, c) => Math.max(...rows.map((row) => row[c].length)));
  const lines = rows.map((row) => row.map((cell, c) => cell.padEnd(widths[c])).join("  "));
  console.log([`\n${title}`, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n"));
}

/** Says which bar is held or missed, and returns whether it is held. */
export function isHeld(bar: string, missed: readonly string[]): boolean {
  console.log(missed.length === 0 ? `  ${bar}: held` : `  ${bar}: missed by ${missed.join(", ")}`);
  return missed.length === 0;
}
