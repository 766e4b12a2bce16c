// Cells by columns, as other formats than their own can have them.

import type { AddedColumn } from "./added.ts";

export type Cell = string | number | bigint | boolean | null;

export interface CellColumn {
  readonly name: string;
  /** Numbers that are whole, or any; texts; true and false. */
  readonly kind: AddedColumn["kind"] | "boolean" | "long";
  readonly cells: readonly Cell[];
}

export interface Records {
  readonly columns: readonly CellColumn[];
  /** Columns that have no form outside their own format. */
  readonly leftOut: readonly string[];
}

export function addedCells(added: readonly AddedColumn[], rows: number): CellColumn[] {
  const cells = added.map((): Cell[] => []);
  for (let row = 0; row < rows; row++) for (const [c, { of }] of added.entries()) cells[c].push(of(row) ?? null);
  return added.map(({ name, kind }, c) => ({ name, kind, cells: cells[c] }));
}

/** The kind that all values of a column have; text if they differ. */
export function typed(name: string, cells: readonly Cell[]): CellColumn {
  const present = cells.filter((cell) => cell !== null);
  const all = (type: string) => present.length > 0 && present.every((cell) => typeof cell === type);
  if (all("boolean")) return { name, kind: "boolean", cells };
  if (all("bigint")) return { name, kind: "long", cells };
  if (all("number")) {
    const isWhole = present.every((cell) => cell === ((cell as number) | 0));
    return { name, kind: isWhole ? "whole" : "real", cells };
  }
  return { name, kind: "text", cells: cells.map((cell) => (cell === null ? null : String(cell))) };
}
