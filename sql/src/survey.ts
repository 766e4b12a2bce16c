// One look at all rows before anything is computed: how many there are, what is missing, and how large numbers get.

import { SourceError } from "./driver.ts";
import type { EngineColumn } from "./engine.ts";
import type { Rows } from "./rows.ts";
import type { Bounds, Selected } from "./statements.ts";
import { isOwn } from "./steps.ts";

/** What becomes of rows with a missing number. */
export type MissingRows = "refuse" | "drop";

export interface Survey {
  readonly rows: number;
  readonly least: Float64Array;
  readonly most: Float64Array;
  /** Rows that were left out because a number is missing. */
  readonly dropped: number;
}

/** The columns that are wanted, in their order; a column of anything but numbers is refused. */
export function chooseColumns(
  all: readonly EngineColumn[],
  { columns, exclude = [] }: { readonly columns?: readonly string[]; readonly exclude?: readonly string[] },
): EngineColumn[] {
  const taken = all.find(({ name }) => isOwn(name));
  if (taken !== undefined) {
    throw new SourceError(
      `column ${JSON.stringify(taken.name)} must not begin with fedkm_, as names inside of queries do: rename it in a view or a --query`,
    );
  }
  const known = all.map(({ name }) => JSON.stringify(name)).join(", ");
  const chosen = (columns ?? all.map(({ name }) => name).filter((name) => !exclude.includes(name))).map((name) => {
    const found = all.find((column) => column.name === name);
    if (found === undefined) throw new SourceError(`column ${JSON.stringify(name)} must exist, got ${known}`);
    return found;
  });
  if (chosen.length === 0) throw new SourceError(`at least one column must be chosen, got none of ${known}`);
  const other = chosen.find(({ isNumeric }) => !isNumeric);
  if (other !== undefined) {
    const rule =
      "choose others with --columns, leave it out with --exclude, or turn it into numbers in a view or --query";
    throw new SourceError(
      `column ${JSON.stringify(other.name)} must hold numbers, got the type ${other.type}: ${rule}`,
    );
  }
  return chosen;
}

/** Looks at all rows; refuses what no distance can be taken to. Returns the selection as it is to be asked from now on. */
export async function surveyOf(
  all: Rows,
  selected: Selected,
  missing: MissingRows,
  signal?: AbortSignal,
): Promise<{ readonly survey: Survey; readonly selected: Selected }> {
  const columns = selected.columns.map((column) => ({ ...column, isNullable: true }));
  const first = await all.look({ ...selected, columns }, signal);
  const { rows } = first;
  first.infinite.forEach((count, c) => {
    if (count === 0) return;
    const name = JSON.stringify(columns[c].name);
    throw new SourceError(
      `column ${name} must hold finite numbers, got infinity in ${count} rows: leave them out with --where`,
    );
  });
  if (rows >= 2 ** 32) throw new SourceError(`a source must have less than ${2 ** 32} rows, got ${rows}`);
  const holed = first.missing.findIndex((count) => count > 0);
  if (holed < 0) return { survey: { ...first, dropped: 0 }, selected };
  if (missing === "refuse") {
    const name = JSON.stringify(columns[holed].name);
    const got = `NULL or NaN in ${first.missing[holed]} of ${rows} rows`;
    throw new SourceError(
      `column ${name} must not have missing numbers, got ${got}: --missing drop leaves such rows out`,
    );
  }
  const dropping = { ...selected, columns, dropsMissing: true };
  const second = await all.look(dropping, signal);
  return { survey: { ...second, dropped: rows - second.rows }, selected: dropping };
}

/** The rows within bounds, and for each column how many of all are out of its own. */
export async function surveyWithin(
  all: Rows,
  { selected, survey }: { readonly survey: Survey; readonly selected: Selected },
  bounds: readonly Bounds[],
  signal?: AbortSignal,
): Promise<{ readonly survey: Survey; readonly selected: Selected; readonly outside: readonly number[] }> {
  const isInside = bounds.every(({ min, max }, c) => survey.least[c] >= min && survey.most[c] <= max);
  if (isInside) return { survey, selected, outside: bounds.map(() => 0) };
  const outside = await all.outside(selected, bounds, signal);
  const within = { ...selected, bounds };
  const { rows, least, most } = await all.look(within, signal);
  return { survey: { ...survey, rows, least, most }, selected: within, outside };
}
