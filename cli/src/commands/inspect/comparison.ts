// Several files side by side: columns that only some have, and where the means of a column are farthest apart.

import { deviceNames, type InspectedColumn, type InspectedTable, shownValue } from "@fedkm/tables";
import { alignColumns } from "../../table.ts";

export function comparison(looks: readonly InspectedTable[]): string[] {
  const names = [...new Set(looks.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const files = deviceNames(looks.map(({ file }) => file));
  const rows = names.flatMap((name) => {
    const own = looks.map(({ columns }) => columns.find((column) => column.name === name));
    const without = files.filter((_, i) => own[i] === undefined);
    if (without.length > 0) return [[name, "", "", "", `not in ${listed(without)}`]];
    const kinds = new Set(own.map((column) => column?.kind));
    if (kinds.size > 1) return [[name, "", "", "", `of different types: ${[...kinds].join(", ")}`]];
    return meanLine(files, own);
  });
  return [
    `${looks.length} files compared`,
    "",
    ...alignColumns([["column", "least mean", "largest mean", "apart", ""], ...rows]),
  ];
}

function meanLine(files: readonly string[], own: readonly (InspectedColumn | undefined)[]): string[][] {
  const seen = own.flatMap((column, i) =>
    column?.statistics ? [{ column, ...column.statistics, file: files[i] }] : [],
  );
  if (seen.length === 0) return [];
  const [low] = [...seen].sort((a, b) => a.mean - b.mean);
  const [high] = [...seen].sort((a, b) => b.mean - a.mean);
  const total = seen.reduce((sum, { count }) => sum + count, 0);
  const within = Math.sqrt(seen.reduce((sum, { count, deviation }) => sum + count * deviation ** 2, 0) / total);
  const apart = within > 0 ? ((high.mean - low.mean) / within).toFixed(2) : "";
  const shown = [low, high].map(({ column, mean, file }) => `${shownValue(column, mean)} ${file}`);
  return [[low.column.name, ...shown, apart, ""]];
}

const MOST_FILES = 3;

function listed(files: readonly string[]): string {
  const shown = files.slice(0, MOST_FILES).join(", ");
  return files.length > MOST_FILES ? `${shown} and ${files.length - MOST_FILES} more` : shown;
}
