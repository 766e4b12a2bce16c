// Several files side by side: columns that only some have, and where the means of a column are farthest apart.

import { basename } from "node:path";
import { significant } from "../../numbers.ts";
import { alignColumns } from "../../table.ts";
import type { Look } from "./look.ts";

export function comparison(looks: readonly Look[]): string[] {
  const names = [...new Set(looks.flatMap(({ columns }) => columns.map(({ name }) => name)))];
  const rows = names.flatMap((name) => {
    const own = looks.map(({ columns }) => columns.find((column) => column.name === name));
    const without = looks.filter((_, i) => own[i] === undefined).map(({ file }) => basename(file));
    if (without.length > 0) return [[name, "", "", "", `not in ${listed(without)}`]];
    const kinds = new Set(own.map((column) => column?.kind));
    if (kinds.size > 1) return [[name, "", "", "", `of different types: ${[...kinds].join(", ")}`]];
    return meanLine(name, looks, own);
  });
  return [
    `${looks.length} files compared`,
    "",
    ...alignColumns([["column", "least mean", "largest mean", "apart", ""], ...rows]),
  ];
}

function meanLine(
  name: string,
  looks: readonly Look[],
  own: readonly (Look["columns"][number] | undefined)[],
): string[][] {
  const seen = own.flatMap((column, i) =>
    column?.statistics ? [{ ...column.statistics, file: basename(looks[i].file) }] : [],
  );
  if (seen.length === 0) return [];
  const [low] = [...seen].sort((a, b) => a.mean - b.mean);
  const [high] = [...seen].sort((a, b) => b.mean - a.mean);
  const total = seen.reduce((sum, { count }) => sum + count, 0);
  const within = Math.sqrt(seen.reduce((sum, { count, deviation }) => sum + count * deviation ** 2, 0) / total);
  const apart = within > 0 ? ((high.mean - low.mean) / within).toFixed(2) : "";
  return [[name, `${significant(low.mean, 4)} ${low.file}`, `${significant(high.mean, 4)} ${high.file}`, apart, ""]];
}

const MOST_FILES = 3;

function listed(files: readonly string[]): string {
  const shown = files.slice(0, MOST_FILES).join(", ");
  return files.length > MOST_FILES ? `${shown} and ${files.length - MOST_FILES} more` : shown;
}
