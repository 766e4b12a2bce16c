// What a dialect of SQL must say: names, numbers, the few functions that (E1) needs, and how distances are measured.

import type { Matrix } from "@fedkm/core";

export interface Dialect {
  readonly name: string;
  /** A name of a table or column, as text that cannot end early. */
  quote(name: string): string;
  /** Text as a value. */
  text(value: string): string;
  /** A double, to the last bit. */
  number(value: number): string;
  /** A column as a double, with NULL as NaN where `isNullable`. */
  double(column: string, isNullable: boolean): string;
  isNaN(x: string): string;
  isInfinite(x: string): string;
  least(values: readonly string[]): string;
  /** What keeps a planner from computing an expression of a subquery once for each time that it is used. */
  readonly fence: string;
  /** A column with the number of each row, and a whole number that is scattered by that number. */
  readonly rowNumber: string;
  scattered(number: string): string;
  /** A whole number, as a double, that is nearly always another for another value. */
  fingerprint(value: string): string;
  /** Makes a table of the rows of a query, all of them or none. */
  tableOf(name: string, select: string): string[];
  /** Another way to the distances where explicit differences are too many or too slow; undefined where they are not. */
  measure?(centroids: Matrix): Measure | undefined;
}

/** How a query measures the distances of its rows x0, x1, ... from all centroids. */
export interface Measure {
  /** Columns that the distances are made of, besides the x. */
  readonly from: string | undefined;
  /** Columns with the distances, squared unless `isLength`, and their names. */
  readonly distances: string;
  readonly names: string;
  /** The least distance. */
  readonly least: string;
  /** The number of the centroid whose distance is `best`, the lowest on ties. */
  readonly label: string;
  /** How many distances are within a limit, equal centroids counted each. */
  countWithin(limit: string): string;
  readonly isLength: boolean;
  /** Whether the distances are those of the kernel to the last bit. */
  readonly isExact: boolean;
}
