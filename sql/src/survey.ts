// One survey of all rows before anything is computed: how many there are, what is missing, and how large numbers get.

import type { Matrix } from "@fedkm/core";
import { isInternalSqlName } from "./dialect.ts";
import { SourceError } from "./driver.ts";
import { type EngineColumn, gatherEngineRows, type SqlEngine } from "./engine.ts";
import {
  outsideStatement,
  type RowSelection,
  rowsStatement,
  type SourceBounds,
  sampleStatement,
  surveyStatement,
} from "./statements.ts";

/** What becomes of rows with a missing number. */
export type MissingRows = "refuse" | "drop";

export interface Survey extends Pick<SelectionSummary, "rows" | "least" | "most"> {
  /** Rows that were left out because a number is missing. */
  readonly dropped: number;
}

/** The columns that are wanted, in their order; a column of anything but numbers is refused. */
export function numericEngineColumns(
  all: readonly EngineColumn[],
  { columns, exclude = [] }: { readonly columns?: readonly string[]; readonly exclude?: readonly string[] },
): EngineColumn[] {
  const taken = all.find(({ name }) => isInternalSqlName(name));
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

/** Refuses what no distance can be taken to. Returns the selection as it is to be asked from now on. */
export async function surveyOf(
  all: RowReader,
  selected: RowSelection,
  missing: MissingRows,
  signal?: AbortSignal,
): Promise<{ readonly survey: Survey; readonly selected: RowSelection }> {
  const columns = selected.columns.map((column) => ({ ...column, isNullable: true }));
  const first = await all.summary({ ...selected, columns }, signal);
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
  if (holed < 0) return { survey: { ...rangesOf(first), dropped: 0 }, selected };
  if (missing === "refuse") {
    const name = JSON.stringify(columns[holed].name);
    const got = `NULL or NaN in ${first.missing[holed]} of ${rows} rows`;
    throw new SourceError(
      `column ${name} must not have missing numbers, got ${got}: --missing drop leaves such rows out`,
    );
  }
  const dropping = { ...selected, columns, dropsMissing: true };
  const second = await all.summary(dropping, signal);
  return { survey: { ...rangesOf(second), dropped: rows - second.rows }, selected: dropping };
}

/** Rows of finite numbers only: without any, all extremes are 0. */
function rangesOf({ rows, least, most }: SelectionSummary): Omit<Survey, "dropped"> {
  return rows > 0 ? { rows, least, most } : { rows, least: least.fill(0), most: most.fill(0) };
}

/** The rows within bounds, and for each column how many of all are out of its own. */
export async function surveyWithin(
  all: RowReader,
  { selected, survey }: { readonly survey: Survey; readonly selected: RowSelection },
  bounds: readonly SourceBounds[],
  signal?: AbortSignal,
): Promise<{ readonly survey: Survey; readonly selected: RowSelection; readonly outside: readonly number[] }> {
  const isInside = bounds.every(({ min, max }, c) => survey.least[c] >= min && survey.most[c] <= max);
  if (isInside) return { survey, selected, outside: bounds.map(() => 0) };
  const outside = await all.outside(selected, bounds, signal);
  const within = { ...selected, bounds };
  const ranges = rangesOf(await all.summary(within, signal));
  return { survey: { ...survey, ...ranges }, selected: within, outside };
}

/** Of each column. Extremes are those of finite numbers, NaN where there is none. */
export interface SelectionSummary {
  readonly rows: number;
  readonly missing: Float64Array;
  readonly infinite: Float64Array;
  readonly least: Float64Array;
  readonly most: Float64Array;
}

/** Where the rows of a selection come from: an engine that is asked each time, or rows that were kept (spool.ts). */
export interface RowReader {
  summary(selected: RowSelection, signal?: AbortSignal): Promise<SelectionSummary>;
  /** For each column the number of rows that are out of its bounds. */
  outside(selected: RowSelection, bounds: readonly SourceBounds[], signal?: AbortSignal): Promise<number[]>;
  /** All rows, always in the same order if `isNumbered`. A block is overwritten by the next. */
  blocks(selected: RowSelection, signal?: AbortSignal, isNumbered?: boolean): AsyncIterable<Matrix>;
  /** One row of about `step`: the same ones every time. */
  sample(selected: RowSelection, step: number, signal?: AbortSignal): AsyncIterable<Matrix>;
}

export function engineRows(engine: SqlEngine): RowReader {
  return {
    async summary(selected, signal) {
      const width = 1 + 4 * selected.columns.length;
      const { data } = await gatherEngineRows(engine.blocks(surveyStatement(selected), width, signal), width);
      const every = (from: number) => Float64Array.from(selected.columns, (_, c) => data[1 + 4 * c + from]);
      const orZero = (x: number) => (Number.isNaN(x) ? 0 : x);
      return {
        rows: data[0],
        // Without rows an engine has no sums.
        missing: every(0).map(orZero),
        infinite: every(1).map(orZero),
        least: every(2),
        most: every(3),
      };
    },
    async outside(selected, bounds, signal) {
      const statement = outsideStatement(selected, bounds);
      const { data } = await gatherEngineRows(engine.blocks(statement, bounds.length, signal), bounds.length);
      return Array.from(data);
    },
    blocks: (selected, signal, isNumbered) =>
      engine.blocks(rowsStatement(selected), selected.columns.length, signal, isNumbered),
    sample: (selected, step, signal) =>
      engine.blocks(sampleStatement(selected, step), selected.columns.length, signal, true),
  };
}
