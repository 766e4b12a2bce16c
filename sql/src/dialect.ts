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
  /** Whether only the innermost SELECT is sent to where rows are, so that everything must be asked in one. */
  readonly sendsInnermost?: boolean;
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

/** An expression and the name that it gets. */
export interface Named {
  readonly name: string;
  readonly as: string;
}

/** How a query measures the distances of its rows from all centroids. */
export interface Measure {
  /** The distances, squared unless `isLength`, after what they are made of. Each step uses names of the ones before. */
  readonly steps: readonly (readonly Named[])[];
  /** The least distance. */
  readonly least: string;
  /** The number of the first centroid with that distance; NULL where it is no number. */
  label(best: string): string;
  /** How many distances are within a limit, equal centroids counted each. */
  countWithin(limit: string): string;
  readonly isLength: boolean;
  /** Whether the distances are those of the kernel to the last bit. */
  readonly isExact: boolean;
}
