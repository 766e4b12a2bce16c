// Missing cells: whether a file with some is refused, which rows are complete, and what fills the gaps.

import type { Matrix } from "@fedkm/core";
import { DataError } from "../source/refusal.ts";
import type { Table } from "../table/table.ts";

/** What becomes of missing cells: the file is refused, their rows are dropped, or the mean over all devices fills them. */
export type MissingPolicy = "refuse" | "drop" | "mean";

/** What can become of missing cells. */
export const missingPolicies: readonly MissingPolicy[] = ["refuse", "drop", "mean"];

/** Refuses a file with missing cells, with their counts, and a column without any value under every policy. */
export function checkMissingCells(table: Table, policy: MissingPolicy): void {
  const { file, columns, points, missing } = table;
  const affected = columns.map((column, c) => ({ column, ...missing[c] })).filter(({ count }) => count > 0);
  const empty = affected.filter(({ count }) => count === points.rows);
  if (empty.length > 0) {
    const [{ line, column }] = empty;
    const remedies = [{ kind: "leave-out-columns", columns: empty.map((own) => own.column) } as const];
    throw new DataError({ file, line, column }, "have a value in some row", "none", remedies);
  }
  if (policy !== "refuse" || affected.length === 0) return;
  const first = affected.reduce((a, b) => (b.line < a.line ? b : a));
  const total = affected.reduce((sum, { count }) => sum + count, 0);
  const counts = affected.map(({ column, count }) => `${count} in ${JSON.stringify(column)}`).join(", ");
  const remedies = [{ kind: "missing-policy", policies: ["drop", "mean"] } as const];
  const got = total === 1 ? "1 missing cell" : `${total} missing cells in the file (${counts})`;
  throw new DataError({ file, line: first.line, column: first.column }, "have a value", got, remedies);
}

/** Whether each row is complete; undefined if all are. */
export function completeTableRows({ points, missing }: Table): Uint8Array | undefined {
  if (missing.every(({ count }) => count === 0)) return undefined;
  const { data, rows, cols } = points;
  const complete = new Uint8Array(rows).fill(1);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < cols; c++) if (Number.isNaN(data[r * cols + c])) complete[r] = 0;
  }
  return complete;
}

/** In place: missing values become those of `fill`. */
export function fillMissing({ data, cols }: Matrix, fill: readonly number[]): void {
  for (let at = 0; at < data.length; at++) if (Number.isNaN(data[at])) data[at] = fill[at % cols];
}
