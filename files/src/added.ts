// Columns that come behind those of a file: the label of each row, and what else is said about it.

export interface AddedColumn {
  readonly name: string;
  readonly kind: "whole" | "real" | "text";
  /** Undefined for a row that has none. Rows are asked for once each, in the order of the file. */
  of(row: number): number | string | undefined;
}

/** With names that the file does not have: "cluster", or "cluster_2". */
export function withFreeNames(columns: readonly AddedColumn[], taken: readonly string[]): AddedColumn[] {
  const used = new Set(taken);
  return columns.map((column) => {
    let name = column.name;
    for (let n = 2; used.has(name); n++) name = `${column.name}_${n}`;
    used.add(name);
    return { ...column, name };
  });
}
