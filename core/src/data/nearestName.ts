// The name that was probably meant, where one is not known. It imports nothing, so that a command line can use it.

/** The most similar name, if a slip of the hand or two explains the difference. */
export function nearestName(got: string, names: readonly string[]): string | undefined {
  let [nearest, fewest]: [string | undefined, number] = [undefined, Number.POSITIVE_INFINITY];
  for (const name of names) {
    const edits = editDistance(got.toLowerCase(), name.toLowerCase());
    if (edits <= Math.max(2, Math.floor(name.length / 3)) && edits < fewest) [nearest, fewest] = [name, edits];
  }
  return nearest;
}

/** Letters to insert, delete or replace, and neighbours to swap. */
function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const row = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = rows[i - 1][j - 1] + (from[i - 1] === to[j - 1] ? 0 : 1);
      row[j] = Math.min(replaced, rows[i - 1][j] + 1, row[j - 1] + 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      if (isSwap) row[j] = Math.min(row[j], rows[i - 2][j - 2] + 1);
    }
    rows.push(row);
  }
  return rows[from.length][to.length];
}
