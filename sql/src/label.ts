// Labels written back where the rows are: statements that make a table of all columns and the cluster of each row.

import type { Matrix } from "@fedkm/core";
import { byDifferences } from "./measure.ts";
import { doublesOf, type Selected } from "./statements.ts";
import { nested, own } from "./steps.ts";

/** The column of the labels. */
export const CLUSTER = "cluster";

/**
 * All of them or none make the table `into`. Rows with a missing number have no cluster. `all` are the columns of the
 * relation, which get other names on the way, so that none meets a name of ours.
 */
export function labelStatements(selected: Selected, all: readonly string[], centroids: Matrix, into: string): string[] {
  const { dialect, relation, where } = selected;
  const { quote } = dialect;
  const measure = dialect.measure?.(centroids) ?? byDifferences(dialect, centroids);
  const columns = selected.columns.map((column) => ({ ...column, isNullable: true }));
  const carried = all.map((name, i) => ({ name: own(`c${i}`), as: quote(name) }));
  const best = own("best");
  const steps = [
    { named: [...carried, ...doublesOf({ ...selected, columns })] },
    ...measure.steps.map((named) => ({ named })),
    { named: [{ name: best, as: measure.least }] },
  ];
  const isPlaced = `NOT (${dialect.isNaN(best)}) AND NOT (${dialect.isInfinite(best)})`;
  const cells = all.map((name, i) => `${own(`c${i}`)} AS ${quote(name)}`).join(", ");
  const label = `CASE WHEN ${isPlaced} THEN ${measure.label(best)} END AS ${quote(CLUSTER)}`;
  const from = { relation, where: where === undefined ? undefined : `(${where}\n)`, steps };
  return dialect.tableOf(into, nested(dialect, `${cells}, ${label}`, from));
}
