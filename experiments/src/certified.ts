// One line about all runs of Algorithm 1: whether the objective ever rose, and how far their ends are from fixed points.

import { count, significant } from "@fedkm/pictures";
import type { TableRow } from "./table.ts";

/** From rows of single runs; undefined where none of them is of Algorithm 1. */
export function certifiedLine(runs: readonly TableRow[]): string | undefined {
  const certified = runs.filter(({ largest_rise }) => largest_rise !== null);
  if (certified.length === 0) return undefined;
  const most = (column: string) => certified.reduce((largest, row) => Math.max(largest, Number(row[column])), 0);
  const rise = most("largest_rise");
  const rose = certified.filter(({ largest_rise }) => Number(largest_rise) > 0).length;
  const descent =
    rise === 0
      ? "none raised the objective in any round"
      : `${count(rose)} raised the objective, by ${significant(rise, 2)} at most`;
  const residual = significant(most("relative_residual"), 2);
  return `${count(certified.length)} runs of Algorithm 1: ${descent}; one more exact update moves no coordinate by more than ${residual} of the points' range`;
}
