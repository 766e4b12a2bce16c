// A model as a SELECT that labels the rows of a table: cells to numbers, distances to centroids, the nearest of them.

import {
  clickhouse as ofClickhouse,
  duckdb as ofDuckdb,
  postgres as ofPostgres,
  spark as ofSpark,
  sqlite as ofSqlite,
  trino as ofTrino,
} from "@fedkm/sql/dialects";
import type { LabelColumn, Labelling } from "../model/labelling.ts";
import type { DialectName } from "../request.ts";

// What the SELECT of a model asks of a dialect of SQL: quoting as everywhere, cells as doubles or words, logarithms.

interface Dialect extends Pick<typeof ofDuckdb, "quote" | "text" | "number" | "word" | "least" | "fence"> {
  /** An expression as a double, NULL where it is not a number. */
  double(expression: string): string;
  logarithm(expression: string): string;
}

const duckdb: Dialect = {
  ...ofDuckdb,
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), 'NaN'::DOUBLE)`,
  logarithm: (expression) => `LN(${expression})`,
};

const postgres: Dialect = {
  ...duckdb,
  ...ofPostgres,
  double: (expression) => `NULLIF(CAST(${expression} AS float8), 'NaN'::float8)`,
};

const clickhouse: Dialect = {
  ...ofClickhouse,
  double: (expression) => `if(isNaN(toFloat64(${expression})), NULL, toFloat64(${expression}))`,
  logarithm: (expression) => `log(${expression})`,
};

const sqlite: Dialect = {
  ...duckdb,
  ...ofSqlite,
  double: (expression) => ofSqlite.double(expression, true),
};

const trino: Dialect = {
  ...duckdb,
  ...ofTrino,
  // There NaN is not equal to itself.
  double: (expression) => `IF(is_nan(CAST(${expression} AS DOUBLE)), NULL, CAST(${expression} AS DOUBLE))`,
};

const spark: Dialect = {
  ...duckdb,
  ...ofSpark,
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), CAST('NaN' AS DOUBLE))`,
};

/** DuckDB quotes as the standard has it. */
const standard: Dialect = {
  ...duckdb,
  number: (value) => `CAST('${duckdb.number(value)}' AS DOUBLE PRECISION)`,
  double: (expression) => `CAST(${expression} AS DOUBLE PRECISION)`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR(65535)))`,
};

const dialects: Readonly<Record<DialectName, Dialect>> = {
  duckdb,
  postgres,
  clickhouse,
  sqlite,
  trino,
  spark,
  standard,
};

/** Names that no column of a table is likely to have. */
const [ROW, NEAREST, CLUSTER] = ["fedkm_row", "fedkm_nearest", "fedkm_cluster"];
const cellName = (i: number) => `fedkm_c${i}`;
const numberName = (x: number) => `fedkm_x${x}`;
const distanceName = (c: number) => `fedkm_d${c}`;

export function sqlOf(labelling: Labelling, table: string, dialectName: DialectName): string {
  const dialect = dialects[dialectName];
  const { names, device } = labelling;
  const about = [
    `-- The cluster of every row by the centroids of ${device === undefined ? "all devices together" : `device ${JSON.stringify(device)}`}, made by fedkm export.`,
    "-- A row that lacks a value which the model needs has the cluster NULL.",
  ];
  return `${about.join("\n")}\n${selects[dialectName](stepsOf(labelling, dialect), names, dialect.quote(table), dialect)};\n`;
}

/** Expressions by their short names: cells as they are, numbers that are compared, distances, and the least of them. */
interface Steps {
  readonly cells: readonly (readonly [name: string, expression: (column: string) => string, column: string])[];
  readonly numbers: readonly (readonly [name: string, expression: string])[];
  readonly distances: readonly (readonly [name: string, expression: string])[];
  readonly least: string;
  /** The number of the least distance. */
  readonly nearest: string;
}

function stepsOf({ columns, centroids }: Labelling, dialect: Dialect): Steps {
  const names = [...new Set(columns.map(({ name }) => name))];
  const isWord = (name: string) => columns.some((column) => column.name === name && column.value !== undefined);
  return {
    cells: names.map((name, i) => [cellName(i), isWord(name) ? dialect.word : dialect.double, name]),
    numbers: columns.map((column, x) => [
      numberName(x),
      numberOf(column, cellName(names.indexOf(column.name)), columns, dialect),
    ]),
    distances: centroids.map((centroid, c) => [
      distanceName(c),
      centroid.map((value, x) => squared(`(${numberName(x)} - ${dialect.number(value)})`)).join(" + "),
    ]),
    least: dialect.least(centroids.map((_, c) => distanceName(c))),
    // The first of equal distances is the lowest number.
    nearest: `CASE ${centroids.map((_, c) => `WHEN ${distanceName(c)} = ${NEAREST} THEN ${c}`).join(" ")} END`,
  };
}

const squared = (of: string) => `${of} * ${of}`;

function numberOf(column: LabelColumn, cell: string, columns: readonly LabelColumn[], dialect: Dialect): string {
  const { value, offset, scale, fill } = column;
  const scaled = (of: string) => `(${of} - ${dialect.number(offset)}) / ${dialect.number(scale)}`;
  if (value === undefined) return scaled(transformed(column, cell, dialect));
  const values = columns.filter(({ name }) => name === column.name).map((own) => dialect.text(own.value ?? ""));
  const rest = fill === undefined ? "NULL" : dialect.number(fill);
  const isOther = values.filter((own) => own !== dialect.text(value)).join(", ");
  const others = isOther === "" ? "" : ` WHEN ${cell} IN (${isOther}) THEN ${dialect.number(0)}`;
  return scaled(`CASE WHEN ${cell} = ${dialect.text(value)} THEN ${dialect.number(1)}${others} ELSE ${rest} END`);
}

/** A cell with what takes its place if it is missing, by the rule that it had before it was scaled. */
function transformed({ transform, fill }: LabelColumn, cell: string, dialect: Dialect): string {
  const filled = (of: string) => (fill === undefined ? of : `COALESCE(${of}, ${dialect.number(fill)})`);
  if (transform === null) return filled(cell);
  if (transform.kind === "log") {
    return dialect.logarithm(filled(`CASE WHEN ${cell} > ${dialect.number(0)} THEN ${cell} END`));
  }
  const { knots, shares } = transform;
  const own = filled(cell);
  const last = knots.length - 1;
  const line = (i: number) => {
    const slope = `(${own} - ${dialect.number(knots[i])}) / ${dialect.number(knots[i + 1] - knots[i])}`;
    return `${dialect.number(shares[i])} + ${slope} * ${dialect.number(shares[i + 1] - shares[i])}`;
  };
  /** By halves: some engines compare until they have found the line, row by row. */
  const between = (from: number, to: number): string => {
    if (from === to) return dialect.number(shares[from]);
    if (to - from === 1) return line(from);
    const middle = (from + to) >> 1;
    return `CASE WHEN ${own} < ${dialect.number(knots[middle])} THEN ${between(from, middle)} ELSE ${between(middle, to)} END`;
  };
  return (
    `CASE WHEN ${own} IS NULL THEN NULL WHEN ${own} <= ${dialect.number(knots[0])} THEN ${dialect.number(shares[0])} ` +
    `WHEN ${own} >= ${dialect.number(knots[last])} THEN ${dialect.number(shares[last])} ELSE ${between(0, last)} END`
  );
}

type Select = (steps: Steps, names: readonly string[] | undefined, table: string, dialect: Dialect) => string;
type Named = readonly (readonly [name: string, expression: string])[];

const listed = (of: Named) => of.map(([own, expression]) => `${expression} AS ${own}`).join(",\n  ");

/** The steps one after the other, each from the names of the one before. */
function stepped({ cells, numbers, distances, least, nearest }: Steps, { quote }: Dialect): Named[] {
  const read = cells.map(([own, expression, column]) => [own, expression(`${ROW}.${quote(column)}`)] as const);
  return [read, numbers, distances, [[NEAREST, least]], [[CLUSTER, nearest]]];
}

function answers(names: readonly string[] | undefined, { quote, text }: Dialect): string {
  const named = names?.map((name, c) => `WHEN ${c} THEN ${text(name)}`).join(" ");
  const further = named === undefined ? "" : `,\n  CASE ${CLUSTER} ${named} END AS ${quote("cluster_name")}`;
  return `${CLUSTER} AS ${quote("cluster")}${further}`;
}

/** Standard SQL: each step is a subquery beside the row, so that only what is wanted comes out. */
const withLaterals: Select = (steps, names, table, dialect) =>
  [
    `SELECT ${ROW}.*,\n  ${answers(names, dialect)}`,
    `FROM ${table} AS ${ROW}`,
    ...stepped(steps, dialect).map((of, i) => `CROSS JOIN LATERAL (SELECT ${listed(of)}) AS fedkm_step${i}`),
  ].join("\n");

/**
 * PostgreSQL joins what is lateral through caches that can take minutes: each step is a query on the one before instead,
 * which carries the whole row along. Without fences it would put the text of an expression wherever its name stands.
 */
const withSubqueries: Select = (steps, names, table, dialect) => {
  const [first, ...rest] = stepped(steps, dialect);
  const scored = rest.reduce(
    (from, of, i) => `SELECT *,\n  ${listed(of)}\nFROM (${from}) AS fedkm_step${i}${dialect.fence}`,
    `SELECT ${ROW},\n  ${listed(first)}\nFROM ${table} AS ${ROW}${dialect.fence}`,
  );
  return `SELECT (${ROW}).*,\n  ${answers(names, dialect)}\nFROM (${scored}) AS fedkm_steps`;
};

/** SQLite has neither what is lateral nor whole rows as values: each step carries the row's columns along. */
const withRowSubqueries: Select = (steps, names, table, dialect) => {
  const [first, ...rest] = stepped(steps, dialect);
  const scored = rest.reduce(
    (from, of, i) => `SELECT *,\n  ${listed(of)}\nFROM (${from}) AS fedkm_step${i}${dialect.fence}`,
    `SELECT ${ROW}.rowid AS ${ROW}_id,\n  ${listed(first)}\nFROM ${table} AS ${ROW}${dialect.fence}`,
  );
  return `SELECT ${ROW}.*,\n  ${answers(names, dialect)}\nFROM (${scored}) AS fedkm_steps\nJOIN ${table} AS ${ROW} ON ${ROW}.rowid = fedkm_steps.${ROW}_id\nORDER BY ${ROW}.rowid`;
};

/**
 * ClickHouse puts the text of an expression wherever its name stands, fences or not: names of steps are parameters of
 * functions, which it computes once.
 */
const withLambdas: Select = (steps, names, table, dialect) => {
  const found = stepped(steps, dialect).reduceRight((rest, of) => {
    const values = of.map(([, expression]) => `[${expression}]`).join(",\n  ");
    return `arrayMap((${of.map(([own]) => own).join(", ")}) -> ${rest},\n  ${values})[1]`;
  }, CLUSTER);
  const named = names && `[${names.map(dialect.text).join(", ")}][assumeNotNull(cluster) + 1]`;
  const further = named === undefined ? "" : `,\n  if(isNull(cluster), NULL, ${named}) AS cluster_name`;
  return `SELECT *,\n  ${found} AS cluster${further}\nFROM ${table} AS ${ROW}`;
};

const selects: Readonly<Record<DialectName, Select>> = {
  duckdb: withLaterals,
  trino: withLaterals,
  spark: withLaterals,
  standard: withLaterals,
  postgres: withSubqueries,
  clickhouse: withLambdas,
  sqlite: withRowSubqueries,
};
