// Tables with named columns: rows in memory and CSV text, whose bytes depend on nothing but the rows.

export type Value = number | string | null;

/** A row of a table. */
export type Record<Column extends string = string> = { readonly [column in Column]: Value };

/** Numbers with all their digits, an empty field for null. Texts are names of ours and need no quotes. */
export function toCsv<Column extends string>(columns: readonly Column[], rows: readonly Record<Column>[]): string {
  const field = (value: Value) => (value === null ? "" : String(value));
  return [columns.join(","), ...rows.map((row) => columns.map((column) => field(row[column])).join(",")), ""].join(
    "\n",
  );
}

/** Reads what `toCsv` wrote: pictures, claims and reports are made from the file's columns, by their names. */
export function parseCsv(text: string): Record[] {
  const [heading, ...lines] = text.split("\n").filter((line) => line !== "");
  const columns = heading.split(",");
  return lines.map((line) => {
    const fields = line.split(",");
    return Object.fromEntries(columns.map((column, i) => [column, value(fields[i])]));
  });
}

function value(field: string): Value {
  if (field === "") return null;
  const number = Number(field);
  return Number.isNaN(number) ? field : number;
}

/** Rows that agree with a pattern, where an empty field agrees with everything. */
export function select(rows: readonly Record[], where: Record): Record[] {
  const wanted = Object.entries(where);
  return rows.filter((row) => wanted.every(([column, value]) => row[column] === null || row[column] === value));
}
