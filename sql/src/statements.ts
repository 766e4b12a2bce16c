// The queries that a source asks, in any dialect: its survey, (E1) on grids, a sample, rows near borders.

import type { Matrix } from "@fedkm/core";
import type { Dialect, Measure } from "./dialect.ts";
import { byDifferences } from "./measure.ts";

/** The columns of a relation as doubles x0, x1, ... */
export interface Selected {
  readonly dialect: Dialect;
  /** A table with its quoted name, or a query in brackets with a name. */
  readonly relation: string;
  readonly columns: readonly SelectedColumn[];
  /** A condition in SQL, as the user gave it. */
  readonly where?: string | undefined;
  /** Whether rows with a missing number are left out. */
  readonly dropsMissing: boolean;
  /** For each column, before it is scaled: rows outside are left out. */
  readonly bounds?: readonly Bounds[];
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

interface SelectedColumn {
  readonly name: string;
  readonly isNullable: boolean;
  /** x becomes (x - offset) / scale. */
  readonly scaling?: { readonly offset: number; readonly scale: number };
}

export function surveyStatement(selected: Selected): string {
  const { dialect, columns } = selected;
  const ofColumn = columns.flatMap((_, j) => {
    const x = `x${j}`;
    const count = (condition: string) => dialect.double(`sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`, true);
    const finite = `CASE WHEN ${dialect.isNaN(x)} OR ${dialect.isInfinite(x)} THEN ${dialect.number(0)} ELSE ${x} END`;
    const extreme = (side: string) => dialect.double(`${side}(${finite})`, true);
    return [count(dialect.isNaN(x)), count(dialect.isInfinite(x)), extreme("min"), extreme("max")];
  });
  return `SELECT ${dialect.double("count(*)", false)}, ${ofColumn.join(", ")} FROM ${rowsOf(selected)} AS s`;
}

/** For each column the number of rows that are out of its bounds. */
export function outsideStatement(selected: Selected, bounds: readonly Bounds[]): string {
  const { dialect } = selected;
  const outside = bounds.map((own, j) => {
    return dialect.double(`sum(CASE WHEN ${isWithin(dialect, `x${j}`, own)} THEN 0 ELSE 1 END)`, true);
  });
  return `SELECT ${outside.join(", ")} FROM ${rowsOf(selected)} AS s`;
}

/** All rows, as doubles. */
export function rowsStatement(selected: Selected): string {
  return `SELECT ${names(selected)} FROM ${rowsOf(selected)} AS s`;
}

/** One row of about `step`, chosen by the number of the row. */
export function sampleStatement(selected: Selected, step: number): string {
  const { dialect } = selected;
  const numbered = `(SELECT ${names(selected)}, ${dialect.rowNumber} AS n FROM ${rowsOf(selected)} AS s)`;
  return `SELECT ${names(selected)} FROM ${numbered} AS s WHERE ${dialect.scattered("n")} % ${step} = 0`;
}

/** (E1): for each cluster its number, count, loss, and for each column the coarse and the fine sum, all as doubles. */
export function statisticsStatement(selected: Selected, centroids: Matrix, grids: Float64Array): string {
  const { dialect, columns } = selected;
  const width = columns.length + 1;
  const sums = columns.map((_, j) => {
    const coarse = dialect.number(grids[j]);
    const fine = dialect.number(grids[width + j]);
    const high = `((x${j} + ${coarse}) - ${coarse})`;
    return `sum${high}, sum(((x${j} - ${high}) + ${fine}) - ${fine})`;
  });
  const loss = measureOf(selected, centroids).isLength ? "best * best" : "best";
  const counted = `${dialect.double("label", true)}, ${dialect.double("count(*)", false)}, sum(${loss})`;
  return `SELECT ${counted}, ${sums.join(", ")} FROM ${labelled(selected, centroids)} AS s GROUP BY label`;
}

/** Rows that the last bits of a distance could send to another cluster. */
export function borderStatement(selected: Selected, centroids: Matrix): string {
  return `SELECT ${names(selected)} FROM ${labelled(selected, centroids)} AS s WHERE label = ${ON_BORDER}`;
}

/** Rows that can leave their cluster if no centroid goes farther than `margin`. */
export function nearStatement(selected: Selected, centroids: Matrix, margin: number): string {
  const { dialect } = selected;
  const measure = measureOf(selected, centroids);
  // A little more than asked for: the rounding of an engine must not lose a row.
  const best = measure.isLength ? "best" : "sqrt(best)";
  const reach = `${best} * ${dialect.number(1 + 1e-9)} + ${dialect.number(2 * margin)}`;
  const from = `(SELECT ${names(selected)}, ${measure.names}, ${reach} AS reach FROM ${nearest(selected, measure)} AS s${dialect.fence})`;
  return `SELECT ${names(selected)} FROM ${from} AS s WHERE ${measure.countWithin(measure.isLength ? "reach" : "reach * reach")} > 1`;
}

/** The label of rows for which the distances of an engine do not decide. */
export const ON_BORDER = -1;

/** Relative: vector functions add squares in an order of their own. */
const DECIDED = 1e-9;

/** Whether the labels of an engine are those of the kernel on every row. */
export function isExact(selected: Selected, centroids: Matrix): boolean {
  return measureOf(selected, centroids).isExact;
}

function measureOf({ dialect }: Selected, centroids: Matrix): Measure {
  return dialect.measure?.(centroids) ?? byDifferences(dialect, centroids);
}

function rowsOf(selected: Selected): string {
  const { dialect, relation, columns, where, dropsMissing, bounds = [] } = selected;
  const conditions = [
    ...(where === undefined ? [] : [`(${where}\n)`]),
    ...bounds.map((own, j) => isWithin(dialect, dialect.double(dialect.quote(columns[j].name), false), own)),
  ];
  const condition = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const rows = `(SELECT ${doublesOf(selected)} FROM ${relation}${condition}${dialect.fence})`;
  if (!dropsMissing) return rows;
  const whole = columns.map((_, j) => `NOT (${dialect.isNaN(`x${j}`)})`);
  return `(SELECT * FROM ${rows} AS s WHERE ${whole.join(" AND ")})`;
}

function isWithin({ number }: Dialect, x: string, { min, max }: Bounds): string {
  return `${x} >= ${number(min)} AND ${x} <= ${number(max)}`;
}

/** The columns as x0, x1, ... */
export function doublesOf({ dialect, columns }: Selected): string {
  const doubles = columns.map(({ name, isNullable, scaling }, j) => {
    const x = dialect.double(dialect.quote(name), isNullable);
    if (scaling === undefined) return `${x} AS x${j}`;
    return `(${x} - ${dialect.number(scaling.offset)}) / ${dialect.number(scaling.scale)} AS x${j}`;
  });
  return doubles.join(", ");
}

function names({ columns }: Selected): string {
  return columns.map((_, j) => `x${j}`).join(", ");
}

/** Rows with their squared distances and the least of them. Each level is one step, so that nothing is computed twice. */
function nearest(selected: Selected, measure: Measure): string {
  const { fence } = selected.dialect;
  const xs = names(selected);
  const all = rowsOf(selected);
  const rows = measure.from === undefined ? all : `(SELECT ${xs}, ${measure.from} FROM ${all} AS s)`;
  const measured = `(SELECT ${xs}, ${measure.distances} FROM ${rows} AS s${fence})`;
  return `(SELECT ${xs}, ${measure.names}, ${measure.least} AS best FROM ${measured} AS s${fence})`;
}

/** Rows with the number of the nearest centroid, the lowest on ties. */
function labelled(selected: Selected, centroids: Matrix): string {
  const { dialect } = selected;
  const measure = measureOf(selected, centroids);
  const isTie = `${measure.countWithin(`best * ${dialect.number(1 + DECIDED)}`)} > 1`;
  const label = measure.isExact ? measure.label : `CASE WHEN ${isTie} THEN ${ON_BORDER} ELSE ${measure.label} END`;
  return `(SELECT ${names(selected)}, best, ${label} AS label FROM ${nearest(selected, measure)} AS s${dialect.fence})`;
}
