// Aligned columns under a title, the first row as the head.

export function print(title: string, rows: readonly (readonly string[])[]): void {
  const widths = rows[0].map((_, c) => Math.max(...rows.map((row) => row[c].length)));
  const lines = rows.map((row) => row.map((cell, c) => cell.padEnd(widths[c])).join("  "));
  console.log([`\n${title}`, ...lines.map((line) => `  ${line.trimEnd()}`)].join("\n"));
}
