// Columns of cells outside their own format: those added behind the columns of a file, and all of them for another format.

/** The formats that cells can be written in. */
export const labelFormats = ["csv", "jsonl", "parquet", "xlsx"] as const;
/** Formats into which labels are written. */
export type LabelFormat = (typeof labelFormats)[number];

/** A column that comes behind those of a file, such as the label of each row. */
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

export type CellValue = string | number | bigint | boolean | null;

export interface CellColumn {
  readonly name: string;
  /** Numbers that are whole, or any; texts; true and false. */
  readonly kind: AddedColumn["kind"] | "boolean" | "long";
  readonly cells: readonly CellValue[];
}

export interface ConvertedCells {
  readonly columns: readonly CellColumn[];
  /** Columns that have no form outside their own format. */
  readonly leftOut: readonly string[];
}

export function addedCellColumns(added: readonly AddedColumn[], rows: number): CellColumn[] {
  const cells = added.map((): CellValue[] => []);
  for (let row = 0; row < rows; row++) for (const [c, { of }] of added.entries()) cells[c].push(of(row) ?? null);
  return added.map(({ name, kind }, c) => ({ name, kind, cells: cells[c] }));
}

/** The kind that all values of a column have; text if they differ. */
export function typedCellColumn(name: string, cells: readonly CellValue[]): CellColumn {
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
