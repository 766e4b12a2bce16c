// What a dialect of SQL must say, and queries in steps, each of which names what later ones use.

import type { Matrix } from "@fedkm/core";

/** How an engine writes what every engine can do. */
export interface SqlDialect {
  readonly name: string;
  /** A name of a table or column, as text that cannot end early. */
  quote(name: string): string;
  text(value: string): string;
  /** A double, to the last bit. */
  number(value: number): string;
  /** A column as a double, with NULL as NaN where `isNullable`. */
  double(column: string, isNullable: boolean): string;
  /** A column as text without spaces around it. */
  word(column: string): string;
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
  measure?(centroids: Matrix): DistanceSql | undefined;
}

export interface NamedExpression {
  readonly name: string;
  readonly as: string;
}

/** How a query measures the distances of its rows from all centroids. */
export interface DistanceSql {
  /** The distances, squared unless `isLength`, after what they are made of. Each step uses names of the ones before. */
  readonly steps: readonly (readonly NamedExpression[])[];
  readonly least: string;
  /** The number of the first centroid with that distance; NULL where it is no number. */
  label(best: string): string;
  /** How many distances are within a limit, equal centroids counted each. */
  countWithin(limit: string): string;
  readonly isLength: boolean;
  /** Whether the distances are those of the kernel to the last bit. */
  readonly isExact: boolean;
}

/** All names of ours begin so, and no column of a table may. */
const PREFIX = "fedkm_";

/** A name inside of our queries, which none of a table meets. */
export function internalSqlName(name: string): string {
  return PREFIX + name;
}

/** A column that is chosen, as a double. */
export function sqlColumn(column: number): string {
  return internalSqlName(`x${column}`);
}

export function isInternalSqlName(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Names what expressions give, and keeps the rows for which a condition holds: on names of earlier steps and of its own. */
export interface Step {
  readonly named?: readonly NamedExpression[];
  readonly where?: string;
}

export interface Stepwise {
  /** A table with its quoted name, or a query in brackets with a name. */
  readonly relation: string;
  /** A condition on columns of the relation. */
  readonly where: string | undefined;
  readonly steps: readonly Step[];
}

/** A SELECT of expressions on the names of all steps. */
export function selectSqlSteps(dialect: SqlDialect, wanted: string, from: Stepwise, grouped = ""): string {
  return (dialect.sendsInnermost ? atOnce : nested)(dialect, wanted, from) + grouped;
}

/** For engines that compute once what a subquery names. */
export function nested({ fence }: SqlDialect, wanted: string, { relation, where, steps }: Stepwise): string {
  let from = relation;
  let condition = where;
  const names: string[] = [];
  for (const { named = [], where: kept } of steps) {
    if (named.length > 0) {
      const further = named.map(({ name, as }) => `${as} AS ${name}`);
      from = `(SELECT ${[...names, ...further].join(", ")} FROM ${from}${filter(condition)}${fence}) AS s`;
      condition = undefined;
      names.push(...named.map(({ name }) => name));
    }
    condition = both(condition, kept);
  }
  return `SELECT ${wanted} FROM ${from}${filter(condition)}`;
}

/** What shards would not be asked for in a subquery around their rows. An equal expression is computed once. */
function atOnce(_: SqlDialect, wanted: string, { relation, where, steps }: Stepwise): string {
  const named = steps.flatMap((step) => step.named ?? []).map(({ name, as }) => `${as} AS ${name}`);
  const condition = steps.map((step) => step.where).reduce(both, where);
  return `WITH ${named.join(", ")} SELECT ${wanted} FROM ${relation}${filter(condition)}`;
}

function both(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined ? other : other === undefined ? one : `${one} AND ${other}`;
}

function filter(condition: string | undefined): string {
  return condition === undefined ? "" : ` WHERE ${condition}`;
}
