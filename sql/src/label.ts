// Labels written back where the rows are: statements that make a table of all columns and the cluster of each row.

import type { Matrix } from "@fedkm/core";
import { byDifferences } from "./measure.ts";
import { doublesOf, type Selected } from "./statements.ts";

/** The column of the labels. */
export const CLUSTER = "cluster";

/**
 * All of them or none make the table `into`. Rows with a missing number have no cluster. `all` are the columns of the
 * relation, which get other names on the way, so that none meets a name of ours.
 */
export function labelStatements(selected: Selected, all: readonly string[], centroids: Matrix, into: string): string[] {
  const { dialect, relation, where } = selected;
  const { fence, quote } = dialect;
  const measure = dialect.measure?.(centroids) ?? byDifferences(dialect, centroids);
  const kept = all.map((_, i) => `c${i}`).join(", ");
  const xs = selected.columns.map((_, j) => `x${j}`).join(", ");
  const carried = all.map((name, i) => `${quote(name)} AS c${i}`).join(", ");
  const condition = where === undefined ? "" : ` WHERE (${where}\n)`;
  const columns = selected.columns.map((column) => ({ ...column, isNullable: true }));
  const rows = `(SELECT ${carried}, ${doublesOf({ ...selected, columns })} FROM ${relation}${condition}${fence})`;
  const from = measure.from === undefined ? rows : `(SELECT ${kept}, ${xs}, ${measure.from} FROM ${rows} AS s)`;
  const measured = `(SELECT ${kept}, ${measure.distances} FROM ${from} AS s${fence})`;
  const nearest = `(SELECT ${kept}, ${measure.names}, ${measure.least} AS best FROM ${measured} AS s${fence})`;
  const isPlaced = `NOT (${dialect.isNaN("best")}) AND NOT (${dialect.isInfinite("best")})`;
  const cells = all.map((name, i) => `c${i} AS ${quote(name)}`).join(", ");
  const label = `CASE WHEN ${isPlaced} THEN ${measure.label} END AS ${quote(CLUSTER)}`;
  return dialect.tableOf(into, `SELECT ${cells}, ${label} FROM ${nearest} AS s`);
}
