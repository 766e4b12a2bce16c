// What differs from one SQL to the next: names, texts, numbers, and a few functions.

import type { DialectName } from "./formats.ts";

export interface Dialect {
  name(text: string): string;
  text(value: string): string;
  /** A double, to the last bit. */
  number(value: number): string;
  /** An expression as a double, NULL where it is not a number. */
  double(expression: string): string;
  /** An expression as text without spaces around it. */
  word(expression: string): string;
  logarithm(expression: string): string;
  least(values: readonly string[]): string;
}

const doubled = (mark: string, text: string) => mark + text.replaceAll(mark, mark + mark) + mark;

const standard: Dialect = {
  name: (text) => doubled('"', text),
  text: (value) => doubled("'", value),
  // With an exponent it is a double and no decimal.
  number: (value) => `CAST('${value.toExponential()}' AS DOUBLE PRECISION)`,
  double: (expression) => `CAST(${expression} AS DOUBLE PRECISION)`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR(65535)))`,
  logarithm: (expression) => `LN(${expression})`,
  least: (values) => `LEAST(${values.join(", ")})`,
};

const duckdb: Dialect = {
  ...standard,
  number: (value) => value.toExponential(),
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), 'NaN'::DOUBLE)`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR))`,
};

const postgres: Dialect = {
  ...standard,
  // Backslashes mean themselves, whatever the server's settings are.
  text: (value) => (value.includes("\\") ? ` E${doubled("'", value.replaceAll("\\", "\\\\"))}` : doubled("'", value)),
  number: (value) => `'${value.toExponential()}'::float8`,
  double: (expression) => `NULLIF(CAST(${expression} AS float8), 'NaN'::float8)`,
  word: (expression) => `TRIM(CAST(${expression} AS text))`,
};

const clickhouse: Dialect = {
  name: (text) => `\`${text.replace(/[\\`]/g, "\\$&")}\``,
  text: (value) => `'${value.replace(/[\\']/g, "\\$&")}'`,
  // Old servers read decimal digits with errors in the last bit.
  number: (value) => `reinterpretAsFloat64(unhex('${bytesOf(value)}'))`,
  double: (expression) => `if(isNaN(toFloat64(${expression})), NULL, toFloat64(${expression}))`,
  // The function of that name is younger than some servers.
  word: (expression) => `replaceRegexpAll(toString(${expression}), '^ +| +$', '')`,
  logarithm: (expression) => `log(${expression})`,
  least: (values) => {
    if (values.length === 1) return values[0];
    const half = values.length >> 1;
    return `least(${clickhouse.least(values.slice(0, half))}, ${clickhouse.least(values.slice(half))})`;
  },
};

const trino: Dialect = {
  ...standard,
  number: (value) => value.toExponential(),
  // There NaN is not equal to itself.
  double: (expression) => `IF(is_nan(CAST(${expression} AS DOUBLE)), NULL, CAST(${expression} AS DOUBLE))`,
  word: (expression) => `TRIM(CAST(${expression} AS VARCHAR))`,
  least: leastOfSeveral,
};

const spark: Dialect = {
  ...standard,
  name: (text) => doubled("`", text),
  text: (value) => `'${value.replace(/[\\']/g, "\\$&")}'`,
  number: (value) => `${value.toExponential()}D`,
  double: (expression) => `NULLIF(CAST(${expression} AS DOUBLE), CAST('NaN' AS DOUBLE))`,
  word: (expression) => `TRIM(CAST(${expression} AS STRING))`,
  least: leastOfSeveral,
};

/** For engines in which the least of one value is an error. */
function leastOfSeveral(values: readonly string[]): string {
  return values.length === 1 ? values[0] : standard.least(values);
}

function bytesOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes.toString("hex");
}

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  duckdb,
  postgres,
  clickhouse,
  trino,
  spark,
  standard,
};
