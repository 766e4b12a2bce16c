// The queries that a source asks, in any dialect: its survey, (E1) on grids, a sample, rows near borders, a table of labels.

import type { Matrix } from "@fedkm/core";
import {
  type DistanceSql,
  internalSqlName,
  type NamedExpression,
  nested,
  type SqlDialect,
  type Step,
  type Stepwise,
  selectSqlSteps,
  sqlColumn,
} from "./dialect.ts";
import { sqlDifferences } from "./dialects.ts";

/** The columns of a relation as doubles. */
export interface RowSelection {
  readonly dialect: SqlDialect;
  /** A table with its quoted name, or a query in brackets with a name. */
  readonly relation: string;
  readonly columns: readonly SelectedColumn[];
  /** A condition in SQL, as the user gave it. */
  readonly where?: string | undefined;
  readonly dropsMissing: boolean;
  /** For each column, before it is scaled: rows outside are left out. */
  readonly bounds?: readonly SourceBounds[];
}

/** The least and the largest value that a column of a source may have. */
export interface SourceBounds {
  readonly min: number;
  readonly max: number;
}

interface SelectedColumn {
  readonly name: string;
  /** Instead of the cells of that name. */
  readonly expression?: string;
  readonly isNullable: boolean;
  /** x becomes (x - offset) / scale. */
  readonly scaling?: { readonly offset: number; readonly scale: number };
}

const [BEST, LABEL, REACH, ROW] = ["best", "label", "reach", "row"].map(internalSqlName);

export function surveyStatement(selected: RowSelection): string {
  const { dialect, columns } = selected;
  const ofColumn = columns.flatMap((_, j) => {
    const count = (condition: string) => dialect.double(`sum(CASE WHEN ${condition} THEN 1 ELSE 0 END)`, true);
    const isOdd = `${dialect.isNaN(sqlColumn(j))} OR ${dialect.isInfinite(sqlColumn(j))}`;
    const finite = `CASE WHEN ${isOdd} THEN NULL ELSE ${sqlColumn(j)} END`;
    const extreme = (side: string) => dialect.double(`${side}(${finite})`, true);
    return [
      count(dialect.isNaN(sqlColumn(j))),
      count(dialect.isInfinite(sqlColumn(j))),
      extreme("min"),
      extreme("max"),
    ];
  });
  return selectSqlSteps(dialect, [dialect.double("count(*)", false), ...ofColumn].join(", "), rowsOf(selected));
}

/** For each column the number of rows that are out of its bounds. */
export function outsideStatement(selected: RowSelection, bounds: readonly SourceBounds[]): string {
  const { dialect } = selected;
  const outside = bounds.map((limits, j) => {
    return dialect.double(`sum(CASE WHEN ${isWithin(dialect, sqlColumn(j), limits)} THEN 0 ELSE 1 END)`, true);
  });
  return selectSqlSteps(dialect, outside.join(", "), rowsOf(selected));
}

export function rowsStatement(selected: RowSelection): string {
  return selectSqlSteps(selected.dialect, names(selected), rowsOf(selected));
}

/** One row of about `step`, chosen by the number of the row. */
export function sampleStatement(selected: RowSelection, step: number): string {
  const { dialect } = selected;
  const numbered = [{ name: ROW, as: dialect.rowNumber }];
  const chosen = { named: numbered, where: `${dialect.scattered(ROW)} % ${step} = 0` };
  return selectSqlSteps(dialect, names(selected), after(rowsOf(selected), chosen));
}

/** (E1): for each cluster its number, count, loss, and for each column the coarse and the fine sum, all as doubles. */
export function statisticsStatement(selected: RowSelection, centroids: Matrix, grids: Float64Array): string {
  const { dialect, columns } = selected;
  const width = columns.length + 1;
  const sums = columns.map((_, j) => {
    const coarse = dialect.number(grids[j]);
    const fine = dialect.number(grids[width + j]);
    const high = `((${sqlColumn(j)} + ${coarse}) - ${coarse})`;
    return `sum${high}, sum(((${sqlColumn(j)} - ${high}) + ${fine}) - ${fine})`;
  });
  const loss = measureOf(selected, centroids).isLength ? `${BEST} * ${BEST}` : BEST;
  const counted = [dialect.double(LABEL, true), dialect.double("count(*)", false), `sum(${loss})`];
  return selectSqlSteps(
    dialect,
    [...counted, ...sums].join(", "),
    labelledRows(selected, centroids),
    ` GROUP BY ${LABEL}`,
  );
}

/** Rows that the last bits of a distance could send to another cluster. */
export function borderStatement(selected: RowSelection, centroids: Matrix): string {
  const isOpen = { where: `${LABEL} = ${ON_BORDER}` };
  return selectSqlSteps(selected.dialect, names(selected), after(labelledRows(selected, centroids), isOpen));
}

/** Rows that can leave their cluster if no centroid goes farther than `margin`. */
export function nearStatement(selected: RowSelection, centroids: Matrix, margin: number): string {
  const { dialect } = selected;
  const measure = measureOf(selected, centroids);
  // A little more than asked for: the rounding of an engine must not lose a row.
  const best = measure.isLength ? BEST : `sqrt(${BEST})`;
  const reach = `${best} * ${dialect.number(1 + 1e-9)} + ${dialect.number(2 * margin)}`;
  const isNear = `${measure.countWithin(measure.isLength ? REACH : `${REACH} * ${REACH}`)} > 1`;
  const near = { named: [{ name: REACH, as: reach }], where: isNear };
  return selectSqlSteps(dialect, names(selected), after(rowsOf(selected), ...nearest(measure), near));
}

/** The label of rows for which the distances of an engine do not decide. */
export const ON_BORDER = -1;

/** Relative: vector functions add squares in an order of their own. */
const DECIDED = 1e-9;

/** Whether the labels of an engine are those of the kernel on every row. */
export function isExactSql(selected: RowSelection, centroids: Matrix): boolean {
  return measureOf(selected, centroids).isExact;
}

function measureOf({ dialect }: RowSelection, centroids: Matrix): DistanceSql {
  return dialect.measure?.(centroids) ?? sqlDifferences(dialect, centroids);
}

function rowsOf(selected: RowSelection): Stepwise {
  const { dialect, relation, columns, where, dropsMissing, bounds = [] } = selected;
  const conditions = [
    ...(where === undefined ? [] : [`(${where}\n)`]),
    ...bounds.map((limits, j) => isWithin(dialect, dialect.double(cellOf(dialect, columns[j]), false), limits)),
  ];
  const isWhole = columns.map((_, j) => `NOT (${dialect.isNaN(sqlColumn(j))})`).join(" AND ");
  return {
    relation,
    where: conditions.length === 0 ? undefined : conditions.join(" AND "),
    steps: [{ named: doublesOf(selected), ...(dropsMissing && { where: isWhole }) }],
  };
}

function after(from: Stepwise, ...further: readonly Step[]): Stepwise {
  return { ...from, steps: [...from.steps, ...further] };
}

function isWithin({ number }: SqlDialect, value: string, { min, max }: SourceBounds): string {
  return `${value} >= ${number(min)} AND ${value} <= ${number(max)}`;
}

/** The columns under their names in our queries. */
function doublesOf({ dialect, columns }: RowSelection): NamedExpression[] {
  return columns.map(({ scaling, ...column }, j) => {
    const value = dialect.double(cellOf(dialect, column), column.isNullable);
    if (scaling === undefined) return { name: sqlColumn(j), as: value };
    return {
      name: sqlColumn(j),
      as: `(${value} - ${dialect.number(scaling.offset)}) / ${dialect.number(scaling.scale)}`,
    };
  });
}

function cellOf({ quote }: SqlDialect, { name, expression }: SelectedColumn): string {
  return expression ?? quote(name);
}

function names({ columns }: RowSelection): string {
  return columns.map((_, j) => sqlColumn(j)).join(", ");
}

/** The distances of all centroids and the least of them. */
function nearest({ steps, least }: DistanceSql): Step[] {
  return [...steps.map((named) => ({ named })), { named: [{ name: BEST, as: least }] }];
}

/** Rows with the number of the nearest centroid, the lowest on ties. */
function labelledRows(selected: RowSelection, centroids: Matrix): Stepwise {
  const { number } = selected.dialect;
  const measure = measureOf(selected, centroids);
  const isTie = `${measure.countWithin(`${BEST} * ${number(1 + DECIDED)}`)} > 1`;
  const label = measure.label(BEST);
  const decided = measure.isExact ? label : `CASE WHEN ${isTie} THEN ${ON_BORDER} ELSE ${label} END`;
  return after(rowsOf(selected), ...nearest(measure), { named: [{ name: LABEL, as: decided }] });
}

export const CLUSTER = "cluster";

/** Sums of the numbers of each column that are there, and how many these are. */
export function sumsStatement(selected: RowSelection): string {
  const { dialect, columns } = selected;
  const ofColumn = columns.flatMap((_, j) => {
    const isMissing = dialect.isNaN(sqlColumn(j));
    const sum = (value: string, other: string) =>
      dialect.double(`sum(CASE WHEN ${isMissing} THEN ${value} ELSE ${other} END)`, true);
    return [sum(dialect.number(0), sqlColumn(j)), sum("0", "1")];
  });
  return selectSqlSteps(dialect, [dialect.double("count(*)", false), ...ofColumn].join(", "), rowsOf(selected));
}

/**
 * Rows with their clusters. Those with a missing number have none. `all` are the columns of the relation, which get other
 * names on the way, so that none meets a name of ours.
 */
export function labelStatement(selected: RowSelection, all: readonly string[], centroids: Matrix): string {
  const { dialect, relation, where } = selected;
  const { quote } = dialect;
  const measure = measureOf(selected, centroids);
  const columns = selected.columns.map((column) => ({ ...column, isNullable: true }));
  const carried = all.map((name, i) => ({ name: internalSqlName(`c${i}`), as: quote(name) }));
  const steps = [{ named: [...carried, ...doublesOf({ ...selected, columns })] }, ...nearest(measure)];
  const isPlaced = `NOT (${dialect.isNaN(BEST)}) AND NOT (${dialect.isInfinite(BEST)})`;
  const cells = carried.map(({ name, as }) => `${name} AS ${as}`).join(", ");
  const label = `CASE WHEN ${isPlaced} THEN ${measure.label(BEST)} END AS ${quote(CLUSTER)}`;
  const from = { relation, where: where === undefined ? undefined : `(${where}\n)`, steps };
  return nested(dialect, `${cells}, ${label}`, from);
}
