// The dialects of the engines. Those of Trino and Spark SQL are for drivers of others: none of ours asks these engines.

import type { Matrix } from "@fedkm/core";
import { type DistanceSql, internalSqlName, type NamedExpression, type SqlDialect, sqlColumn } from "./dialect.ts";

/** Doubled quotes inside quotes: standard names and texts. */
function quoted(mark: string, text: string): string {
  return mark + withoutZero(text).replaceAll(mark, mark + mark) + mark;
}

/** No engine takes a zero byte, and what is written in C would end there. */
function withoutZero(text: string): string {
  if (text.includes("\0")) throw new RangeError(`a name must not hold a zero byte, got ${JSON.stringify(text)}`);
  return text;
}

/** A number that no engine takes for a decimal: with an exponent. */
function withExponent(value: number): string {
  return Object.is(value, -0) ? "-0e0" : value.toExponential();
}

/** What most engines take. */
const standard = {
  quote: (name: string) => quoted('"', name),
  text: (value: string) => quoted("'", value),
  number: withExponent,
  least: (values: readonly string[]) => `least(${values.join(", ")})`,
  fence: "",
  rowNumber: "row_number() OVER ()",
  tableOf: (name: string, select: string) => [`CREATE TABLE ${quoted('"', name)} AS ${select}`],
};

/** SQL as DuckDB writes it. */
export const duckdb: SqlDialect = {
  ...standard,
  name: "DuckDB",
  double: (column, isNullable) =>
    isNullable ? `coalesce(CAST(${column} AS DOUBLE), 'NaN'::DOUBLE)` : `CAST(${column} AS DOUBLE)`,
  word: (column) => `TRIM(CAST(${column} AS VARCHAR))`,
  isNaN: (x) => `isnan(${x})`,
  isInfinite: (x) => `isinf(${x})`,
  scattered: (number) => `hash(${number})`,
  fingerprint: (value) => `CAST(hash(CAST(${value} AS VARCHAR)) AS DOUBLE)`,
  measure: (centroids) => {
    if (centroids.data.length < 24) return undefined;
    const length = (centroid: Float64Array) => `list_distance(${VECTOR}, ${vector(centroid, withExponent)})`;
    const { steps, ...shape } = sqlDistanceColumns(duckdb, centroids, length);
    return { ...shape, steps: [vectorOf(centroids), ...steps], isLength: true, isExact: false };
  },
};

/** SQL as PostgreSQL writes it. */
export const postgres: SqlDialect = {
  ...standard,
  name: "PostgreSQL",
  // Backslashes mean themselves, whatever the server's settings are.
  text: (value) => (value.includes("\\") ? ` E${quoted("'", value.replaceAll("\\", "\\\\"))}` : quoted("'", value)),
  number: (value) => `'${withExponent(value)}'::float8`,
  double: (column, isNullable) => (isNullable ? `coalesce(${column}::float8, 'NaN'::float8)` : `${column}::float8`),
  word: (column) => `TRIM(CAST(${column} AS text))`,
  isNaN: (x) => `${x} = 'NaN'::float8`,
  isInfinite: (x) => `abs(${x}) = 'Infinity'::float8`,
  fence: " OFFSET 0",
  scattered: (number) => `(hashint8(${number})::bigint & 2147483647)`,
  fingerprint: (value) => `hashtextextended((${value})::text, 0)::float8`,
};

/** SQL as ClickHouse writes it. */
export const clickhouse: SqlDialect = {
  name: "ClickHouse",
  // Backslashes have a meaning inside the marks.
  quote: (name) => `\`${withoutZero(name).replace(/[\\`]/g, "\\$&")}\``,
  text: (value) => `'${withoutZero(value).replace(/[\\']/g, "\\$&")}'`,
  // Digits are read to the last bit only in literals, and those below the normal numbers not even there.
  number: (value) => (isSubnormal(value) ? `reinterpretAsFloat64(unhex('${hexOf(value)}'))` : withExponent(value)),
  double: (column, isNullable) => (isNullable ? `ifNull(toFloat64(${column}), nan)` : `toFloat64(${column})`),
  // The function of that name is younger than some servers.
  word: (column) => `replaceRegexpAll(toString(${column}), '^ +| +$', '')`,
  isNaN: (x) => `isNaN(${x})`,
  isInfinite: (x) => `isInfinite(${x})`,
  least: (values) => `arrayReduce('min', [${values.join(", ")}])`,
  fence: "",
  sendsInnermost: true,
  rowNumber: "rowNumberInAllBlocks()",
  scattered: (number) => `intHash32(${number})`,
  fingerprint: (value) => `toFloat64(cityHash64(toString(${value})))`,
  // There are no transactions: the table has its name when it is whole.
  tableOf: (name, select) => {
    const growing = clickhouse.quote(`${name}_fedkm_unfinished`);
    return [
      `CREATE TABLE ${growing} ENGINE = MergeTree() ORDER BY tuple() AS ${select}`,
      `RENAME TABLE ${growing} TO ${clickhouse.quote(name)}`,
    ];
  },
  // One column with an array of distances. Explicit differences of thousands of numbers would take minutes to plan.
  measure: (centroids) => {
    const isExact = centroids.data.length < 48;
    const squared = (centroid: Float64Array) =>
      isExact
        ? squaredDistanceSql(clickhouse, centroid)
        : `arraySum(arrayMap((a, b) -> (a - b) * (a - b), ${VECTOR}, ${vector(centroid, clickhouse.number)}))`;
    const distances = { name: DISTANCES, as: `[${centroidRows(centroids).map(squared).join(", ")}]` };
    return {
      steps: isExact ? [[distances]] : [vectorOf(centroids), [distances]],
      least: `arrayReduce('min', ${DISTANCES})`,
      label: (best) => `nullIf(indexOf(${DISTANCES}, ${best}), 0) - 1`,
      countWithin: (limit) => `arrayCount(d -> d <= ${limit}, ${DISTANCES})`,
      isLength: false,
      isExact,
    };
  },
};

/** Without a NaN: what is no number is NULL, and so is a text in a column of numbers, which it would read as 0. */
export const sqlite: SqlDialect = {
  ...standard,
  name: "SQLite",
  double: (column) => `CASE WHEN typeof(${column}) IN ('integer', 'real') THEN CAST(${column} AS REAL) END`,
  word: (column) => `TRIM(CAST(${column} AS TEXT))`,
  isNaN: (x) => `${x} IS NULL`,
  isInfinite: (x) => `abs(${x}) > 1.7976931348623157e308`,
  // Of one value it is the least of all rows.
  least: (values) => (values.length === 1 ? values[0] : `min(${values.join(", ")})`),
  fence: " LIMIT -1 OFFSET 0",
  scattered: (number) => `(((${number} * 2654435761) >> 13) & 2147483647)`,
  // A function of ours: there is none of its own.
  fingerprint: (value) => `fedkm_fingerprint(${value})`,
};

/** Of Trino. Its grammar takes our statements; no server has been asked. */
export const trino: SqlDialect = {
  ...standard,
  name: "Trino",
  double: (column, isNullable) => orNaN(`CAST(${column} AS DOUBLE)`, "nan()", isNullable),
  word: (column) => `TRIM(CAST(${column} AS VARCHAR))`,
  isNaN: (x) => `is_nan(${x})`,
  isInfinite: (x) => `is_infinite(${x})`,
  least: leastOfSeveral,
  scattered: (number) => `bitwise_and(from_big_endian_64(xxhash64(to_big_endian_64(${number}))), 9223372036854775807)`,
  fingerprint: (value) => `CAST(from_big_endian_64(xxhash64(to_utf8(CAST(${value} AS VARCHAR)))) AS DOUBLE)`,
};

/** Of Spark SQL, as it is without settings of its own. Its grammar takes our statements; nothing has been run. */
export const spark: SqlDialect = {
  name: "Spark SQL",
  quote: (name) => quoted("`", name),
  text: (value) => `'${withoutZero(value).replace(/[\\']/g, "\\$&")}'`,
  // With the letter it is a double under every setting.
  number: (value) => `${withExponent(value)}D`,
  double: (column, isNullable) => orNaN(`CAST(${column} AS DOUBLE)`, "CAST('NaN' AS DOUBLE)", isNullable),
  word: (column) => `TRIM(CAST(${column} AS STRING))`,
  isNaN: (x) => `isnan(${x})`,
  isInfinite: (x) => `abs(${x}) = CAST('Infinity' AS DOUBLE)`,
  least: leastOfSeveral,
  fence: "",
  rowNumber: "monotonically_increasing_id()",
  scattered: (number) => `(hash(${number}) & 2147483647)`,
  fingerprint: (value) => `CAST(xxhash64(CAST(${value} AS STRING)) AS DOUBLE)`,
  tableOf: (name, select) => [`CREATE TABLE ${spark.quote(name)} AS ${select}`],
};

function orNaN(double: string, nan: string, isNullable: boolean): string {
  return isNullable ? `coalesce(${double}, ${nan})` : double;
}

/** For engines in which the least of one value is an error. */
function leastOfSeveral(values: readonly string[]): string {
  return values.length === 1 ? values[0] : `least(${values.join(", ")})`;
}

function hexOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.toString("hex");
}

function isSubnormal(value: number): boolean {
  return value !== 0 && Math.abs(value) < 2 ** -1022;
}

const [VECTOR, DISTANCES] = ["v", "distances"].map(internalSqlName);

/** The columns of a row as one value. */
function vectorOf({ cols }: Matrix): NamedExpression[] {
  return [{ name: VECTOR, as: `[${Array.from({ length: cols }, (_, j) => sqlColumn(j)).join(", ")}]` }];
}

function vector(numbers: Float64Array, number: (value: number) => string): string {
  return `[${Array.from(numbers, number).join(", ")}]`;
}

/** Explicit differences, as the kernel has them, one after the other. The text grows with k times the columns. */
export function sqlDifferences(dialect: SqlDialect, centroids: Matrix): DistanceSql {
  const shape = sqlDistanceColumns(dialect, centroids, (centroid) => squaredDistanceSql(dialect, centroid));
  return { ...shape, isLength: false, isExact: true };
}

/** The squared distance of a row to a centroid, as SQL. */
export function squaredDistanceSql({ number }: SqlDialect, centroid: Float64Array): string {
  // A product: a power takes more than twice as long.
  const products = Array.from(centroid, number).map((w, j) => `(${sqlColumn(j)} - ${w}) * (${sqlColumn(j)} - ${w})`);
  return products.join(" + ");
}

/** A column of distances for each centroid. Of equal centroids only the first has one: it has the rows. */
export function sqlDistanceColumns(
  dialect: SqlDialect,
  centroids: Matrix,
  distance: (centroid: Float64Array) => string,
) {
  const first = firstEqual(centroids);
  const clusters = [...new Set(first)];
  const name = (c: number) => internalSqlName(`d${c}`);
  return {
    steps: [clusters.map((c) => ({ name: name(c), as: distance(rowOf(centroids, c)) }))],
    least: dialect.least(clusters.map(name)),
    // Without an ELSE nothing is taken for the last cluster: what compares with nothing has no label.
    label: (best: string) => `CASE ${clusters.map((c) => `WHEN ${best} = ${name(c)} THEN ${c}`).join(" ")} END`,
    countWithin: (limit: string) =>
      `(${first.map((c) => `CASE WHEN ${name(c)} <= ${limit} THEN 1 ELSE 0 END`).join(" + ")})`,
  };
}

/** Rows of a matrix, each by itself. */
function centroidRows(centroids: Matrix): Float64Array[] {
  return Array.from({ length: centroids.rows }, (_, c) => rowOf(centroids, c));
}

function rowOf({ data, cols }: Matrix, c: number): Float64Array {
  return data.subarray(c * cols, (c + 1) * cols);
}

/** For each centroid the first that is equal to it. */
function firstEqual(centroids: Matrix): number[] {
  const seen = new Map<string, number>();
  return Array.from({ length: centroids.rows }, (_, c) => {
    const text = rowOf(centroids, c).join();
    if (!seen.has(text)) seen.set(text, c);
    return seen.get(text) as number;
  });
}
