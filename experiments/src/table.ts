// Tables with named columns: rows in memory and CSV text, whose bytes depend on nothing but the rows.

import { csvRecordLine, csvRecords } from "@fedkm/files";

export type Value = number | string | null;

/** A row of a table by the names of its columns. */
export type TableRow<Column extends string = string> = { readonly [column in Column]: Value };

/** Numbers with all their digits, an empty field for null, quotes only where a comma needs them. */
export function toCsv<Column extends string>(columns: readonly Column[], rows: readonly TableRow<Column>[]): string {
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))].map(csvRecordLine).join("");
}

/** Reads what `toCsv` wrote: pictures, claims and reports are made from the file's columns, by their names. */
export function parseCsv(text: string): TableRow[] {
  const [columns = [], ...rows] = csvRecords("table", text);
  return rows.map((row) => {
    // Put one after the other: thousands of lists of pairs would keep the collector busy.
    const named: Record<string, Value> = {};
    for (let i = 0; i < columns.length; i++) named[columns[i]] = value(row[i]);
    return named;
  });
}

function value(text: string): Value {
  if (text === "") return null;
  const number = Number(text);
  return Number.isNaN(number) ? text : number;
}

/** What a column must hold, or one of several values. */
export type Where = { readonly [column: string]: Value | readonly Value[] };

/** Rows that agree with all patterns, where an empty field agrees with everything. */
export function selectCellRows(rows: readonly TableRow[], ...patterns: readonly Where[]): TableRow[] {
  const wanted = patterns.flatMap((where) => Object.entries(where));
  return rows.filter((row) =>
    wanted.every(([column, value]) => {
      const own = row[column];
      return own === null || (Array.isArray(value) ? value.includes(own) : own === value);
    }),
  );
}

/** Items with one key together, in the order of the first of each. */
export function groupCells<Item>(items: readonly Item[], keyOf: (item: Item) => string): Item[][] {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}
