// What the SELECT of a model asks of a dialect of SQL: quoting as everywhere, cells as doubles or words, logarithms.

import {
  clickhouse as ofClickhouse,
  duckdb as ofDuckdb,
  postgres as ofPostgres,
  spark as ofSpark,
  trino as ofTrino,
} from "@fedkm/sql/dialects";
import type { DialectName } from "./formats.ts";

export interface Dialect extends Pick<typeof ofDuckdb, "quote" | "text" | "number" | "least" | "fence"> {
  /** An expression as a double, NULL where it is not a number. */
  double(expression: string): string;
  /** An expression as text without spaces around it. */
  word(expression: string): string;
  logarithm(expression: string): string;
}

const duckdb: Dialect = {
  ...ofDuckdb,
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), 'NaN'::DOUBLE)`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR))`,
  logarithm: (expression) => `LN(${expression})`,
};

const postgres: Dialect = {
  ...ofPostgres,
  double: (expression) => `NULLIF(CAST(${expression} AS float8), 'NaN'::float8)`,
  word: (expression) => `TRIM(CAST(${expression} AS text))`,
  logarithm: duckdb.logarithm,
};

const clickhouse: Dialect = {
  ...ofClickhouse,
  double: (expression) => `if(isNaN(toFloat64(${expression})), NULL, toFloat64(${expression}))`,
  // The function of that name is younger than some servers.
  word: (expression) => `replaceRegexpAll(toString(${expression}), '^ +| +$', '')`,
  logarithm: (expression) => `log(${expression})`,
};

const trino: Dialect = {
  ...ofTrino,
  // There NaN is not equal to itself.
  double: (expression) => `IF(is_nan(CAST(${expression} AS DOUBLE)), NULL, CAST(${expression} AS DOUBLE))`,
  word: duckdb.word,
  logarithm: duckdb.logarithm,
};

const spark: Dialect = {
  ...ofSpark,
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), CAST('NaN' AS DOUBLE))`,
  word: (expression) => `TRIM(CAST(${expression} AS STRING))`,
  logarithm: duckdb.logarithm,
};

/** DuckDB quotes as the standard has it. */
const standard: Dialect = {
  ...duckdb,
  number: (value) => `CAST('${duckdb.number(value)}' AS DOUBLE PRECISION)`,
  double: (expression) => `CAST(${expression} AS DOUBLE PRECISION)`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR(65535)))`,
};

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  duckdb,
  postgres,
  clickhouse,
  trino,
  spark,
  standard,
};
