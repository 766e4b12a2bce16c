// A query in steps, each of which names what later ones use: one inside the other, or all in one SELECT.

import type { Dialect, Named } from "./dialect.ts";

/** All names of ours begin so, and no column of a table may. */
const PREFIX = "fedkm_";

/** A name inside of our queries, which none of a table meets. */
export function own(name: string): string {
  return PREFIX + name;
}

/** A column that is chosen, as a double. */
export function x(column: number): string {
  return own(`x${column}`);
}

export function isOwn(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Names what expressions give, and keeps the rows for which a condition holds: on names of earlier steps and of its own. */
export interface Step {
  readonly named?: readonly Named[];
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
export function select(dialect: Dialect, wanted: string, from: Stepwise, grouped = ""): string {
  return (dialect.sendsInnermost ? atOnce : nested)(dialect, wanted, from) + grouped;
}

/** For engines that compute once what a subquery names. */
export function nested({ fence }: Dialect, wanted: string, { relation, where, steps }: Stepwise): string {
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
function atOnce(_: Dialect, wanted: string, { relation, where, steps }: Stepwise): string {
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
